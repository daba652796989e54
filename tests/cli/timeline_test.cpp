// --timeline: the trace file, the chart, and commands that refuse the flag.

#include <map>

#include "cli/support.hpp"
#include "support/chrome_trace.hpp"

namespace xferbench::test {
namespace {

TEST(Timeline, IsWrittenForEveryCase) {
  const TemporaryFolder folder;
  const Outcome o = xferbench(small_run({"--streams", "1,2", "--timeline", folder / "timeline.json"}));
  expect_success(o);
  const Json file = read_json(folder / "timeline.json");
  std::map<std::string, int> processes;
  for (const auto& [place, track] : tracks_of(file)) {
    ++processes[track.name];
    if (track.name == "host calls") {
      EXPECT_GE(track.spans, 12U);
    } else {
      EXPECT_EQ(track.spans, 4U) << track.name;
    }
  }
  EXPECT_EQ(processes, (std::map<std::string, int>{{"D2H", 2}, {"H2D", 2}, {"host calls", 2}, {"kernel", 2}}));
  EXPECT_EQ(file["otherData"]["source"], "simulated");
  EXPECT_TRUE(file["otherData"].contains("SIMULATED"));
}

TEST(Timeline, IsDrawnUnderTheTable) {
  const TemporaryFolder folder;
  Options utf8;
  utf8.environment["LC_ALL"] = "C.UTF-8";
  const Outcome o = xferbench({"--simulate", "h200", "--size", "16M", "--streams", "3", "--chunks", "8", "--timeline",
                               folder / "timeline.json"},
                              utf8);
  expect_success(o);
  expect_golden("timeline.txt", o.out);
  Options plain;
  plain.environment["LC_ALL"] = "C";
  const Outcome ascii = xferbench(small_run({"--timeline", folder / "timeline.json"}), plain);
  EXPECT_TRUE(contains(ascii.out, "\ntimeline overlap/size=4MiB/")) << ascii.out;
  for (const char c : ascii.out) ASSERT_LT(static_cast<unsigned char>(c), 128) << ascii.out;
}

TEST(Timeline, PutsItsNumbersIntoTheResultsAndNothingElse) {
  const TemporaryFolder folder;
  expect_success(
      xferbench(small_run({"--timeline", folder / "timeline.json", "--json", folder / "with.json", "--streams", "2"})));
  expect_success(xferbench(small_run({"--json", folder / "without.json", "--streams", "2"})));
  expect_valid_results(folder / "with.json");
  Json with = read_json(folder / "with.json")["results"][0];
  const Json without = read_json(folder / "without.json")["results"][0];
  EXPECT_GT(with["metrics"]["concurrency"]["value"], 1);
  EXPECT_EQ(with["labels"]["trace_source"], "simulated");
  const double by_events = with["metrics"]["traced_makespan_by_events"]["value"];
  // The traced pass has its own gate and events, 3 us at most. Timed samples share one gate among several short passes.
  EXPECT_NEAR(by_events, with["metrics"]["makespan"]["value"], 3e-6);
  EXPECT_LT(with["metrics"]["traced_makespan"]["value"], by_events);
  with["metrics"].erase("traced_makespan");
  with["metrics"].erase("traced_makespan_by_events");
  with["metrics"].erase("concurrency");
  with["metrics"].erase("kernel_concurrency");
  with["labels"].erase("trace_source");
  EXPECT_EQ(with, without);
}

TEST(Timeline, OnStandardOutputIsNothingElse) {
  const Outcome o = xferbench(small_run({"--timeline", "-"}));
  expect_success(o);
  EXPECT_FALSE(tracks_of(parse_json(o.out)).empty());
}

}  // namespace
}  // namespace xferbench::test
