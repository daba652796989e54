// The sentences above a run's tables, which state the best case per value of an axis.
#include "words/answer.hpp"

#include <gtest/gtest.h>

#include "scenarios/scenarios.hpp"
#include "unit/report_fixture.hpp"

namespace xferbench {
namespace {

ScenarioDescriptor answering() {
  ScenarioDescriptor scenario = test::copy_descriptor();
  scenario.answer = {
      .best = "bandwidth", .text = "{bandwidth}, {of_limit} of the limit; {unknown} times", .each = {"dir"}};
  return scenario;
}

Result rated(const std::string& dir, const std::string& host, std::uint64_t size, double rate, double share) {
  Result r(test::copy_case(dir, host, size));
  r.measurements = {test::measured("copy", Clock::event_gated, {1e-3, 1e-3}, 1e-3, {0.99e-3, 1.01e-3})};
  r.add("bandwidth", rate, "GB/s");
  if (share > 0) r.add("of_limit", share, "1");
  return r;
}

std::vector<std::string> told(const std::vector<Result>& results) {
  std::vector<const Result*> pointers;
  for (const Result& r : results) pointers.push_back(&r);
  return answers_of(answering(), pointers);
}

using Lines = std::vector<std::string>;

TEST(Answer, IsOfTheBestCaseOfTheLargestSizeOfEach) {
  EXPECT_EQ(told({rated("h2d", "pinned", 1 << 20, 99, 0.99), rated("h2d", "pinned", 1 << 30, 55, 0.95),
                  rated("h2d", "pageable", 1 << 30, 9, 0.15), rated("d2h", "pinned", 1 << 30, 54, 0.94)}),
            (Lines{"h2d: 55.00 GB/s ± 1.0 %, 95.0 % of the limit (size 1 GiB; the best of 2 cases: host pinned)",
                   "d2h: 54.00 GB/s ± 1.0 %, 94.0 % of the limit"}));
}

TEST(Answer, LeavesOutAClauseOfWhichANumberIsNotKnown) {
  EXPECT_EQ(told({rated("h2d", "pinned", 1 << 20, 55, 0)}), Lines{});
  ScenarioDescriptor scenario = answering();
  scenario.answer.text = "{bandwidth}; {of_limit} of the limit";
  const Result one = rated("h2d", "pinned", 1 << 20, 55, 0);
  const Result* const pointer = &one;
  EXPECT_EQ(answers_of(scenario, {&pointer, 1}), Lines{"h2d: 55.00 GB/s ± 1.0 %"});
}

TEST(Answer, SaysNothingOfWhatWasNotMeasured) {
  Result failed = rated("h2d", "pinned", 1 << 20, 55, 0.9);
  failed.status = Status::failed;
  EXPECT_EQ(told({failed}), Lines{});
  EXPECT_EQ(told({}), Lines{});
}

TEST(Answer, OfEveryScenarioNamesWhatIsDeclared) {
  for (const Scenario* scenario : scenarios()) {
    const ScenarioDescriptor& d = scenario->descriptor();
    const auto declares = [&d](const std::string& name) {
      return std::ranges::find(d.metrics, name, &MetricDeclaration::name) != d.metrics.end();
    };
    EXPECT_TRUE(d.needs_ranks || declares(d.answer.best)) << d.name;
    for (std::size_t at = d.answer.text.find('{'); at != std::string::npos; at = d.answer.text.find('{', at + 1)) {
      const std::string name = d.answer.text.substr(at + 1, d.answer.text.find('}', at) - at - 1);
      const Axis* slow = d.axis(d.answer.slow_axis);
      const bool is_factor = name == "factor" && slow != nullptr &&
                             std::ranges::find(slow->choices, d.answer.slow_value) != slow->choices.end();
      EXPECT_TRUE(is_factor || declares(name)) << d.name << ": " << name;
    }
    for (const std::string& axis : d.answer.each) {
      EXPECT_NE(std::ranges::find(d.axes, axis, &Axis::name), d.axes.end()) << d.name << ": " << axis;
    }
  }
}

}  // namespace
}  // namespace xferbench
