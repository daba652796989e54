// A run as terminal tables, Markdown and CSV: each report is compared with golden/run/.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <regex>
#include <set>

#include "paper/writers.hpp"
#include "report/run/run_report.hpp"
#include "scenarios/scenarios.hpp"
#include "support/golden.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"
#include "words/run.hpp"

namespace xferbench::test {
namespace {

std::vector<const ScenarioDescriptor*> shown() { return {&copy_descriptor(), &tail_descriptor()}; }

std::string table(const Report& report, bool color = false) {
  return to_terminal(document_of(report, shown(), {.every_row = false}), Style{color});
}

/// A copy of 2 ms, interval +- 1 %.
Result good(const Case& c, double bandwidth) {
  Result r(c);
  r.measurements = {measured("copy", Clock::event_gated, {0.0019, 0.0020, 0.0022}, 0.0020, {0.00198, 0.00202})};
  r.add("bandwidth", bandwidth, "GB/s");
  return r;
}

Result unmeasured(const Case& c, Status status, std::string reason) {
  Result r(c);
  r.status = status;
  r.reason = std::move(reason);
  return r;
}

Report report_of(std::vector<Result> results, Report report = real_report()) {
  report.results = std::move(results);
  return report;
}

const Case kCase = copy_case("h2d", "pinned", 1 << 20);

std::vector<Result> three() {
  return {good(kCase, 55.5), good(copy_case("h2d", "pageable", 1 << 20), 8.9),
          good(copy_case("d2d", "", 1 << 20), 2125)};
}

/// One case with three measurements: one without an interval and with flags, one that is not a time.
Report one_case() {
  Result r = good(kCase, 55.512);
  r.measurements.push_back(measured("copy-submit", Clock::host, {3e-6, 3.1e-6}, 3.05e-6, {3e-6, 3.1e-6}));
  r.measurements.back().ci95.reset();
  r.measurements.back().flags = {"outliers", "drift"};
  r.measurements.push_back(measured("calls", Clock::host, {40, 42}, 41, {40, 42}));
  r.measurements.back().unit = "calls";
  r.add("speedup", 1.736, "1");
  r.add("of_limit", 0.9412, "1");
  r.add("blocked", 3.05e-6, "s");
  Report report = report_of({r});
  report.findings = {{"copy", "winner", {}, {}, "a sentence"}};
  return report;
}

/// Only one measurement has enough samples (100) for percentiles.
Report hundred_samples() {
  Result r = good(kCase, 55.512);
  r.measurements.push_back(r.measurements[0]);
  r.measurements[0].samples = std::vector<double>(100, 0.002);
  r.measurements[0].p90 = 0.0021;
  r.measurements[0].p99 = 0.00215;
  r.measurements[1].name = "brief";
  return report_of({r});
}

/// Two scenarios: each gets its own table.
Report two_scenarios() {
  Report report = report_of({good(Case("tail"), 7), good(Case("tail"), 8), good(kCase, 1)});
  for (Result& r : report.results) r.measurements[0].p90 = 0.0021;
  report.results[0].measurements[0].p99 = 0.00215;
  return report;
}

/// A metric that only one case has still gets a column.
Report some_metrics() {
  Report report = report_of(three());
  report.results[2].add("speedup", 2, "1");
  return report;
}

/// An axis that not all cases have, with one value: it stands above the table. The link runs below the GPU's generation
/// and width.
Report some_axes() {
  Report report = report_of({three()[2], three()[0]});
  report.environment.gpu.pcie = Environment::Pcie{4, 8, "nvml", 5, 16, true};
  return report;
}

Report cut_short() {
  Report report = report_of(three());
  report.results[0].add("of_limit", 0.9, "1");
  report.results[1] = unmeasured(report.results[1].config, Status::failed, "H2D copy: wrong result at byte offset 42");
  report.results[2] = unmeasured(report.results[2].config, Status::skipped, "not modelled");
  report.results.push_back(unmeasured(copy_case("d2h", "pinned", 1 << 20), Status::skipped, std::string(kNotBegun)));
  report.complete = false;
  return report;
}

/// Every mark that a run can have.
Report simulated() {
  Report report = report_of({good(copy_case("h2d", "pinned", 4096), 1), good(copy_case("d2h", "pinned", 4096), 1)},
                            simulated_report());
  report.verified = false;
  report.environment.variables = {{"CUDA_VISIBLE_DEVICES", "0"}, {"XFERBENCH_INJECT", "lose:copy:3"}};
  return report;
}

Finding fit_of(const std::string& dir, const std::string& host, double latency, double rate) {
  Finding f{.scenario = "copy", .kind = "fit", .labels = {{"dir", dir}}, .metrics = {}, .text = {}};
  if (!host.empty()) f.labels.emplace_back("host", host);
  f.metrics = {{"latency", latency, "s"},
               {"rate", rate, "GB/s"},
               {"half_rate_size", latency * rate * 1e9, "B"},
               {"worst_residual", 0.0123, "1"}};
  return f;
}

/// Fits, comparisons and sentences. Findings of a scenario without results must not appear.
Report findings() {
  Report report = report_of(three());
  report.findings = {fit_of("h2d", "pinned", 2e-6, 55.5),
                     fit_of("d2d", "", 2.5e-6, 2125),
                     {"copy", "crossover", {}, {{"crossover", 24576, "B"}}, "h2d: pinned is faster from 24 KiB on"},
                     {"copy", "break-even", {{"dir", "h2d"}}, {{"copies", 12, "copies"}}, ""},
                     {"copy", "winner", {}, {}, "d2h: pinned is faster"},
                     {"other", "winner", {}, {}, "this belongs to another scenario"}};
  return report;
}

/// More findings than fit on a screen, 39 skipped cases with two distinct reasons, and warnings that differ only in
/// numbers.
Report many_findings() {
  Report report = report_of({});
  for (std::uint64_t i = 0; i < 40; ++i) {
    const Case c = copy_case(i < 39 ? "h2d" : "d2h", i % 2 == 0 ? "pinned" : "pageable", (i + 1) * 4096);
    const char* reason = i < 37 ? "--size is not what it should be" : "there is no room";
    report.results.push_back(i == 39 ? good(c, 55.5) : unmeasured(c, Status::skipped, reason));
    report.results.back().warnings = {fmt::format("{} % drift", i)};
  }
  const std::string key = report.results.back().config.key();
  for (int i = 1; i <= 8; ++i) {
    report.findings.push_back({"copy", "winner", {}, {}, fmt::format("sentence {}", i)});
    report.findings.push_back({"copy", "winner", {}, {}, fmt::format("detail {}", i)});
    report.findings.back().detail = true;
  }
  for (int i = 1; i <= 30; ++i) {
    report.findings.push_back({"copy", "break-even", {{"case", key}}, {{"copies", 1.0 * i, "copies"}}, "in a row"});
    report.findings.back().row = true;
  }
  return report;
}

/// Sizes that round to the same text, and texts with a meaning in tables, Markdown, CSV or spreadsheets.
Report odd_texts() {
  Report report = report_of({good(copy_case("größe", "pinned", (1 << 20) + 4), -1.5),
                             good(copy_case("h2d", "=cmd|x", (1 << 20) + 8), std::numeric_limits<double>::quiet_NaN()),
                             unmeasured(copy_case("d2d", "", 4096), Status::failed, "no \"peer\", a|b\nc")});
  report.environment.gpu.name = "=HYPERLINK(\"x\",1)";
  report.environment.driver = "@SUM(1)";
  report.results[0].warnings = {"the clock <drifts>\nand *more*", "three"};
  report.results[1].measurements[0].samples = {};
  report.findings = {{"copy", "winner", {}, {}, "pinned *wins*"}};
  return report;
}

struct Named {
  const char* name;
  Report report;
};

std::vector<Named> reports() {
  return {{"one_case", one_case()},
          {"one_failed_case", report_of({unmeasured(kCase, Status::failed, "out of memory")})},
          {"hundred_samples", hundred_samples()},
          {"several_cases", report_of(three())},
          {"some_metrics", some_metrics()},
          {"some_axes", some_axes()},
          {"two_scenarios", two_scenarios()},
          {"cut_short", cut_short()},
          {"simulated", simulated()},
          {"findings", findings()},
          {"many_findings", many_findings()},
          {"odd_texts", odd_texts()},
          {"nothing", real_report()}};
}

Report report_named(std::string_view name) {
  const auto all = reports();
  return std::ranges::find(all, name, &Named::name)->report;
}

TEST(RunReport, IsTheseTables) {
  for (const auto& [name, report] : reports()) expect_golden("run/" + std::string(name) + ".txt", table(report));
}

TEST(RunReport, ShowsTheIntervalOfAMetricOfWhichItIsKnown) {
  Report report = report_of({good(kCase, 1)});
  Result& r = report.results.front();
  r.add("of_limit", 0.9, "1");
  r.add("of_limit_low", 0.873, "1");
  EXPECT_FALSE(contains(table(report), "3.0 %"));
  r.add("of_limit_high", 0.927, "1");
  EXPECT_TRUE(test::mentions(table(report), "90.0 %   3.0 %"));
  EXPECT_TRUE(test::mentions(to_markdown(document_of(report, shown())), "| 90.0 % | 3.0 % |"));
}

TEST(RunReport, ShowsAllFindingsWhereTheseAreAskedFor) {
  const Report report = many_findings();
  for (const std::string& text :
       {to_terminal(document_of(report, shown(), {.details = true, .every_row = false}), Style{}),
        to_markdown(document_of(report, shown(), {.details = true}))}) {
    for (int i = 1; i <= 8; ++i) {
      EXPECT_TRUE(test::mentions(text, fmt::format("sentence {}\n", i)));
      EXPECT_TRUE(test::mentions(text, fmt::format("detail {}\n", i)));
    }
    EXPECT_TRUE(test::mentions(text, " 30"));
    EXPECT_EQ(text.find("--details"), std::string::npos);
  }
}

TEST(RunReport, WritesThePlusMinusSignInAsciiWithoutMovingColumns) {
  const std::string ascii = to_terminal(document_of(findings(), shown()), Style{.ascii = true});
  EXPECT_TRUE(std::ranges::all_of(ascii, [](char c) { return static_cast<unsigned char>(c) < 128; })) << ascii;
  EXPECT_TRUE(contains(ascii, "  dir   host           time      +-    GB/s\n")) << ascii;
}

TEST(RunReport, SaysWhoseFindingsAndWarningsAreOfSingleProcesses) {
  Report report = findings();
  report.results[0].warnings = {"drift"};
  report.command = {"xferbench", "--process=1", "copy"};
  const std::string pooled = to_html(document_of(report, shown(), {.processes = 3}));
  EXPECT_FALSE(contains(pooled, "findings of"));
  EXPECT_TRUE(contains(pooled, ">Warnings of single processes</h2>"));
  EXPECT_TRUE(contains(pooled, "xferbench copy; started"));
  const std::string of_first =
      to_terminal(document_of(report, shown(), {.processes = 3, .findings_of_first = true}), Style{});
  const std::size_t said = of_first.find("findings of process 1 of 3:\n");
  ASSERT_NE(said, std::string::npos) << of_first;
  EXPECT_GT(said, of_first.find(" GB/s")) << "below the table of all";
  EXPECT_LT(said, of_first.find("latency"));
}

TEST(RunReport, SaysWhatAFitIsAndWhichOnesArePoor) {
  Report report = findings();
  report.findings[1].metrics.back().value = 0.414;
  const std::string text = table(report);
  EXPECT_TRUE(test::mentions(text, "  Fits: time = latency + size / rate\n")) << text;
  EXPECT_TRUE(test::mentions(text, "41.4 %, poor"));
  EXPECT_FALSE(test::mentions(text, "1.2 %, poor"));
  report.findings.push_back(fit_of("bidirectional", "pinned", 2e-6, 50.8));
  EXPECT_TRUE(test::mentions(table(report), "size / rate; both ways: the rate of each direction\n"));
}

TEST(RunReport, SaysBelowATableWhatItsColumnsDoNotWhereItHasTheseColumns) {
  ScenarioDescriptor copy = test::copy_descriptor();
  copy.note = ScenarioDescriptor::Note{"speedup", "speedups are over something else"};
  const std::array<const ScenarioDescriptor*, 1> scenarios{&copy};
  Report report = report_of(three());
  const auto text = [&] { return to_markdown(document_of(report, scenarios)); };
  EXPECT_FALSE(contains(text(), "over something else"));
  report.results[2].add("speedup", 2, "1");
  EXPECT_TRUE(contains(text(), "over something else"));
}

TEST(RunReport, IsThisMarkdown) {
  for (const std::string name : {"two_scenarios", "cut_short", "simulated", "many_findings", "odd_texts"}) {
    expect_golden("run/" + name + ".md", to_markdown(document_of(report_named(name), shown())));
  }
  EXPECT_TRUE(test::mentions(to_markdown(document_of(report_named("nothing"), shown())), "NVIDIA H200"));
}

TEST(RunReport, OfALongListShowsAThousandRowsUnlessAllAreAskedFor) {
  Report report;
  report.environment.gpu.name = "a GPU";
  constexpr std::uint64_t kRows = 1003;
  for (std::uint64_t i = 0; i < kRows; ++i) report.results.push_back(good(copy_case("h2d", "pinned", 4096 + i), 50));
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  const std::string all = to_terminal(document_of(report, shown(), {.every_row = true}), Style{.every_row = true});
  const std::string some = table(report);
  EXPECT_TRUE(test::mentions(some, "3 more rows not shown; --wide shows them"));
  EXPECT_FALSE(test::mentions(all, "not shown"));
  EXPECT_EQ(lines(all) - lines(some), 2) << "three rows, and the line that tells of them";
  EXPECT_TRUE(test::mentions(to_markdown(document_of(report, shown())), "5098 B")) << "Markdown has them all";
}

TEST(RunReport, IsThisCsv) {
  for (const std::string name : {"one_case", "two_scenarios", "cut_short", "simulated", "odd_texts", "nothing"}) {
    expect_golden("run/" + name + ".csv", to_csv(report_named(name), shown()));
  }
}

TEST(RunReport, SaysWhatItMayNotBeTakenForEverywhereOrNowhere) {
  for (auto [name, report] : reports()) {
    for (const bool verified : {true, false}) {
      report.verified = verified;
      for (const std::string& text : {table(report), to_markdown(document_of(report, shown()))}) {
        EXPECT_EQ(contains(text, "NOT VERIFIED: measured with --no-verify"), !verified) << name;
        EXPECT_EQ(contains(text, "SIMULATED"), report.environment.backend == "simulated") << name;
      }
    }
  }
}

TEST(Table, HasNoTrailingBlanksAndNoControlCharacters) {
  for (const auto& [name, report] : reports()) {
    const std::string text = table(report);
    EXPECT_FALSE(contains(text, " \n")) << text;
    EXPECT_FALSE(contains(text, "\x1b")) << text;
    EXPECT_TRUE(text.ends_with("\n")) << text;
  }
}

TEST(Table, SaysHowManyTimesAsLongOtherWaysToDoTheSameTake) {
  ScenarioDescriptor ways = copy_descriptor();
  ways.answer.best = "bandwidth";
  ways.answer.ranks_ways = true;
  ways.work_axes = {"dir", "size"};
  const std::vector<const ScenarioDescriptor*> scenarios{&ways};
  const std::string text = to_terminal(document_of(report_of(three()), scenarios), Style{});
  EXPECT_TRUE(std::regex_search(text, std::regex("h2d +pinned .* 1\\.00x\n"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("h2d +pageable .* 6\\.24x\n"))) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("d2d [^x]*\n"))) << "there is one way only: " << text;
  ways.work_axes = {"dir", "host", "size"};
  EXPECT_FALSE(mentions(to_terminal(document_of(report_of(three()), scenarios), Style{}), "vs best"));
}

TEST(Table, ColoursWhatMattersAndMovesNothing) {
  for (const auto& [name, report] : reports()) {
    EXPECT_EQ(std::regex_replace(table(report, true), std::regex("\x1b\\[[0-9;]*m"), ""), table(report)) << name;
  }
  const std::string colored = table(cut_short(), true);
  EXPECT_TRUE(test::mentions(colored, "\x1b[1;31mFAILED: H2D copy: wrong result at byte offset 42\x1b[0m")) << "bad";
  EXPECT_TRUE(test::mentions(colored, "\x1b[2mskipped: not modelled\x1b[0m")) << "dim";
  EXPECT_TRUE(test::mentions(colored, "\x1b[1;33mINCOMPLETE")) << "notice";
  EXPECT_TRUE(test::mentions(colored, "90.0 %\x1b[0m")) << "the share of the limit stands out";
  EXPECT_TRUE(test::mentions(table(simulated(), true), "\x1b[1;33mSIMULATED by profile h200"));
  EXPECT_TRUE(test::mentions(table(simulated(), true), "\x1b[1;33mFAULT INJECTED\x1b[0m\n"));
}

TEST(Markdown, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(markdown_escaped("a_b `c` [d](e) <f> | \\ ~g~ &amp;\r\n"),
            "a\\_b \\`c\\` \\[d\\](e) &lt;f> \\| \\\\ \\~g\\~ &amp;amp;  ");
}

TEST(Csv, HasTheSameColumnsInEveryRowAndForEveryRunOfAScenario) {
  std::set<std::string> headers;
  for (const char* name : {"one_case", "several_cases", "cut_short", "simulated", "findings"}) {
    std::istringstream text(to_csv(report_named(name), shown()));
    std::string header;
    std::getline(text, header);
    for (std::string line; std::getline(text, line);) {
      EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(header, ',')) << line;
    }
    headers.insert(header);
  }
  EXPECT_EQ(headers.size(), 1U);
}

TEST(Csv, NoAxisIsCalledLikeAColumnThatIsAlwaysThere) {
  const std::string header = "," + to_csv(real_report(), {});
  for (const Scenario* scenario : scenarios()) {
    for (const Axis& axis : scenario->descriptor().axes)
      EXPECT_FALSE(contains(header, "," + axis.name + ",")) << axis.name;
  }
}

}  // namespace
}  // namespace xferbench::test
