#include "report/run/heatmap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/run/table.hpp"
#include "unit/report_fixture.hpp"

namespace xferbench {
namespace {

const std::vector<Axis>& axes() {
  static const std::vector<Axis> all{{.name = "size", .kind = AxisKind::size}, {.name = "streams"}, {.name = "chunks"}};
  return all;
}

ScenarioDescriptor pipe(HeatMap map = {"streams", "chunks", "efficiency"}) {
  return {.name = "pipe",
          .summary = "pipes",
          .axes = axes(),
          .metrics = {derived("efficiency", "1", Better::higher, "close to the limit")
                          .column("of limit", MetricDeclaration::Format::percent)},
          .heat_map = std::move(map)};
}

Result result(std::uint64_t size, std::uint64_t streams, std::uint64_t chunks, double efficiency) {
  Case c("pipe");
  c.set(axes()[0], size);
  c.set(axes()[1], streams);
  c.set(axes()[2], chunks);
  Result r(c);
  r.add("efficiency", efficiency, "1");
  return r;
}

std::string drawn(const std::vector<Result>& results, const ScenarioDescriptor& scenario = pipe(), bool color = false) {
  std::vector<const Result*> pointers;
  for (const Result& r : results) pointers.push_back(&r);
  return heat_maps(scenario, pointers, Style{color});
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

const std::vector<Result>& four() {
  static const std::vector<Result> all{result(64, 1, 4, 0.412), result(64, 1, 128, 0.55), result(64, 2, 4, 0.801),
                                       result(64, 2, 128, 1.0)};
  return all;
}

TEST(HeatMap, IsAGridOfPercentWithTheBestMarked) {
  EXPECT_EQ(drawn(four()),
            "\n"
            "  efficiency, %\n"
            "  streams \\ chunks       4     128\n"
            "  1                   41.2    55.0\n"
            "  2                   80.1  *100.0\n");
}

TEST(HeatMap, ShowsADashWhereNothingWasMeasured) {
  std::vector<Result> results = four();
  results[0].status = Status::failed;
  results.erase(results.begin() + 2);
  EXPECT_EQ(drawn(results),
            "\n"
            "  efficiency, %\n"
            "  streams \\ chunks       4     128\n"
            "  1                      -    55.0\n"
            "  2                      -  *100.0\n");
}

TEST(HeatMap, ShowsOtherMetricsAsTheyAre) {
  ScenarioDescriptor plain = pipe();
  plain.metrics = {derived("efficiency", "1", Better::higher, "close to the limit").column("of limit")};
  const std::string text = drawn(four(), plain);
  EXPECT_NE(text.find("  efficiency\n"), std::string::npos) << text;
  EXPECT_NE(text.find("0.4120"), std::string::npos) << text;
}

TEST(HeatMap, NeedsBothAxesToVary) {
  EXPECT_EQ(drawn({four()[0], four()[1]}), "");
  EXPECT_EQ(drawn({four()[0], four()[2]}), "");
  EXPECT_EQ(drawn({}), "");
}

TEST(HeatMap, IsOnlyOfAScenarioThatDeclaresOne) {
  ScenarioDescriptor plain = pipe();
  plain.heat_map.reset();
  EXPECT_EQ(drawn(four(), plain), "");
}

TEST(HeatMap, IsEmptyIfNothingWasMeasured) {
  std::vector<Result> results = four();
  for (Result& r : results) r.status = Status::skipped;
  EXPECT_EQ(drawn(results), "");
}

TEST(HeatMap, IsDrawnForEachCombinationOfTheOtherAxesUpToSix) {
  std::vector<Result> results;
  for (std::uint64_t size = 1; size <= 8; ++size) {
    for (const Result& r : four())
      results.push_back(
          result(size << 20, r.config.count("streams"), r.config.count("chunks"), r.metric("efficiency")->value));
  }
  const std::string text = drawn(results);
  EXPECT_EQ(count_of(text, "streams \\ chunks"), 6U);
  EXPECT_EQ(count_of(text, "efficiency, %: size 1 MiB\n"), 1U) << text;
  EXPECT_TRUE(text.ends_with("\n  2 more heat maps are left out\n")) << text;
}

TEST(HeatMap, IsLeftOutWhereItDoesNotFit) {
  std::vector<Result> results;
  for (std::uint64_t chunks = 1; chunks <= 25; ++chunks) {
    for (const std::uint64_t streams : {1U, 2U}) results.push_back(result(64, streams, chunks, 0.5));
  }
  EXPECT_EQ(drawn(results), "\n  no heat map of efficiency: more than 48 values of streams or 24 of chunks\n");
}

TEST(HeatMap, IsColouredByValue) {
  const std::string text = drawn(four(), pipe(), true);
  EXPECT_NE(text.find("\x1b[48;5;53m\x1b[38;5;231m    41.2\x1b[0m"), std::string::npos) << text;
  EXPECT_NE(text.find("\x1b[48;5;227m\x1b[38;5;16m  *100.0\x1b[0m"), std::string::npos) << text;
}

TEST(HeatMap, ChangesNothingButColours) {
  std::string text = drawn(four(), pipe(), true);
  for (std::size_t at = text.find("\x1b["); at != std::string::npos; at = text.find("\x1b[")) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  EXPECT_EQ(text, drawn(four()));
}

TEST(HeatMap, StandsBelowTheTable) {
  Report report = test::real_report();
  report.results = four();
  const ScenarioDescriptor scenario = pipe();
  const std::array shown{&scenario};
  const std::string text = to_table(report, shown, Style{});
  EXPECT_LT(text.find("of limit"), text.find("streams \\ chunks")) << text;
}

}  // namespace
}  // namespace xferbench
