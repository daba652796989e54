// What `xferbench info` says of link and NUMA nodes.
#include "report/info.hpp"

#include <gtest/gtest.h>

#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::contains;
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

}  // namespace
}  // namespace xferbench
