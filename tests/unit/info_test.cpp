// What `xferbench info` says of link and NUMA nodes.
#include "report/run/info.hpp"

#include <gtest/gtest.h>

#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

/// The line of that name, without its name and end; empty if there is none.
std::string line(const std::string& text, const std::string& name) {
  const std::string begin = "\n  " + name + std::string(11 - name.size(), ' ');
  const std::size_t at = text.find(begin);
  return at == std::string::npos ? "" : text.substr(at + begin.size(), text.find('\n', at + 1) - at - begin.size());
}

TEST(InfoOnNuma, SaysWhereTheProcessIsAndWhatWasNotPossible) {
  struct Told {
    std::optional<unsigned> node;
    std::optional<unsigned> gpus;
    std::string note;
    const char* text;
  };
  const std::string unknown = "the GPU's NUMA node is not known";
  for (const Told& t : {Told{{}, {}, "", ""},
                        {1, {}, "", "1"},
                        {1, 1, "", "1, the GPU's"},
                        {1, 0, "", "1; the GPU's is 0"},
                        {{}, 0, "", "not a single one; the GPU's is 0"},
                        {{}, {}, unknown, "not a single one (the GPU's NUMA node is not known)"},
                        {0, {}, unknown, "0 (the GPU's NUMA node is not known)"}}) {
    Environment::Host host;
    host.numa_node = t.node;
    host.gpu_numa_node = t.gpus;
    host.numa_note = t.note;
    if (!t.note.empty()) host.numa_policy = "local";
    EXPECT_EQ(line(describe_host(host), "NUMA node"), t.text);
  }
}

TEST(InfoOnTheLink, SaysWhatItCarriesWhetherUnderLoadAndWhatTheGpuCouldDo) {
  using Pcie = Environment::Pcie;
  const std::vector<std::pair<std::optional<Pcie>, const char*>> links{
      {Pcie{5, 16, "nvml", 5, 16, true}, "PCIe Gen5 x16 under load, at most 57.61 GB/s of payload each way"},
      {Pcie{5, 16, "nvml", 5, 16, false},
       "PCIe Gen5 x16, at most 57.61 GB/s of payload each way; what it is under load could not be seen"},
      {Pcie{4, 8, "nvml", 5, 16, true},
       "PCIe Gen4 x8 under load, at most 14.40 GB/s of payload each way; the GPU can do Gen5 x16: look at its slot, "
       "riser and BIOS settings"},
      {Pcie{5, 8, "sysfs", 5, 16, true},
       "PCIe Gen5 x8 under load, at most 28.81 GB/s of payload each way; the GPU can do Gen5 x16: look at its slot, "
       "riser and BIOS settings"},
      {Pcie{5, 16, "profile"}, "PCIe Gen5 x16, at most 57.61 GB/s of payload each way"},
      {std::nullopt, "unknown: neither NVML nor sysfs tells"}};
  for (const auto& [link, text] : links) {
    Environment e = test::real_report().environment;
    e.gpu.pcie = link;
    EXPECT_EQ(line(describe_gpu(e), "link"), text);
  }
}

}  // namespace
}  // namespace xferbench
