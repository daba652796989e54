// Scenario together: several GPUs at once, on the simulated machine.
#include <gtest/gtest.h>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

TEST(TogetherTable, OfTwoGpusSaysWhatTheyShare) {
  Options narrow;
  narrow.out = Sink::terminal(80);
  const Outcome o = xferbench(few_samples("together", {"--simulate", "h200-x2", "--color", "never"}), narrow);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  expect_golden("together.txt", o.out);
}

TEST(Together, OneGpuHasNobodyToCopyTo) {
  expect_refusal(xferbench({"together", "--simulate", "h200-x2", "--pattern", "ring", "--group", "alone"}), 2,
                 "--group pairs");
  expect_refusal(xferbench({"together", "--simulate", "h200-x2", "--group", "0-1"}), 2, "--group");
}

}  // namespace
}  // namespace xferbench::test
