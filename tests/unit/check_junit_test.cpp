// JUnit XML and OpenMetrics text of check. tests/report/test_monitoring.py validates both with external parsers.

#include "report/check/check_report.hpp"
#include "unit/support.hpp"

namespace xferbench::junit {
namespace {

using check::Checked;
using check::Verdict;
using test::contains;
using test::mentions;

check::Row row(const std::string& name, Verdict verdict) {
  check::Row row;
  row.name = name;
  row.verdict = verdict;
  row.expected = "at least 52 GB/s";
  row.key = "memcpy/dir=h2d";
  if (verdict == Verdict::holds || verdict == Verdict::fails) row.shown = "55.03 GB/s";
  if (!row.shown.empty()) row.margin = verdict == Verdict::holds ? 0.058 : -0.2;
  if (verdict == Verdict::not_measured) row.command = "xferbench memcpy --dir d2h";
  return row;
}

Checked checked() {
  Checked checked;
  checked.results = "runs/node-1.json";
  checked.expectations = "/usr/share/xferbench/expectations/h200.json";
  checked.gpu = "NVIDIA H200";
  checked.started_at = "2026-11-21T10:00:00Z";
  checked.rows = {row("h2d", Verdict::holds), row("slow", Verdict::fails), row("none", Verdict::no_case),
                  row("d2h", Verdict::not_measured)};
  return checked;
}

std::string junit_of(const Checked& one) { return to_check_junit(AllChecked(&one, 1)); }
std::string openmetrics_of(const Checked& one) { return to_check_openmetrics(AllChecked(&one, 1)); }

TEST(CheckJunit, HasATestCaseForEachExpectation) {
  EXPECT_EQ(junit_of(checked()),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="node-1" package="check.h200" id="0" timestamp="2026-11-21T10:00:00" hostname="localhost" tests="4" failures="2" errors="0" time="0">
    <properties>
      <property name="results" value="runs/node-1.json"/>
      <property name="expectations" value="/usr/share/xferbench/expectations/h200.json"/>
      <property name="gpu" value="NVIDIA H200"/>
      <property name="simulated" value=""/>
      <property name="verified" value="yes"/>
      <property name="injected_fault" value=""/>
    </properties>
    <testcase name="h2d" classname="check.h200.node-1" time="0"/>
    <testcase name="slow" classname="check.h200.node-1" time="0">
      <failure type="fails" message="55.03 GB/s, expected at least 52 GB/s">expected at least 52 GB/s; memcpy/dir=h2d</failure>
    </testcase>
    <testcase name="none" classname="check.h200.node-1" time="0">
      <failure type="no case" message="memcpy/dir=h2d">expected at least 52 GB/s; memcpy/dir=h2d</failure>
    </testcase>
    <testcase name="d2h" classname="check.h200.node-1" time="0">
      <skipped>not measured; to measure it: xferbench memcpy --dir d2h</skipped>
    </testcase>
    <system-out>1 passed, 1 failed, 1 without a matching case, 1 not measured</system-out>
    <system-err></system-err>
  </testsuite>
</testsuites>
)");
}

TEST(CheckJunit, IsRedWhereverTheExitCodeIsNotZero) {
  Checked one = checked();
  one.rows = {row("h2d", Verdict::holds)};
  EXPECT_FALSE(contains(junit_of(one), "<error")) << "which passes";
  one.complete = false;
  EXPECT_TRUE(mentions(junit_of(one), "<testcase name=\"the run is complete\""));
  EXPECT_TRUE(mentions(junit_of(one), "tests=\"2\" failures=\"0\" errors=\"1\""));
  one.complete = true;
  one.rows = {row("d2h", Verdict::not_measured)};
  EXPECT_TRUE(
      mentions(junit_of(one), "<error type=\"unchecked\" message=\"0 passed, 0 failed, 1 not measured: nothing"));
  one.rows.clear();
  EXPECT_TRUE(mentions(junit_of(one), "tests=\"1\" failures=\"0\" errors=\"1\""));
}

TEST(CheckJunit, LetsNoTextBecomeMarkup) {
  Checked one = checked();
  one.results = "a\"b<c>&.d\x01\xEF\xBF\xBE.json";
  one.rows[1].name = "]]><x/>\n";
  const std::string text = junit_of(one);
  EXPECT_TRUE(mentions(text, "<testsuite name=\"a&quot;b&lt;c&gt;&amp;_d??\""));
  EXPECT_TRUE(mentions(text, "<testcase name=\"]]&gt;&lt;x/&gt;?\""));
}

TEST(CheckJunit, HasATimeEvenWhereTheFileHasNone) {
  Checked one = checked();
  one.started_at = "yesterday";
  EXPECT_TRUE(mentions(junit_of(one), "timestamp=\"1970-01-01T00:00:00\""));
}

TEST(CheckOpenMetrics, TellsOfEachFileWhetherItPassesAndByHowMuch) {
  const std::string text = openmetrics_of(checked());
  for (const char* line :
       {"xferbench_check_results_info{results=\"runs/node-1.json\",expectations=\"/usr/share/xferbench/expectations/"
        "h200.json\",gpu=\"NVIDIA H200\",simulated=\"no\",verified=\"yes\",injected_fault=\"\"} 1\n",
        "xferbench_check_passes{results=\"runs/node-1.json\"} 0\n",
        "xferbench_check_expectations{results=\"runs/node-1.json\",verdict=\"not measured\"} 1\n",
        "# UNIT xferbench_check_margin_ratio ratio\n",
        "xferbench_check_margin_ratio{results=\"runs/node-1.json\",expectation=\"slow\"} -0.2\n",
        "xferbench_check_measured_timestamp_seconds{results=\"runs/node-1.json\"} 1795255200\n"}) {
    EXPECT_TRUE(mentions(text, line));
  }
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(CheckJunit, TellsFilesOfOneNameAndExpectationsOfOneNameApart) {
  std::vector<Checked> two(2, checked());
  two[1].results = "other/node-1.json";
  two[1].rows.push_back(row("slow", Verdict::holds));
  const std::string text = to_check_junit(two);
  EXPECT_TRUE(mentions(text, "<testsuite name=\"node-1\""));
  EXPECT_TRUE(mentions(text, "<testsuite name=\"node-1 (2)\""));
  EXPECT_TRUE(mentions(text, "<testcase name=\"slow (2)\" classname=\"check.h200.node-1 (2)\""));
}

TEST(CheckOpenMetrics, HaveEachOfTheExpectationsOfOneName) {
  Checked one = checked();
  one.rows = {row("h2d", Verdict::holds), row("h2d", Verdict::fails)};
  const std::string text = openmetrics_of(one);
  EXPECT_TRUE(mentions(text, "expectation=\"h2d\"} 0.058\n"));
  EXPECT_TRUE(mentions(text, "expectation=\"h2d (2)\"} -0.2\n"));
}

TEST(CheckOpenMetrics, HasEachSeriesOnceWhateverAFileSays) {
  std::vector<Checked> twice(2, checked());
  for (Checked& one : twice) {
    one.rows.push_back(row("h2d", Verdict::holds));
    one.rows.push_back(row("\x01", Verdict::holds));
    one.rows.push_back(row("\x02", Verdict::holds));
    one.started_at = "yesterday";
  }
  std::string text;
  ASSERT_NO_THROW(text = to_check_openmetrics(twice));
  EXPECT_FALSE(contains(text, "timestamp"));
}

}  // namespace
}  // namespace xferbench::junit
