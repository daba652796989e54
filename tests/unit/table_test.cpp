// Tables as text, to the character: alignment is all that a table has.
#include "report/run/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <string>

#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::copy_case;
using test::mentions;

std::string table(const Report& report, bool color = false) {
  const std::array shown{&test::copy_descriptor()};
  return to_table(report, shown, Style{color});
}

/// One copy of 2 ms with an interval of +- 1 %.
Result good(const Case& c, double bandwidth) {
  Result r(c);
  r.measurements = {test::measured("copy", Clock::event_gated, {0.0019, 0.0020, 0.0022}, 0.0020, {0.00198, 0.00202})};
  r.add("bandwidth", bandwidth, "GB/s");
  return r;
}

Result unmeasured(const Case& c, Status status, std::string reason) {
  Result r(c);
  r.status = status;
  r.reason = std::move(reason);
  return r;
}

Report report_of_three() {
  Report report = test::real_report();
  report.results = {good(copy_case("h2d", "pinned", 1 << 20), 55.5), good(copy_case("h2d", "pageable", 1 << 20), 8.9),
                    good(copy_case("d2d", "", 1 << 20), 2125)};
  return report;
}

TEST(Table, OfOneCaseIsFollowedByAllItsMeasurements) {
  Report report = test::real_report();
  Result r = good(copy_case("h2d", "pinned", 256 << 20), 55.512);
  r.measurements.push_back(test::measured("copy-submit", Clock::host, {3e-6, 3.1e-6}, 3.05e-6, {3e-6, 3.1e-6}));
  r.measurements.back().ci95.reset();
  r.measurements.back().flags = {"outliers", "drift"};
  r.add("speedup", 1.736, "1");
  r.add("of_limit", 0.9412, "1");
  r.add("blocked", 3.05e-6, "s");
  report.results = {r};
  EXPECT_EQ(table(report),
            "NVIDIA H200, PCIe Gen5 x16, driver 580.1, Some CPU\n"
            "\n"
            "copy  dir h2d  host pinned  size 256 MiB\n"
            "      time      +-    GB/s   speedup   of limit    blocked\n"
            "  2.000 ms   1.0 %   55.51     1.74x     94.1 %   3.050 us\n"
            "\n"
            "  measured        median      +-        min        max   n         clock            flags\n"
            "  copy          2.000 ms   1.0 %   1.900 ms   2.200 ms   3   event-gated\n"
            "  copy-submit   3.050 us           3.000 us   3.100 us   2          host   outliers drift\n");
}

TEST(Table, WritesSamplesThatAreNoTimesWithTheirUnit) {
  Report report = test::real_report();
  Result r = good(copy_case("h2d", "pinned", 256 << 20), 55.512);
  r.measurements.push_back(test::measured("calls", Clock::host, {40, 42}, 41, {40, 42}));
  r.measurements.back().unit = "calls";
  report.results = {r};
  const std::string text = table(report);
  EXPECT_TRUE(mentions(text, "  calls      41.00 calls   2.4 %   40.00 calls   42.00 calls   2")) << text;
}

TEST(Table, NamesAnAxisAboveThatOnlySomeHaveIfTheyAgree) {
  Report report = report_of_three();
  report.results.erase(report.results.begin() + 1);
  std::ranges::reverse(report.results);
  EXPECT_TRUE(mentions(table(report),
                       "copy  host pinned  size 1 MiB\n"
                       "  dir       time      +-"))
      << table(report);
}

TEST(Table, SaysAboveThatTheLinkIsLessThanTheGpuCanDo) {
  Report report = report_of_three();
  report.environment.gpu.pcie = Environment::Pcie{4, 8, "nvml", 5, 16, true};
  EXPECT_TRUE(
      table(report).starts_with("NVIDIA H200, PCIe Gen4 x8 (the GPU can do Gen5 x16), driver 580.1, Some CPU\n"));
}

TEST(Table, OfMeasurementsShowsPercentilesIfOneHasAHundredSamples) {
  Report report = test::real_report();
  Result r = good(copy_case("h2d", "pinned", 256 << 20), 55.512);
  r.measurements.push_back(r.measurements[0]);
  r.measurements[0].samples.resize(100, 0.002);
  r.measurements[0].p90 = 0.0021;
  r.measurements[0].p99 = 0.00215;
  r.measurements[1].name = "brief";
  report.results = {r};
  const std::string text = table(report);
  EXPECT_TRUE(
      mentions(text,
               "  measured     median      +-        min        p90        p99        max     n         clock   flags\n"
               "  copy       2.000 ms   1.0 %   1.900 ms   2.100 ms   2.150 ms   2.200 ms   100   event-gated\n"
               "  brief      2.000 ms   1.0 %   1.900 ms                         2.200 ms     3   event-gated\n"));
}

TEST(Table, ShowsPercentilesAsColumnsOfAScenarioThatWantsThem) {
  using enum MetricDeclaration::Beside;
  ScenarioDescriptor copy = test::copy_descriptor();
  copy.metrics = {measured("copy", "a copy").column("time", {p90, p99})};
  const std::array<const ScenarioDescriptor*, 1> shown{&copy};
  Report report = report_of_three();
  for (Result& r : report.results) r.measurements[0].p90 = 0.0021;
  report.results[0].measurements[0].p99 = 0.00215;
  EXPECT_TRUE(mentions(to_table(report, shown, {}),
                       "  dir   host           time        p90        p99\n"
                       "  h2d   pinned     2.000 ms   2.100 ms   2.150 ms\n"
                       "  h2d   pageable   2.000 ms   2.100 ms\n"));
}

TEST(Table, OfSeveralCasesHasAColumnForEveryAxisThatVaries) {
  EXPECT_EQ(table(report_of_three()),
            "NVIDIA H200, PCIe Gen5 x16, driver 580.1, Some CPU\n"
            "\n"
            "copy  size 1 MiB\n"
            "  dir   host           time      +-    GB/s\n"
            "  h2d   pinned     2.000 ms   1.0 %   55.50\n"
            "  h2d   pageable   2.000 ms   1.0 %   8.900\n"
            "  d2d   -          2.000 ms   1.0 %    2125\n");
}

TEST(Table, TellsSizesApartThatRoundToTheSame) {
  Report report = test::real_report();
  report.results = {good(copy_case("h2d", "pinned", (1 << 20) + 4), 1),
                    good(copy_case("h2d", "pinned", (1 << 20) + 8), 1)};
  EXPECT_TRUE(mentions(table(report), "\n  1048580 B "));
  EXPECT_TRUE(mentions(table(report), "\n  1048584 B "));
}

TEST(Table, LeavesOutColumnsWithoutAnyValueAndKeepsThoseWithOne) {
  Report report = report_of_three();
  EXPECT_FALSE(test::contains(table(report), "speedup"));
  report.results[2].add("speedup", 2, "1");
  EXPECT_EQ(table(report),
            "NVIDIA H200, PCIe Gen5 x16, driver 580.1, Some CPU\n"
            "\n"
            "copy  size 1 MiB\n"
            "  dir   host           time      +-    GB/s   speedup\n"
            "  h2d   pinned     2.000 ms   1.0 %   55.50\n"
            "  h2d   pageable   2.000 ms   1.0 %   8.900\n"
            "  d2d   -          2.000 ms   1.0 %    2125     2.00x\n");
}

TEST(Table, ShowsFailedAndSkippedCasesWithTheirReason) {
  Report report = report_of_three();
  report.results[1] = unmeasured(copy_case("h2d", "pageable", 1 << 20), Status::failed,
                                 "H2D copy: wrong result at byte offset 42: expected 0x12, found 0xff");
  report.results[2] = unmeasured(copy_case("d2d", "", 1 << 20), Status::skipped, "not modelled");
  EXPECT_EQ(table(report),
            "NVIDIA H200, PCIe Gen5 x16, driver 580.1, Some CPU\n"
            "\n"
            "copy  size 1 MiB\n"
            "  dir   host           time      +-    GB/s\n"
            "  h2d   pinned     2.000 ms   1.0 %   55.50\n"
            "  h2d   pageable   FAILED: H2D copy: wrong result at byte offset 42: expected 0x12, found 0xff\n"
            "  d2d   -          skipped: not modelled\n");
}

TEST(Table, OfOneFailedCaseShowsItsReasonAndNoMeasurements) {
  Report report = test::real_report();
  report.results = {unmeasured(copy_case("h2d", "pinned", 4096), Status::failed, "out of memory")};
  const std::string text = table(report);
  EXPECT_TRUE(mentions(text, "copy  dir h2d  host pinned  size 4 KiB\n"));
  EXPECT_TRUE(mentions(text, "FAILED: out of memory\n"));
  EXPECT_FALSE(test::contains(text, "measured"));
}

TEST(Table, SaysSimulatedAboveAndBesideEveryTitle) {
  Report report = test::simulated_report();
  report.results = {good(copy_case("h2d", "pinned", 4096), 1), good(copy_case("d2h", "pinned", 4096), 1)};
  EXPECT_EQ(table(report),
            "SIMULATED by profile h200: modelled times, not measurements of this machine\n"
            "NVIDIA H200, PCIe Gen5 x16\n"
            "\n"
            "copy  host pinned  size 4 KiB  SIMULATED\n"
            "  dir       time      +-    GB/s\n"
            "  h2d   2.000 ms   1.0 %   1.000\n"
            "  d2h   2.000 ms   1.0 %   1.000\n");
}

TEST(Table, NeverSaysSimulatedOfARealRun) { EXPECT_FALSE(test::contains(table(report_of_three()), "SIMULATED")); }

Finding fit_of(const std::string& dir, const std::string& host, double latency, double rate) {
  Finding f{.scenario = "copy", .kind = "fit", .labels = {{"dir", dir}}, .metrics = {}, .text = {}};
  if (!host.empty()) f.labels.emplace_back("host", host);
  f.metrics = {{"latency", latency, "s"},
               {"rate", rate, "GB/s"},
               {"half_rate_size", latency * rate * 1e9, "B"},
               {"worst_residual", 0.0123, "1"}};
  return f;
}

TEST(Table, IsFollowedByFindingsAsATableOfEachKindAndSentences) {
  Report report = report_of_three();
  report.findings = {fit_of("h2d", "pinned", 2e-6, 55.5), fit_of("d2d", "", 2.5e-6, 2125)};
  report.findings.push_back(
      {"copy", "crossover", {}, {{"crossover", 24576, "B"}}, "h2d: pinned is faster from 24 KiB on"});
  report.findings.push_back({"copy", "break-even", {{"dir", "h2d"}}, {{"copies", 12, "copies"}}, ""});
  report.findings.push_back({"copy", "winner", {}, {}, "d2h: pinned is faster"});
  report.findings.push_back({"other", "winner", {}, {}, "this belongs to another scenario"});
  EXPECT_EQ(table(report),
            "NVIDIA H200, PCIe Gen5 x16, driver 580.1, Some CPU\n"
            "\n"
            "copy  size 1 MiB\n"
            "  dir   host           time      +-    GB/s\n"
            "  h2d   pinned     2.000 ms   1.0 %   55.50\n"
            "  h2d   pageable   2.000 ms   1.0 %   8.900\n"
            "  d2d   -          2.000 ms   1.0 %    2125\n"
            "\n"
            "  fit\n  dir   host      latency         rate   half rate size   worst residual\n"
            "  h2d   pinned   2.000 us   55.50 GB/s        108.4 KiB            1.2 %\n"
            "  d2d   -        2.500 us    2125 GB/s          5.1 MiB            1.2 %\n"
            "\n"
            "  break-even\n  dir   copies\n"
            "  h2d       12\n"
            "\n"
            "  h2d: pinned is faster from 24 KiB on\n"
            "  d2h: pinned is faster\n");
}

TEST(Table, OfOneCaseHasItsFindingsBelowItsMeasurements) {
  Report report = test::real_report();
  report.results = {good(copy_case("h2d", "pinned", 4096), 1)};
  report.findings = {{"copy", "winner", {}, {}, "a sentence"}};
  EXPECT_TRUE(table(report).ends_with("3   event-gated\n\n  a sentence\n"));
}

TEST(Table, SaysInterruptedWhereTheRunWas) {
  Report report = report_of_three();
  EXPECT_FALSE(test::contains(table(report), "INTERRUPTED"));
  report.complete = false;
  EXPECT_TRUE(mentions(table(report), "\n\nINTERRUPTED: not every case has run to its end\n"));
}

TEST(Table, ShowsEachScenarioWithItsOwnResults) {
  Report report = test::real_report();
  const Result other = good(Case("other"), 7);
  report.results = {other, good(copy_case("h2d", "pinned", 4096), 1)};
  const ScenarioDescriptor another{
      .name = "other", .summary = "another", .axes = {}, .metrics = test::copy_descriptor().metrics};
  const std::array shown{&test::copy_descriptor(), &another};
  EXPECT_EQ(to_table(report, shown, {}),
            "NVIDIA H200, PCIe Gen5 x16, driver 580.1, Some CPU\n"
            "\n"
            "copy  dir h2d  host pinned  size 4 KiB\n"
            "      time      +-    GB/s\n"
            "  2.000 ms   1.0 %   1.000\n"
            "\n"
            "  measured     median      +-        min        max   n         clock   flags\n"
            "  copy       2.000 ms   1.0 %   1.900 ms   2.200 ms   3   event-gated\n"
            "\n"
            "other\n"
            "      time      +-    GB/s\n"
            "  2.000 ms   1.0 %   7.000\n"
            "\n"
            "  measured     median      +-        min        max   n         clock   flags\n"
            "  copy       2.000 ms   1.0 %   1.900 ms   2.200 ms   3   event-gated\n");
}

TEST(Table, AlignsWideCharactersByWhatIsSeen) {
  Report report = report_of_three();
  report.results[0] = good(copy_case("größe", "pinned", 1 << 20), 55.5);
  std::istringstream lines(table(report));
  std::string line;
  std::string umlauts;
  std::string plain;
  while (std::getline(lines, line)) {
    if (line.starts_with("  größe")) umlauts = line;
    if (line.starts_with("  h2d")) plain = line;
  }
  EXPECT_EQ(umlauts.size(), plain.size() + 2) << "two characters of two bytes each, shown as two";
}

/// Every kind of row there is.
Report report_of_everything() {
  Report report = report_of_three();
  report.results[1] = unmeasured(copy_case("h2d", "pageable", 1 << 20), Status::failed, "reason");
  report.results.push_back(unmeasured(copy_case("d2h", "pinned", 1 << 20), Status::skipped, "reason"));
  report.results[0].add("of_limit", 0.9, "1");
  report.complete = false;
  return report;
}

TEST(Table, HasNoTrailingBlanks) {
  Report one = test::real_report();
  one.results = {good(copy_case("h2d", "pinned", 4096), 1)};
  for (const Report& report : {report_of_three(), report_of_everything(), one}) {
    const std::string text = table(report);
    EXPECT_FALSE(test::contains(text, " \n")) << text;
    EXPECT_TRUE(text.ends_with("\n"));
  }
}

TEST(Table, IsWithoutColourUnlessWanted) { EXPECT_FALSE(test::contains(table(report_of_everything(), false), "\x1b")); }

TEST(Table, ColoursWhatMattersAndMovesNothing) {
  const std::string colored = table(report_of_everything(), true);
  EXPECT_TRUE(mentions(colored, "\x1b[1;31mFAILED: reason\x1b[0m")) << "bad";
  EXPECT_TRUE(mentions(colored, "\x1b[2mskipped: reason\x1b[0m")) << "dim";
  EXPECT_TRUE(mentions(colored, "\x1b[1;33mINTERRUPTED")) << "notice";
  EXPECT_TRUE(mentions(colored, "90.0 %\x1b[0m")) << "the share of the limit stands out";
  const std::string stripped = std::regex_replace(colored, std::regex("\x1b\\[[0-9;]*m"), "");
  EXPECT_EQ(stripped, table(report_of_everything(), false));
}

TEST(Table, ColoursSimulatedAsANotice) {
  Report report = test::simulated_report();
  report.results = {good(copy_case("h2d", "pinned", 4096), 1)};
  EXPECT_TRUE(mentions(table(report, true), "\x1b[1;33mSIMULATED by profile h200"));
  EXPECT_TRUE(mentions(table(report, true), "\x1b[1;33mSIMULATED\x1b[0m\n"));
}

}  // namespace
}  // namespace xferbench
