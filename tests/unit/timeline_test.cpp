// Timelines as Chrome trace files and as charts.
#include "report/trace/timeline.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "paper/writers.hpp"
#include "results/stored_file.hpp"
#include "results/trace_file.hpp"
#include "support/chrome_trace.hpp"
#include "support/golden.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"
#include "words/timelines.hpp"
#include "words/trust.hpp"

namespace xferbench::test {
namespace {

using Row = Activity::Row;
using Json = nlohmann::json;

Activity activity(Row row, std::string name, double begin_us, double end_us, std::uint64_t bytes = 0,
                  unsigned stream = 0) {
  return {row, std::move(name), bytes, stream, begin_us * 1e-6, end_us * 1e-6};
}

/// Two chunks on two streams. Times in microseconds.
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

/// A chunk for GPU 1 that is relayed by GPU 0.
Trace two_gpus() {
  Trace t{"simulated",
          {activity(Row::host, "copy H2D", 0, 2), activity(Row::h2d, "copy H2D", 10, 50, 2'000'000, 0),
           activity(Row::peer, "copy P2P", 30, 40, 1'000'000, 1), activity(Row::kernel, "fma", 40, 60, 0, 2),
           activity(Row::d2h, "copy D2H", 60, 80, 1'000'000, 2)}};
  for (const std::size_t i : {3U, 4U}) t.activities[i].gpu = 1;
  return t;
}

Report traced_on_two_gpus() {
  Report report = traced(two_gpus());
  report.environment.gpus.resize(2, report.environment.gpu);
  report.environment.gpus[0].index = 0;
  report.environment.gpus[1].index = 3;
  return report;
}

std::vector<Json> events_of(const Json& file, const char* phase) {
  std::vector<Json> found;
  for (const Json& e : file["traceEvents"]) {
    if (e["ph"] == phase) found.push_back(e);
  }
  return found;
}

// --- Files -----------------------------------------------------------------------------------------------------------

TEST(ChromeTrace, OfOneActivityIsThisText) {
  const std::string text =
      to_chrome_trace(traced({"simulated", {activity(Row::h2d, "copy H2D", 0, 20, 1'000'000, 3)}}));
  expect_golden("timeline/one_activity.json", text.substr(0, text.find(",\"tool\":")));  // before the version
  EXPECT_TRUE(text.ends_with("\n"));
}

TEST(ChromeTrace, HasATrackForEachRowInOrder) {
  const Json file = Json::parse(to_chrome_trace(traced(two_chunks())));
  EXPECT_EQ(test::names_of_tracks(file), (std::vector<std::string>{"H2D", "kernel", "D2H", "host calls"}));
  EXPECT_EQ(events_of(file, "X").size(), 8U);
  EXPECT_TRUE(contains(file["otherData"]["SIMULATED"].get<std::string>(), "not measurements"));
}

TEST(ChromeTrace, OfARealGpuIsNotMarked) {
  Report report = traced(two_chunks("cupti"));
  report.environment = real_report().environment;
  const std::string text = to_chrome_trace(report);
  EXPECT_FALSE(contains(text, "SIMULATED"));
  EXPECT_TRUE(mentions(text, "(cupti)"));
}

TEST(ChromeTrace, SpreadsKernelsThatOverlapOverLanes) {
  const Json file = Json::parse(to_chrome_trace(
      traced({"cupti",
              {activity(Row::kernel, "a", 0, 10), activity(Row::kernel, "b", 5, 15), activity(Row::kernel, "c", 7, 9),
               activity(Row::kernel, "d", 10, 12), activity(Row::kernel, "e", 15, 20)}})));
  EXPECT_EQ(test::names_of_tracks(file), (std::vector<std::string>{"kernel", "kernel 2", "kernel 3"}));
  EXPECT_EQ(events_of(file, "X").size(), 5U);
}

TEST(ChromeTrace, RoundsToNanosecondsWithoutMakingOverlaps) {
  Trace t{"simulated", {}};
  double at = 0;
  for (int i = 0; i < 1000; ++i) {
    const double next = at + 1.2345678e-6 * (1 + i % 7);
    t.activities.push_back({Row::h2d, "copy H2D", 1, 0, at, next});
    at = next;
  }
  EXPECT_EQ(test::names_of_tracks(Json::parse(to_chrome_trace(traced(t)))).size(), 1U) << "they abut";
}

TEST(ChromeTrace, HasAProcessForEachCaseThatWasTraced) {
  Report report = traced(two_chunks());
  report.results.emplace_back(copy_case("d2h", "pinned", 1 << 20));
  report.results.push_back(report.results.front());
  std::set<int> processes;
  for (const Json& e : events_of(Json::parse(to_chrome_trace(report)), "X")) processes.insert(e["pid"].get<int>());
  EXPECT_EQ(processes, (std::set<int>{1, 2}));
}

TEST(ChromeTrace, HasAProcessForEachOfSeveralGpusAndOneForTheHost) {
  const Json file = Json::parse(to_chrome_trace(traced_on_two_gpus()));
  EXPECT_EQ(test::names_of_tracks(file), (std::vector<std::string>{"H2D", "P2P", "kernel", "D2H", "host calls"}));
  const std::string of = " of copy/dir=h2d/host=pinned/size=1MiB (SIMULATED)";
  std::vector<std::string> names;
  std::vector<std::string> parts;
  for (const Json& e : events_of(file, "M")) {
    if (e["name"] != "process_name") continue;
    names.push_back(e["args"]["name"]);
    parts.push_back(e["args"]["part"]);
    EXPECT_EQ(" of " + e["args"]["case"].get<std::string>(), of);
  }
  EXPECT_EQ(parts, (std::vector<std::string>{"GPU 0", "GPU 3", "host"}));
  EXPECT_EQ(names, (std::vector<std::string>{"GPU 0" + of, "GPU 3" + of, "host" + of}));
  std::map<std::string, int> processes;
  for (const Json& e : events_of(file, "X")) processes[e["cat"]] = e["pid"];
  EXPECT_EQ(processes, (std::map<std::string, int>{{"H2D", 1}, {"P2P", 1}, {"kernel", 2}, {"D2H", 2}, {"host", 3}}));
}

TEST(ChromeTrace, IsAFileWhateverItIsOf) {
  EXPECT_TRUE(Json::parse(to_chrome_trace(real_report()))["traceEvents"].empty());
  const std::string no_utf8 = to_chrome_trace(traced({"cupti", {activity(Row::kernel, "\xff", 0, 1)}}));
  EXPECT_EQ(events_of(Json::parse(no_utf8), "X").size(), 1U);
}

// --- Charts ----------------------------------------------------------------------------------------------------------

TEST(Gantt, IsDrawnLikeThis) {
  Trace inside = two_chunks("cupti");
  inside.activities.push_back(activity(Row::internal, "fill", 70, 80));
  Trace small{"simulated", {}};
  for (int i = 0; i < 400; ++i) small.activities.push_back(activity(Row::h2d, "copy H2D", i, i + 0.5));
  expect_golden("timeline/two_chunks.txt", to_gantt(two_chunks(), 49, Style{}));
  expect_golden("timeline/ascii.txt", to_gantt(two_chunks("events"), 49, Style{}, Glyphs::ascii));
  expect_golden("timeline/inside.txt", to_gantt(inside, 60, Style{}));
  expect_golden("timeline/half_full_cells.txt", to_gantt(small, 49, Style{}, Glyphs::blocks));
  EXPECT_EQ(to_gantt({"cupti", {}}, 60, Style{}), "  nothing was recorded\n");
}

TEST(Gantt, HasRowsForEachOfSeveralGpus) {
  expect_golden("timeline/two_gpus.txt", to_gantt(two_gpus(), 60, Style{}, Glyphs::ascii, {"GPU 0", "GPU 3"}));
  EXPECT_TRUE(
      contains(to_gantts(traced_on_two_gpus(), Style{}, Glyphs::ascii), "  GPU 3: kernel 28.6 % busy, no gaps"));
  EXPECT_EQ(gpu_names(traced(two_gpus()).environment), std::vector<std::string>{}) << "there is one";
}

TEST(Gantt, IsNoWiderThanAskedInAsciiWithoutBlanksAtLineEnds) {
  for (const std::size_t width : {1U, 10U, 20U, 60U, 111U}) {
    std::istringstream text(to_gantt(two_chunks(), width, Style{}, Glyphs::ascii));
    std::size_t rows = 0;
    for (std::string line; std::getline(text, line); ++rows) {
      EXPECT_NE(line.back(), ' ') << line;
      EXPECT_TRUE(std::ranges::all_of(line, [](unsigned char c) { return c < 128; })) << line;
      const bool drawn = rows < 5;  // sentences follow the drawn rows
      EXPECT_TRUE(!drawn || line.size() <= std::max<std::size_t>(width, 10)) << line;
    }
  }
}

TEST(Gantt, ChartsOfTheFirstFewCasesAreEnough) {
  Report report = traced(two_chunks());
  EXPECT_TRUE(mentions(to_gantts(report, Style{}, Glyphs::ascii), "\ntimeline copy/dir=h2d/host=pinned/size=1MiB"));
  for (int i = 0; i < 5; ++i) report.results.push_back(report.results.front());
  EXPECT_TRUE(
      mentions(to_gantts(report, Style{}, Glyphs::ascii), "6 cases were traced; above are the charts of the first 4"));
  EXPECT_EQ(to_gantts(real_report(), Style{}, Glyphs::ascii), "");
}

// --- Charts on pages ------------------------------------------------------------------------------------------------

std::string timeline_on_page(const Document& document) {
  for (const Part& part : document.parts) {
    if (const auto* timeline = std::get_if<Timeline>(&part.content)) return to_svg(*timeline);
  }
  ADD_FAILURE() << "there is no timeline";
  return {};
}

std::string drawn(const Report& report) {
  Document document("t", trust_of(report));
  add_timelines(report, document);
  return timeline_on_page(document);
}

TEST(TimelineOnPages, IsTheSameOfARunAndOfItsFile) {
  const std::string path = testing::TempDir() + "timeline.json";
  for (const Report& report : {traced(two_chunks()), traced_on_two_gpus()}) {
    const std::string svg = drawn(report);
    write_file(path, to_chrome_trace(report));
    EXPECT_EQ(schema_of(path), kTraceEvents);
    const TraceFile file = read_trace(path);
    Document document("t", trust_of(file));
    add_timelines(file, document);
    const auto without_title = [](const std::string& text) { return text.substr(text.find("width=")); };
    EXPECT_EQ(without_title(timeline_on_page(document)), without_title(svg));
    EXPECT_EQ(document.trust.alarms(), trust_of(report).alarms());
    EXPECT_TRUE(mentions(to_terminal(document, Style{}), "view it in a page (--html)"));
  }
}

TEST(TimelineOnPages, NamesGpusWhereThereAreSeveralAndNumbersWhatTheyDo) {
  EXPECT_TRUE(mentions(drawn(traced(two_chunks())), ">H2D</text>"));
  const std::string svg = drawn(traced_on_two_gpus());
  for (const char* said : {">GPU 0 H2D</text>", ">GPU 3 kernel</text>", ">host calls</text>",
                           "copy H2D, number 1, 2 MB, 50.00 GB/s: from 10.00 us, 40.00 us long"}) {
    EXPECT_TRUE(mentions(svg, said));
  }
}

TEST(TimelineOnPages, IsOfTheFirstPartOfWhatIsLong) {
  Trace trace = two_chunks();
  for (int i = 0; i < 3000; ++i) trace.activities.push_back(activity(Row::kernel, "fma", 100 + i, 101 + i));
  Document document("t", Trust::of_facts());
  Report report = traced(trace);
  for (int i = 0; i < 7; ++i) report.results.push_back(report.results.front());
  add_timelines(report, document);
  const std::string page = to_html(document);
  EXPECT_TRUE(mentions(page, "Shows the first 2000 of 3008"));
  EXPECT_TRUE(mentions(page, "8 cases were traced; the first 6 are shown"));
}

TEST(TimelineOnPages, OfADamagedFileIsRefused) {
  const std::string path = testing::TempDir() + "timeline.json";
  write_file(path, R"({"traceEvents":[{"name":"a","ph":"X","pid":1,"tid":1,"ts":0,"dur":-1}]})");
  EXPECT_TRUE(mentions(message_of<InputError>([&] { static_cast<void>(read_trace(path)); }), "traceEvents[0].dur"));
}

}  // namespace
}  // namespace xferbench::test
