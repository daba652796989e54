// What is explained of programs on the simulated machine, whose mended versions it runs, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "explain/explain.hpp"
#include "sim/sim_programs.hpp"

namespace xferbench::test {
namespace {

using explain::ProcessExplanation;

ProcessExplanation explained(const Recording& recording, const std::vector<explain::FindingKind>& mended = {}) {
  return explain::explain(recording, simulated_costs(), {}, std::nullopt, {.range = "steps", .mended = mended});
}

class SimulatedPrograms : public testing::TestWithParam<SimPrograms> {};

TEST_P(SimulatedPrograms, TakeAsLongRecordedAsNot) {
  for (const SimProgram& program : {GetParam().slow, GetParam().mended}) {
    const RecordedProgram watched = recorded(program);
    EXPECT_EQ(watched.seconds, unrecorded_seconds(program));
    EXPECT_NEAR(explained(watched.recording).stretch.seconds, watched.seconds, 2e-9);
  }
}

TEST_P(SimulatedPrograms, AreReplayedAsTheyWere) {
  for (const SimProgram& program : {GetParam().slow, GetParam().mended}) {
    const ProcessExplanation told = explained(recorded(program).recording);
    EXPECT_EQ(told.withheld, "");
    ASSERT_TRUE(told.stretch.replayed);
    EXPECT_NEAR(*told.stretch.replayed, told.stretch.seconds, 0.01 * told.stretch.seconds);
  }
}

TEST_P(SimulatedPrograms, ArePredictedMended) {
  const RecordedProgram slow = recorded(GetParam().slow);
  const double truth = unrecorded_seconds(GetParam().mended);
  ASSERT_LT(truth, 0.95 * slow.seconds) << "the fault costs nothing";
  const ProcessExplanation told = explained(slow.recording, GetParam().faults);
  ASSERT_FALSE(told.findings.empty());
  EXPECT_EQ(to_text(told.findings.front().kind), to_text(GetParam().faults.front()));
  ASSERT_TRUE(told.seconds_mended);
  EXPECT_NEAR(*told.seconds_mended, truth, 0.1 * truth) << "of " << slow.seconds;
}

TEST_P(SimulatedPrograms, HaveNoSuchFaultOnceMended) {
  const ProcessExplanation told = explained(recorded(GetParam().mended).recording);
  for (const explain::Finding& finding : told.findings) {
    EXPECT_EQ(std::ranges::count(GetParam().faults, finding.kind), 0) << to_text(finding.kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, SimulatedPrograms, testing::ValuesIn(sim_programs()), [](const auto& instance) {
  std::string name = instance.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace xferbench::test
