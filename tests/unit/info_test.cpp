// What `xferbench info` says of link and NUMA nodes.
#include "report/run/info.hpp"

#include <gtest/gtest.h>

#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::mentions;

/// The line about NUMA nodes, without its name and end; empty if there is none.
std::string numa_line(const Environment::Host& host) {
  const std::string text = describe_host(host);
  const std::string name = "  NUMA node  ";
  const std::size_t begin = text.find(name);
  if (begin == std::string::npos) return {};
  return text.substr(begin + name.size(), text.find('\n', begin) - begin - name.size());
}

TEST(InfoOnNuma, SaysNothingWhereNothingIsKnown) { EXPECT_EQ(numa_line({}), ""); }

TEST(InfoOnNuma, SaysWhetherTheProcessIsOnTheGpusNode) {
  Environment::Host host;
  host.numa_node = 1;
  EXPECT_EQ(numa_line(host), "1");
  host.gpu_numa_node = 1;
  EXPECT_EQ(numa_line(host), "1, the GPU's");
  host.gpu_numa_node = 0;
  EXPECT_EQ(numa_line(host), "1; the GPU's is 0");
  host.numa_node.reset();
  EXPECT_EQ(numa_line(host), "not a single one; the GPU's is 0");
}

TEST(InfoOnNuma, SaysWhatWasNotPossible) {
  Environment::Host host;
  host.numa_policy = "local";
  host.numa_note = "the GPU's NUMA node is not known";
  EXPECT_EQ(numa_line(host), "not a single one (the GPU's NUMA node is not known)");
  host.numa_node = 0;
  EXPECT_EQ(numa_line(host), "0 (the GPU's NUMA node is not known)");
}

/// The line about the link, without its name and end.
std::string link_line(const std::optional<Environment::Pcie>& link) {
  Environment e = test::real_report().environment;
  e.gpu.pcie = link;
  const std::string text = describe_gpu(e);
  const std::string name = "  link       ";
  const std::size_t begin = text.find(name) + name.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(InfoOnTheLink, SaysWhatItCarriesAndWhetherThatWasSeenUnderLoad) {
  EXPECT_EQ(link_line(Environment::Pcie{5, 16, "nvml", 5, 16, true}),
            "PCIe Gen5 x16 under load, at most 57.61 GB/s of payload each way");
  EXPECT_EQ(link_line(Environment::Pcie{5, 16, "nvml", 5, 16, false}),
            "PCIe Gen5 x16, at most 57.61 GB/s of payload each way; what it is under load could not be seen");
}

TEST(InfoOnTheLink, SaysThatTheGpuCouldDoMore) {
  EXPECT_EQ(link_line(Environment::Pcie{4, 8, "nvml", 5, 16, true}),
            "PCIe Gen4 x8 under load, at most 14.40 GB/s of payload each way; the GPU can do Gen5 x16: look at its "
            "slot, riser and BIOS settings");
  EXPECT_TRUE(mentions(link_line(Environment::Pcie{5, 8, "sysfs", 5, 16, true}), "the GPU can do Gen5 x16"));
}

TEST(InfoOnTheLink, SaysNothingOfAMaximumThatIsNotKnown) {
  EXPECT_EQ(link_line(Environment::Pcie{5, 16, "profile"}), "PCIe Gen5 x16, at most 57.61 GB/s of payload each way");
  EXPECT_EQ(link_line(std::nullopt), "unknown: neither NVML nor sysfs tells");
}

}  // namespace
}  // namespace xferbench
