// Several GPUs at once, as users ask for them.
#include <gtest/gtest.h>

#include "cli/support.hpp"

namespace xferbench::test {
namespace {

Options narrow_terminal() {
  Options options;
  options.out = Sink::terminal(80);
  return options;
}

TEST(TogetherTable, OfTwoGpusSaysWhatTheyShare) {
  const Outcome o =
      xferbench(few_samples("together", {"--simulate", "h200-x2", "--color", "never"}), narrow_terminal());
  EXPECT_EQ(o.exit_code, 0) << o.err;
  expect_golden("together.txt", o.out);
}

TEST(TogetherTable, OfEightGpusHasAMatrix) {
  const Outcome o = xferbench(few_samples("together", {"--simulate", "h200-x8", "--pattern", "both", "--group",
                                                       "pairs,growing", "--no-verify", "--color", "never"}),
                              narrow_terminal());
  EXPECT_EQ(o.exit_code, 0) << o.err;
  expect_golden("together-eight.txt", o.out);
}

TEST(Together, InAFileSaysWhatEachGpuGot) {
  const TemporaryFolder folder;
  const Outcome o =
      xferbench(few_samples("together", {"--simulate", "h200-x2", "--gpus", "1,0", "--pattern", "both,ring", "--group",
                                         "pairs", "--size", "128M", "--json", folder / "r.json"}));
  EXPECT_EQ(o.exit_code, 0) << o.err;
  const Json results = read_json(folder / "r.json")["results"];
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0]["key"], "together/pattern=both/group=1+0/memory=own/size=128MiB");
  EXPECT_EQ(results[0]["gpus"], (Json{1, 0}));
  EXPECT_EQ(results[1]["key"], "together/pattern=ring/group=1+0/size=128MiB");
  const Json& of_gpus = results[0]["gpu_metrics"];
  ASSERT_EQ(of_gpus.size(), 6U) << of_gpus;
  EXPECT_EQ(of_gpus[0]["name"], "gpu_bandwidth");
  EXPECT_EQ(of_gpus[0]["gpu"], 1);
  EXPECT_GT(results[0]["metrics"]["of_alone"]["value"], 0.5);
  expect_valid_results(folder / "r.json");
}

TEST(Together, OneGpuHasNobodyToCopyTo) {
  expect_refusal(xferbench({"together", "--simulate", "h200-x2", "--pattern", "ring", "--group", "alone"}), 2,
                 "--group pairs");
  expect_refusal(xferbench({"together", "--simulate", "h200-x2", "--group", "0-1"}), 2, "--group");
}

}  // namespace
}  // namespace xferbench::test
