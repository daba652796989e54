// Which numbers of a fleet's results are compared between ranks, and shown in tables.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "fleet/judgement.hpp"
#include "support/synthetic_fleet.hpp"

namespace xferbench::fleet {
namespace {

using test::made_case;
using Value = fleet::Test::Value;  // inside a test case, Test alone is GoogleTest's class

/// A result of case "h2d"; each test declares the scenario's metrics.
Result result_of_rank(int rank, double seconds, double rate) {
  Result result(made_case("h2d"));
  result.in_fleet = InFleet{.rank = rank};
  Measurement& copy = result.measurements.emplace_back();
  copy.name = "copy";
  copy.samples = {seconds};
  copy.median = seconds;
  result.add("bandwidth", rate, "GB/s");
  return result;
}

std::vector<MetricDeclaration> copy_metrics(const std::string& heading_of_rate) {
  return {measured("copy", "").as_headline().column("time"),
          derived("bandwidth", "GB/s", Better::higher, "").column(heading_of_rate)};
}

TEST(FleetTests, AreOfTheRateThatTheTableShows) {
  Report report;
  report.metrics_declared["memcpy"] = copy_metrics("GB/s");
  report.results = {result_of_rank(0, 2e-3, 50)};
  const auto tests = tests_of(report, 1);
  ASSERT_EQ(tests.size(), 1U);
  EXPECT_EQ(tests[0].metric, "bandwidth");
  EXPECT_EQ(tests[0].unit, "GB/s");
  EXPECT_EQ(tests[0].better, Better::higher);
  EXPECT_EQ(tests[0].values, (std::vector<Value>{{.rank = 0, .value = 50}}));
  EXPECT_EQ(tests[0].name(), made_case("h2d").key() + " pace=all");
}

TEST(FleetTests, AreOfTheHeadlineWhereNoRateIsShown) {
  Report report;
  report.metrics_declared["memcpy"] = copy_metrics("");
  report.results = {result_of_rank(0, 2e-3, 50)};
  auto tests = tests_of(report, 1);
  ASSERT_EQ(tests.size(), 1U);
  EXPECT_EQ(tests[0].metric, "copy");
  EXPECT_EQ(tests[0].better, Better::lower);
  EXPECT_EQ(tests[0].values.front().value, 2e-3);

  report.metrics_declared["memcpy"] = {measured("copy", "").as_headline().in("things", Better::neither)};
  EXPECT_EQ(tests_of(report, 1).at(0).better, Better::neither);
  report.metrics_declared.clear();
  EXPECT_EQ(tests_of(report, 1).at(0).better, Better::lower) << "as its unit says";
}

TEST(FleetTests, AreOfOneRoundCaseAndPaceAndAscendByRank) {
  Report report;
  report.results = {result_of_rank(2, 3e-3, 0), result_of_rank(0, 1e-3, 0), result_of_rank(1, 2e-3, 0),
                    result_of_rank(1, 9e-3, 0), result_of_rank(1, 7e-3, 0), result_of_rank(3, 1e-3, 0)};
  report.results[3].in_fleet->pace = RankConcurrency::one;
  report.results[4].in_fleet->round = 2;
  report.results[5].status = Status::failed;
  const auto first = tests_of(report, 1);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].values, (std::vector<Value>{{0, 1e-3, 0, {}}, {1, 2e-3, 0, {}}, {2, 3e-3, 0, {}}}));
  EXPECT_EQ(first[1].pace, RankConcurrency::one);
  EXPECT_EQ(first[1].name(), made_case("h2d").key() + " pace=one");
  const auto second = tests_of(report, 2);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].values, (std::vector<Value>{{.rank = 1, .value = 7e-3}}));
}

TEST(FleetTests, HaveNoNumbersThatAreNone) {
  Report report;
  report.metrics_declared["memcpy"] = copy_metrics("GB/s");
  report.results = {result_of_rank(0, 1e-3, std::numeric_limits<double>::quiet_NaN()), result_of_rank(1, 1e-3, -1),
                    result_of_rank(2, 1e-3, 0)};
  EXPECT_EQ(tests_of(report, 1).at(0).values, (std::vector<Value>{{.rank = 2}})) << "a rate of 0 is one";
  report.metrics_declared["memcpy"] = copy_metrics("");
  report.results = {result_of_rank(0, 0, 1)};
  EXPECT_TRUE(tests_of(report, 1).empty()) << "a time of 0 is none";
}

TEST(FleetTests, KnowHowSureTheClocksWereOfAWholePass) {
  Report report;
  report.results = {result_of_rank(0, 1e-3, 0), result_of_rank(1, 1e-3, 0)};
  for (Result& result : report.results) result.in_fleet->clock_uncertainty = 1e-5;
  report.results[1].measurements[0].batch = 10;
  const auto tests = tests_of(report, 1);
  EXPECT_DOUBLE_EQ(tests.at(0).values.at(0).clock_share, 0.01);
  EXPECT_DOUBLE_EQ(tests.at(0).values.at(1).clock_share, 0.001);
}

TEST(FleetTests, KnowTheRanksOfATransfer) {
  Report report;
  report.results = {result_of_rank(4, 1e-3, 0), result_of_rank(5, 1e-3, 0)};
  report.results[0].labels = {{"from", "4"}, {"to", "12"}};
  report.results[1].labels = {{"from", "5th"}, {"to", "6"}};
  const auto tests = tests_of(report, 1);
  EXPECT_EQ(tests.at(0).values.at(0).pair, (std::pair{4, 12}));
  EXPECT_EQ(tests.at(0).values.at(1).pair, std::nullopt) << "that is no number";
}

TEST(FleetSummary, HasTheMiddleTheEndsAndTheSumOfRates) {
  std::vector<fleet::Test> tests(3);
  tests[0] = {.key = "a", .metric = "bandwidth", .unit = "GB/s", .values = {{0, 50}, {1, 40}, {2, 60}}};
  tests[1] = {.key = "b", .metric = "copy", .unit = "s", .better = Better::lower, .values = {{0, 2e-3}, {1, 1e-3}}};
  const auto all = summarise(tests);
  ASSERT_EQ(all.size(), 2U) << "of a test without values there is nothing to say";
  EXPECT_EQ(all[0].test, &tests[0]);
  EXPECT_EQ(all[0].median, 50);
  EXPECT_EQ(all[0].lowest.rank, 1);
  EXPECT_EQ(all[0].highest.rank, 2);
  EXPECT_DOUBLE_EQ(all[0].spread, 0.4);
  EXPECT_EQ(all[0].together, 150);
  EXPECT_DOUBLE_EQ(all[1].median, 1.5e-3);
  EXPECT_EQ(all[1].together, std::nullopt) << "times add up to nothing";
}

}  // namespace
}  // namespace xferbench::fleet
