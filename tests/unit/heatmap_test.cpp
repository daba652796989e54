// Heat maps of a run on terminals and pages. Golden files are in golden/heatmap/.
#include "words/heat_maps.hpp"

#include <array>
#include <regex>

#include "paper/writers.hpp"
#include "support/golden.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"
#include "words/run.hpp"

namespace xferbench::test {
namespace {

std::string drawn(const std::vector<Result>& results, const ScenarioDescriptor& scenario = pipe_descriptor(),
                  bool color = false) {
  std::vector<const Result*> pointers;
  for (const Result& r : results) pointers.push_back(&r);
  const HeatMaps maps = heat_maps(scenario, pointers, real_report().environment);
  EXPECT_TRUE(maps.over_gpus.empty() && maps.notes_over_gpus.empty());
  std::string text;
  for (const Matrix& map : maps.over_counts) text += "\n" + to_terminal(map, Style{color});
  for (const std::string& note : maps.notes_over_counts) text += "\n  " + note + "\n";
  return text;
}

std::vector<Result> four(std::uint64_t size = 64) {
  return {piped(size, 1, 4, 0.412), piped(size, 1, 128, 0.55), piped(size, 2, 4, 0.801), piped(size, 2, 128, 1.0)};
}

TEST(HeatMap, IsAGridOfPercentWithTheBestMarked) { expect_golden("heatmap/percent.txt", drawn(four())); }

TEST(HeatMap, ShowsADashWhereNothingWasMeasured) {
  std::vector<Result> results = four();
  results[0].status = Status::failed;
  results.erase(results.begin() + 2);
  expect_golden("heatmap/gaps.txt", drawn(results));
}

TEST(HeatMap, ShowsOtherMetricsAsTheyAre) {
  expect_golden("heatmap/no_percent.txt", drawn(four(), pipe_descriptor(MetricDeclaration::Format::number)));
}

TEST(HeatMap, IsNotDrawnOfOneAxisOfNothingMeasuredOrUndeclared) {
  EXPECT_EQ(drawn({four()[0], four()[1]}), "") << "streams do not vary";
  EXPECT_EQ(drawn({four()[0], four()[2]}), "") << "chunks do not vary";
  EXPECT_EQ(drawn({}), "");
  std::vector<Result> skipped = four();
  for (Result& r : skipped) r.status = Status::skipped;
  EXPECT_EQ(drawn(skipped), "");
  ScenarioDescriptor plain = pipe_descriptor();
  plain.heat_maps.clear();
  EXPECT_EQ(drawn(four(), plain), "");
}

TEST(HeatMap, IsDrawnForEachCombinationOfTheOtherAxesUpToSix) {
  std::vector<Result> results;
  for (std::uint64_t mib = 1; mib <= 8; ++mib) {
    for (Result& r : four(mib << 20)) results.push_back(std::move(r));
  }
  expect_golden("heatmap/several.txt", drawn(results));
}

TEST(HeatMap, IsLeftOutWhereItDoesNotFit) {
  std::vector<Result> results;
  for (std::uint64_t chunks = 1; chunks <= 25; ++chunks) {
    for (const std::uint64_t streams : {1U, 2U}) results.push_back(piped(64, streams, chunks, 0.5));
  }
  EXPECT_EQ(drawn(results), "\n  no heat map of efficiency: more than 48 values of streams or 24 of chunks\n");
}

TEST(HeatMap, GoesOnBeneathItselfWhereTheTerminalIsNarrow) {
  std::vector<Result> results;
  for (std::uint64_t chunks = 1; chunks <= 12; ++chunks) {
    for (const std::uint64_t streams : {1U, 2U})
      results.push_back(piped(64, streams, chunks, 0.01 * static_cast<double>(chunks)));
  }
  Report report = real_report();
  report.results = results;
  const ScenarioDescriptor scenario = pipe_descriptor();
  const std::array shown{&scenario};
  const std::string text =
      to_terminal(document_of(report, shown, {.every_row = false}), Style{.color = false, .columns = 60});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60U) << text;
  EXPECT_NE(text.find("streams \\ chunks"), text.rfind("streams \\ chunks")) << text;
  EXPECT_TRUE(mentions(text, "*12.0"));
}

TEST(HeatMap, IsOnTerminalsAndPagesAndNotInMarkdownWhichHasItsNumbersInATable) {
  Report report = real_report();
  report.results = four();
  const ScenarioDescriptor scenario = pipe_descriptor();
  const std::array shown{&scenario};
  const Document document = document_of(report, shown);
  EXPECT_TRUE(mentions(to_terminal(document, Style{}), "streams \\ chunks"));
  EXPECT_TRUE(mentions(to_html(document), "streams \\ chunks"));
  EXPECT_FALSE(mentions(to_markdown(document), "efficiency, %"));
  EXPECT_TRUE(mentions(to_html(document), "efficiency, %"));
}

TEST(HeatMap, IsColouredByValueWhichMovesNothing) {
  const std::string text = drawn(four(), pipe_descriptor(), true);
  EXPECT_TRUE(mentions(text, "\x1b[48;5;53m\x1b[38;5;231m    41.2\x1b[0m"));
  EXPECT_TRUE(mentions(text, "\x1b[48;5;227m\x1b[38;5;16m  *100.0\x1b[0m"));
  EXPECT_EQ(std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), ""), drawn(four()));
}

TEST(HeatMap, HasOneColourForOneNumberInAllMapsOfAMetric) {
  std::vector<Result> results = four(1 << 20);
  for (const std::uint64_t streams : {1U, 2U}) {
    for (const std::uint64_t chunks : {4U, 8U}) results.push_back(piped(2 << 20, streams, chunks, 0.5));
  }
  const std::string text = drawn(results, pipe_descriptor(), true);
  EXPECT_TRUE(mentions(text, "\x1b[48;5;227m\x1b[38;5;16m  *100.0\x1b[0m"));
  EXPECT_FALSE(mentions(text, "\x1b[48;5;227m\x1b[38;5;16m   *50.0\x1b[0m")) << "which is the best of its map only";
}

TEST(HeatMap, StandsBelowTheTable) {
  Report report = real_report();
  report.results = four();
  const ScenarioDescriptor scenario = pipe_descriptor();
  const std::array shown{&scenario};
  const std::string text = to_terminal(document_of(report, shown, {.every_row = false}), Style{});
  EXPECT_LT(text.find("of limit"), text.find("streams \\ chunks")) << text;
}

}  // namespace
}  // namespace xferbench::test
