#include "report/run/csv.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>
#include <sstream>
#include <string>

#include "scenarios/scenarios.hpp"
#include "unit/report_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench {
namespace {

using test::copy_case;

constexpr const char* kHeader =
    "scenario,key,status,reason,kind,name,unit,value,ci95_low,ci95_high,n,min,max,p90,p99,clock,stop,flags,warnings,"
    "backend,profile,gpu,driver,started_at,dir,host,size\n";

std::string csv(const Report& report) {
  const std::array shown{&test::copy_descriptor()};
  return to_csv(report, shown);
}

Report report_of_one() {
  Report report = test::real_report();
  Result r(copy_case("h2d", "pinned", 1 << 20));
  r.measurements = {test::measured("copy", Clock::event_gated, {0.0019, 0.1, 0.0022}, 0.1, {0.00198, 0.00202})};
  r.measurements[0].flags = {"outliers", "drift"};
  r.measurements[0].p90 = 1. / 3;
  r.add("bandwidth", 55.5, "GB/s");
  report.results = {r};
  return report;
}

TEST(Csv, HasARowForEachMeasurementAndEachMetric) {
  EXPECT_EQ(csv(report_of_one()),
            std::string(kHeader) +
                "copy,copy/dir=h2d/host=pinned/size=1MiB,ok,,measurement,copy,s,0.1,0.00198,0.00202,3,0.0019,0.0022,"
                "0.3333333333333333,,event-gated,ci,outliers drift,,cuda,,NVIDIA H200,580.1,2026-11-21T10:00:00Z,"
                "h2d,pinned,1048576\n"
                "copy,copy/dir=h2d/host=pinned/size=1MiB,ok,,metric,bandwidth,GB/s,55.5,,,,,,,,,,,,cuda,,NVIDIA H200,"
                "580.1,2026-11-21T10:00:00Z,h2d,pinned,1048576\n");
}

TEST(Csv, OfACaseWithoutNumbersHasOneRowWithTheReason) {
  Report report = test::simulated_report();
  Result r(copy_case("d2d", "", 4096));
  r.status = Status::skipped;
  r.reason = "no \"peer\", no copy";
  report.results = {r};
  EXPECT_EQ(csv(report),
            std::string(kHeader) +
                "copy,copy/dir=d2d/size=4KiB,skipped,\"no \"\"peer\"\", no copy\",,,,,,,,,,,,,,,,simulated,"
                "h200,NVIDIA H200,,2026-11-21T10:00:00Z,d2d,,4096\n");
}

TEST(Csv, EveryRowHasAsManyCellsAsTheHeader) {
  std::istringstream text(csv(report_of_one()));
  std::set<long> commas;
  for (std::string line; std::getline(text, line);) commas.insert(std::ranges::count(line, ','));
  EXPECT_EQ(commas.size(), 1U);
}

TEST(Csv, TextsThatLookLikeFormulasAreNone) {
  Report report = report_of_one();
  report.environment.gpu.name = "=HYPERLINK(\"x\",1)";
  report.environment.driver = "@SUM(1)";
  report.results[0].metrics[0].value = -1.5;
  const std::string text = csv(report);
  EXPECT_TRUE(test::mentions(text, ",\"'=HYPERLINK(\"\"x\"\",1)\",'@SUM(1),"));
  EXPECT_TRUE(test::mentions(text, ",bandwidth,GB/s,-1.5,"));
}

TEST(Csv, LineEndsInTextsAreQuoted) {
  Report report = report_of_one();
  report.results[0].warnings = {"one\ntwo", "three"};
  EXPECT_TRUE(test::mentions(csv(report), ",\"one\ntwo; three\",cuda,"));
}

TEST(Csv, NumbersThatAreNoneAreEmpty) {
  Report report = report_of_one();
  report.results[0].metrics[0].value = std::numeric_limits<double>::quiet_NaN();
  report.results[0].measurements[0].samples.clear();
  const std::string text = csv(report);
  EXPECT_TRUE(test::mentions(text, "bandwidth,GB/s,,"));
  EXPECT_TRUE(test::mentions(text, "measurement,copy,s,,0.00198,0.00202,0,,,"));
}

TEST(Csv, ColumnsDependOnTheScenariosAlone) {
  Report one = report_of_one();
  Report other = report_of_one();
  other.results = {Result(copy_case("d2d", "", 4096))};
  EXPECT_EQ(csv(one).substr(0, csv(one).find('\n')), csv(other).substr(0, csv(other).find('\n')));
}

TEST(Csv, NoAxisIsCalledLikeAColumnThatIsAlwaysThere) {
  Report none = test::real_report();
  const std::string header = "," + to_csv(none, {});
  for (const Scenario* scenario : scenarios()) {
    for (const Axis& axis : scenario->descriptor().axes) {
      EXPECT_EQ(header.find("," + axis.name + ","), std::string::npos) << axis.name;
    }
  }
}

}  // namespace
}  // namespace xferbench
