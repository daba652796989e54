// Timelines as files and as charts.
#include "report/trace/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench::test {
namespace {

using Row = Activity::Row;
using Json = nlohmann::json;

Activity activity(Row row, std::string name, double begin_us, double end_us, std::uint64_t bytes = 0,
                  unsigned stream = 0) {
  return {row, std::move(name), bytes, stream, begin_us * 1e-6, end_us * 1e-6};
}

/// Two chunks on two streams; times in microseconds.
Trace two_chunks(const std::string& source = "simulated") {
  Trace t{source,
          {activity(Row::host, "copy H2D", 0, 2), activity(Row::host, "fma", 2, 5),
           activity(Row::h2d, "copy H2D", 10, 30, 1'000'000, 0), activity(Row::h2d, "copy H2D", 30, 50, 1'000'000, 1),
           activity(Row::kernel, "fma", 30, 40, 0, 0), activity(Row::kernel, "fma", 50, 60, 0, 1),
           activity(Row::d2h, "copy D2H", 40, 60, 1'000'000, 0), activity(Row::d2h, "copy D2H", 60, 80, 1'000'000, 1)}};
  t.event_makespan = 72e-6;
  return t;
}

Report traced(Trace trace) {
  Report report = simulated_report();
  Result result(copy_case("h2d", "pinned", 1 << 20));
  result.trace = std::move(trace);
  report.results.push_back(std::move(result));
  return report;
}

std::vector<Json> events_of(const Json& file, const char* phase) {
  std::vector<Json> found;
  for (const Json& e : file["traceEvents"]) {
    if (e["ph"] == phase) found.push_back(e);
  }
  return found;
}

/// Track names by process and thread.
std::map<std::pair<int, int>, std::string> tracks(const Json& file) {
  std::map<std::pair<int, int>, std::string> names;
  for (const Json& e : events_of(file, "M")) {
    if (e["name"] == "thread_name") names[{e["pid"], e["tid"]}] = e["args"]["name"];
  }
  return names;
}

void expect_no_overlap_on_any_track(const Json& file) {
  std::map<std::pair<int, int>, double> ends;
  for (const Json& e : events_of(file, "X")) {
    double& end = ends.try_emplace({e["pid"], e["tid"]}, 0).first->second;
    EXPECT_GE(e["ts"].get<double>(), end - 1e-6) << e;
    EXPECT_GE(e["dur"].get<double>(), 0) << e;
    end = e["ts"].get<double>() + e["dur"].get<double>();
  }
}

// --- Files -----------------------------------------------------------------------------------------------------------

TEST(ChromeTrace, OfOneActivityIsThisText) {
  const std::string text =
      to_chrome_trace(traced({"simulated", {activity(Row::h2d, "copy H2D", 0, 20, 1'000'000, 3)}}));
  std::string expected =
      "{'traceEvents':["
      "{'name':'process_name','ph':'M','pid':1,'tid':0,"
      "'args':{'name':'copy/dir=h2d/host=pinned/size=1MiB (simulated, SIMULATED)'}},"
      "{'name':'process_sort_index','ph':'M','pid':1,'tid':0,'args':{'sort_index':1}},"
      "{'name':'thread_name','ph':'M','pid':1,'tid':1,'args':{'name':'H2D'}},"
      "{'name':'thread_sort_index','ph':'M','pid':1,'tid':1,'args':{'sort_index':1}},"
      "{'name':'copy H2D','cat':'H2D','ph':'X','pid':1,'tid':1,'ts':0.0,'dur':20.0,"
      "'args':{'bytes':1000000,'stream':3,'GB/s':50.0}}"
      "],'displayTimeUnit':'ns','otherData':{'source':'simulated','tool':'xferbench ";
  std::ranges::replace(expected, '\'', '"');
  EXPECT_EQ(text.substr(0, expected.size()), expected);
  EXPECT_TRUE(text.ends_with("\n"));
}

TEST(ChromeTrace, HasATrackForEachRowInOrder) {
  const Json file = Json::parse(to_chrome_trace(traced(two_chunks())));
  std::vector<std::string> names;
  for (const auto& [place, name] : tracks(file)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"H2D", "kernel", "D2H", "host calls"}));
  EXPECT_EQ(events_of(file, "X").size(), 8U);
  expect_no_overlap_on_any_track(file);
  EXPECT_TRUE(contains(file["otherData"]["SIMULATED"].get<std::string>(), "not measurements"));
}

TEST(ChromeTrace, OfARealGpuIsNotMarked) {
  Report report = traced(two_chunks("cupti"));
  report.environment = real_report().environment;
  const std::string text = to_chrome_trace(report);
  EXPECT_FALSE(contains(text, "SIMULATED"));
  EXPECT_TRUE(contains(text, "(cupti)"));
}

TEST(ChromeTrace, SpreadsKernelsThatOverlapOverLanes) {
  const Json file = Json::parse(to_chrome_trace(
      traced({"cupti",
              {activity(Row::kernel, "a", 0, 10), activity(Row::kernel, "b", 5, 15), activity(Row::kernel, "c", 7, 9),
               activity(Row::kernel, "d", 10, 12), activity(Row::kernel, "e", 15, 20)}})));
  std::vector<std::string> names;
  for (const auto& [place, name] : tracks(file)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"kernel", "kernel 2", "kernel 3"}));
  EXPECT_EQ(events_of(file, "X").size(), 5U);
  expect_no_overlap_on_any_track(file);
}

TEST(ChromeTrace, RoundsToNanosecondsWithoutMakingOverlaps) {
  Trace t{"simulated", {}};
  double at = 0;
  for (int i = 0; i < 1000; ++i) {
    const double next = at + 1.2345678e-6 * (1 + i % 7);
    t.activities.push_back({Row::h2d, "copy H2D", 1, 0, at, next});
    at = next;
  }
  const Json file = Json::parse(to_chrome_trace(traced(t)));
  EXPECT_EQ(tracks(file).size(), 1U) << "abutting copies are on one track";
  expect_no_overlap_on_any_track(file);
}

TEST(ChromeTrace, HasAProcessForEachCaseThatWasTraced) {
  Report report = traced(two_chunks());
  report.results.emplace_back(copy_case("d2h", "pinned", 1 << 20));
  report.results.push_back(report.results.front());
  std::set<int> processes;
  for (const Json& e : events_of(Json::parse(to_chrome_trace(report)), "X")) processes.insert(e["pid"].get<int>());
  EXPECT_EQ(processes, (std::set<int>{1, 2}));
}

TEST(ChromeTrace, OfNothingIsStillAFile) {
  EXPECT_TRUE(Json::parse(to_chrome_trace(real_report()))["traceEvents"].empty());
}

TEST(ChromeTrace, SurvivesNamesThatAreNotUtf8) {
  EXPECT_NO_THROW(static_cast<void>(to_chrome_trace(traced({"cupti", {activity(Row::kernel, "\xff", 0, 1)}}))));
}

// --- Charts ----------------------------------------------------------------------------------------------------------

TEST(Gantt, OfTwoChunks) {
  EXPECT_EQ(to_gantt(two_chunks(), 49, Style{}),
            "  H2D         ████1█████▓▓▓▓2▓▓▓▓▓\n"
            "  kernel                ██1██     ▓▓2▓▓\n"
            "  D2H                        ████1█████▓▓▓▓2▓▓▓▓▓\n"
            "  host   █▓▄\n"
            "         |0                       |50 us\n"
            "  simulated, exact: makespan 70.00 us (72.00 us by events around it), concurrency 1.43\n"
            "  H2D 57.1 % busy, no gaps; kernel 28.6 % busy, 1 gap of 10.00 us; D2H 57.1 % busy, no gaps\n");
}

TEST(Gantt, InAscii) {
  const std::string text = to_gantt(two_chunks("events"), 49, Style{}, Glyphs::ascii);
  for (const char c : text) EXPECT_LT(static_cast<unsigned char>(c), 128);
  EXPECT_TRUE(contains(text, "####1#####====2=====\n")) << text;
  EXPECT_TRUE(contains(text, "  estimated from events: makespan ")) << text;
}

TEST(Gantt, ShowsHowFullCellsAreWhereChunksAreSmall) {
  Trace t{"simulated", {}};
  for (int i = 0; i < 400; ++i) t.activities.push_back(activity(Row::h2d, "copy H2D", i, i + 0.5));
  const std::string text = to_gantt(t, 49, Style{}, Glyphs::blocks);
  EXPECT_TRUE(contains(text, "▄▄▄▄▄▄▄▄▄▄")) << text;
}

TEST(Gantt, SaysWhereItsTimesAreFrom) {
  EXPECT_TRUE(contains(to_gantt(two_chunks("cupti"), 60, Style{}), "engine times by CUPTI: makespan 70.00 us"));
}

TEST(Gantt, HasARowForWhatHappensInsideOnlyIfSomethingDoes) {
  Trace t = two_chunks();
  EXPECT_FALSE(contains(to_gantt(t, 60, Style{}), "inside"));
  t.activities.push_back(activity(Row::internal, "fill", 70, 80));
  EXPECT_TRUE(contains(to_gantt(t, 60, Style{}), "\n  inside "));
}

TEST(Gantt, OfNothingSaysSo) { EXPECT_EQ(to_gantt({"cupti", {}}, 60, Style{}), "  nothing was recorded\n"); }

TEST(Gantt, IsNoWiderThanAskedAndHasNoBlanksAtLineEnds) {
  for (const std::size_t width : {1U, 10U, 20U, 60U, 111U}) {
    const std::string text = to_gantt(two_chunks(), width, Style{}, Glyphs::ascii);
    std::size_t rows = 0;
    for (std::size_t at = 0; at < text.size(); ++rows) {
      const std::size_t end = text.find('\n', at);
      EXPECT_NE(text[end - 1], ' ');
      const bool drawn = rows < 5;  // sentences follow
      EXPECT_TRUE(!drawn || end - at <= std::max<std::size_t>(width, 10)) << text;
      at = end + 1;
    }
  }
}

TEST(Gantt, ChartsOfTheFirstFewCasesAreEnough) {
  Report report = traced(two_chunks());
  EXPECT_TRUE(contains(to_gantts(report, Style{}, Glyphs::ascii), "\ntimeline  copy/dir=h2d/host=pinned/size=1MiB"));
  for (int i = 0; i < 5; ++i) report.results.push_back(report.results.front());
  const std::string text = to_gantts(report, Style{}, Glyphs::ascii);
  EXPECT_TRUE(contains(text, "6 cases were traced; the charts of the first 4 are above")) << text;
  EXPECT_EQ(to_gantts(real_report(), Style{}, Glyphs::ascii), "");
}

}  // namespace
}  // namespace xferbench::test
