#include "report/run/markdown.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "report/grid.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::copy_case;
using test::mentions;

std::string markdown(const Report& report) {
  const std::array shown{&test::copy_descriptor()};
  return to_markdown(report, shown);
}

Result good(const Case& c, double bandwidth) {
  Result r(c);
  r.measurements = {test::measured("copy", Clock::event_gated, {0.0019, 0.0020, 0.0022}, 0.0020, {0.00198, 0.00202})};
  r.add("bandwidth", bandwidth, "GB/s");
  return r;
}

Report report_of_three() {
  Report report = test::simulated_report();
  report.results = {good(copy_case("h2d", "pinned", 1 << 20), 55.5), good(copy_case("h2d", "pageable", 1 << 20), 8.9),
                    Result(copy_case("d2d", "", 1 << 20))};
  report.results[1].warnings = {"the clock <drifts>"};
  report.results[2].status = Status::failed;
  report.results[2].reason = "a|b\nc";
  report.findings = {{"copy", "fit", {{"dir", "h2d"}}, {{"rate", 55.5, "GB/s"}}, ""},
                     {"copy", "winner", {}, {}, "pinned *wins*"}};
  return report;
}

TEST(Markdown, ShowsTheTerminalsTables) {
  EXPECT_EQ(markdown(report_of_three()),
            "# xferbench\n"
            "\n"
            "**SIMULATED by profile h200: modelled times, not measurements of this machine**\n"
            "\n"
            "NVIDIA H200, PCIe Gen5 x16\n"
            "\n"
            "## copy (SIMULATED)\n"
            "\n"
            "size 1 MiB\n"
            "\n"
            "| dir | host | time | +- | GB/s |\n"
            "|---|---|---:|---:|---:|\n"
            "| h2d | pinned | 2.000 ms | 1.0 % | 55.50 |\n"
            "| h2d | pageable | 2.000 ms | 1.0 % | 8.900 |\n"
            "| d2d | - | FAILED: a\\|b c | | |\n"
            "\n"
            "### fit\n"
            "\n"
            "| dir | rate |\n"
            "|---|---:|\n"
            "| h2d | 55.50 GB/s |\n"
            "\n"
            "- pinned \\*wins\\*\n"
            "\n"
            "## Warnings\n"
            "\n"
            "- copy/dir=h2d/host=pageable/size=1MiB: the clock &lt;drifts>\n");
}

TEST(Markdown, OfOneCaseShowsItsMeasurements) {
  Report report = test::real_report();
  report.results = {good(copy_case("h2d", "pinned", 1 << 20), 55.5)};
  const std::string text = markdown(report);
  EXPECT_TRUE(mentions(text, "\ndir h2d, host pinned, size 1 MiB\n\n| time | +- | GB/s |\n|---:|---:|---:|\n"));
  EXPECT_TRUE(mentions(text, "| measured | median | +- | min | max | n | clock | flags |\n|---|---:|"));
  EXPECT_FALSE(test::contains(text, "SIMULATED"));
}

TEST(Markdown, OfOneCaseThatFailedIsATableAllTheSame) {
  Report report = test::real_report();
  report.results = {Result(copy_case("h2d", "pinned", 4096))};
  report.results[0].status = Status::failed;
  report.results[0].reason = "out of memory";
  EXPECT_TRUE(mentions(markdown(report), "\n| |\n|---:|\n| FAILED: out of memory |\n"));
}

TEST(Markdown, SaysThatARunWasInterrupted) {
  Report report = report_of_three();
  report.complete = false;
  report.results[2].status = Status::skipped;
  report.results[2].reason = kNotBegun;
  const std::string text = markdown(report);
  EXPECT_TRUE(mentions(text, "**INTERRUPTED: not every case has run to its end**\n"));
  EXPECT_TRUE(mentions(text, "1 of 3 cases had not begun\n"));
}

TEST(Markdown, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(markdown_escaped("a_b `c` [d](e) <f> | \\ ~g~ &amp;\r\n"),
            "a\\_b \\`c\\` \\[d\\](e) &lt;f> \\| \\\\ \\~g\\~ &amp;amp;  ");
}

}  // namespace
}  // namespace xferbench
