// OpenMetrics text of a run: one sample per headline.

#include "report/run/run_report.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench::run_metrics {
namespace {

using test::contains;
using test::copy_descriptor;
using test::mentions;

Result copied(const std::string& dir, double median) {
  Case c("copy");
  c.set(test::copy_axes()[0], dir);
  Result result(c);
  Measurement m;
  m.name = "copy";
  m.samples = {median};
  m.median = median;
  result.measurements.push_back(m);
  result.add("bandwidth", 52, "GB/s");
  return result;
}

Report report() {
  Report report;
  report.complete = true;
  report.started_at = "2026-11-21T10:00:00Z";
  report.tool = {"0.1.0", "abc", "GNU 12", "13.0", "Release"};
  report.environment.backend = "cuda";
  report.environment.gpu.name = "NVIDIA H200";
  report.environment.driver = "580.1";
  report.results = {copied("h2d", 0.005), copied("d2h", 0.004)};
  return report;
}

std::string text_of(const Report& report) {
  const ScenarioDescriptor* const copy = &copy_descriptor();
  return to_openmetrics(report, Descriptors(&copy, 1));
}

TEST(RunOpenMetrics, HasTheHeadlineOfEachCaseAndWhatTheRunWas) {
  EXPECT_EQ(text_of(report()),
            R"(# TYPE xferbench_run_info gauge
# HELP xferbench_run_info The run that measured the numbers.
xferbench_run_info{version="0.1.0",gpu="NVIDIA H200",driver="580.1",simulated="no",verified="yes",injected_fault=""} 1
# TYPE xferbench_run_started_timestamp_seconds gauge
# UNIT xferbench_run_started_timestamp_seconds seconds
# HELP xferbench_run_started_timestamp_seconds Start of the run.
xferbench_run_started_timestamp_seconds 1795255200
# TYPE xferbench_run_complete gauge
# HELP xferbench_run_complete 1 if the run is complete, 0 if it was stopped.
xferbench_run_complete 1
# TYPE xferbench_run_cases gauge
# HELP xferbench_run_cases Number of cases with this status.
xferbench_run_cases{status="ok"} 2
xferbench_run_cases{status="failed"} 0
xferbench_run_cases{status="skipped"} 0
# TYPE xferbench_copy_copy_seconds gauge
# UNIT xferbench_copy_copy_seconds seconds
# HELP xferbench_copy_copy_seconds Median of a case of copy: a copy
xferbench_copy_copy_seconds{case="copy/dir=h2d"} 0.005
xferbench_copy_copy_seconds{case="copy/dir=d2h"} 0.004
# EOF
)");
}

TEST(RunOpenMetrics, LeavesOutWhatIsNoNumberOfThisRun) {
  Report r = report();
  r.results.push_back(r.results[0]);  // the same case, failed
  r.results[1].status = Status::failed;
  r.started_at = "yesterday";
  const std::string text = text_of(r);
  EXPECT_FALSE(contains(text, "dir=d2h"));
  EXPECT_FALSE(contains(text, "timestamp"));
  EXPECT_TRUE(mentions(text, "xferbench_run_cases{status=\"failed\"} 1\n"));
}

TEST(RunOpenMetrics, TellsRanksOfAFleetApart) {
  Report r = report();
  r.results = {copied("h2d", 0.005), copied("h2d", 0.006)};
  for (int rank = 0; rank < 2; ++rank) {
    r.results[static_cast<std::size_t>(rank)].in_fleet = InFleet{.rank = rank, .pace = RankConcurrency::one};
  }
  const std::string text = text_of(r);
  EXPECT_TRUE(mentions(text, "{case=\"copy/dir=h2d\",rank=\"0\",pace=\"one\",round=\"1\"} 0.005\n"));
  EXPECT_TRUE(mentions(text, "{case=\"copy/dir=h2d\",rank=\"1\",pace=\"one\",round=\"1\"} 0.006\n"));
}

}  // namespace
}  // namespace xferbench::run_metrics
