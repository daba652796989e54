// `explain` on programs of the simulated machine: predictions are compared with runs of the fixed programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "explain/explain.hpp"
#include "sim/sim_programs.hpp"

namespace xferbench::test {
namespace {

using explain::ProcessExplanation;

ProcessExplanation explained(const Recording& recording, const std::vector<explain::FindingKind>& fixed = {}) {
  return explain::explain(recording, simulated_costs(), {}, std::nullopt, {.range = "steps", .fixed = fixed});
}

class SimulatedPrograms : public testing::TestWithParam<SimPrograms> {};

TEST_P(SimulatedPrograms, TakeAsLongRecordedAsNot) {
  for (const SimProgram& program : {GetParam().slow, GetParam().fixed}) {
    const RecordedProgram profiled = recorded(program);
    EXPECT_EQ(profiled.seconds, unrecorded_seconds(program));
    EXPECT_NEAR(explained(profiled.recording).window_summary.seconds, profiled.seconds, 2e-9);
  }
}

TEST_P(SimulatedPrograms, AreReplayedAsTheyWere) {
  for (const SimProgram& program : {GetParam().slow, GetParam().fixed}) {
    const ProcessExplanation told = explained(recorded(program).recording);
    EXPECT_EQ(told.gains_unavailable, "");
    ASSERT_TRUE(told.window_summary.replayed);
    EXPECT_NEAR(*told.window_summary.replayed, told.window_summary.seconds, 0.01 * told.window_summary.seconds);
  }
}

TEST_P(SimulatedPrograms, ArePredictedMended) {
  const RecordedProgram slow = recorded(GetParam().slow);
  const double truth = unrecorded_seconds(GetParam().fixed);
  ASSERT_LT(truth, 0.95 * slow.seconds) << "the fault costs nothing";
  const ProcessExplanation told = explained(slow.recording, GetParam().faults);
  ASSERT_FALSE(told.findings.empty());
  EXPECT_EQ(to_text(told.findings.front().kind), to_text(GetParam().faults.front()));
  ASSERT_TRUE(told.seconds_fixed);
  EXPECT_NEAR(*told.seconds_fixed / truth - 1, GetParam().off, 0.005) << "of " << slow.seconds;
}

TEST_P(SimulatedPrograms, HaveNoSuchFaultOnceMended) {
  const ProcessExplanation told = explained(recorded(GetParam().fixed).recording);
  for (const explain::Finding& finding : told.findings) {
    EXPECT_EQ(std::ranges::count(GetParam().faults, finding.kind), 0) << to_text(finding.kind);
  }
}

// --- Random programs ------------------------------------------------------------------------------------------------

/// Random operations on streams of every kind.
class RandomProgram {
 public:
  RandomProgram(ProgramMachine& machine, std::uint64_t seed) : m_(machine), random_(seed) {
    graph_ = streams_[0].capture([this] {
      for (int i = 0; i < 5; ++i) launch(streams_[0], 3e-6);
    });
  }

  void run() {
    m_.steps([this] {
      for (int i = 0; i < 300; ++i) act();
      m_.device().synchronize();
    });
  }

 private:
  static constexpr std::size_t kLargest = 8 * MiB;

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }

  Copy copy() {
    const HostView& host = below(4) == 0 ? pageable_ : pinned_;
    const std::size_t bytes = std::size_t{8} << below(21);
    return below(2) == 0 ? copy_in(gpu_, host, 0, bytes) : copy_out(host, gpu_, 0, bytes);
  }

  void act() {
    const Stream& stream = streams_[below(streams_.size())];
    switch (below(12)) {
      case 0: return m_.work(1e-6 * static_cast<double>(below(200)));
      case 1: return m_.device().copy_blocking(copy());
      case 2: return stream.record(event_);
      case 3: return stream.wait(event_);
      case 4: return event_.synchronize();
      case 5: return stream.synchronize();
      case 6: return streams_[below(2)].replay(graph_);
      case 7:
      case 8: return stream.copy(copy());
      default: return launch(stream, 1e-6 * static_cast<double>(1 + below(100)));
    }
  }

  ProgramMachine& m_;
  std::mt19937_64 random_;
  HostView pinned_ = m_.host(HostMemory::pinned, kLargest);
  HostView pageable_ = m_.host(HostMemory::pageable, kLargest);
  DeviceView gpu_ = m_.gpu(kLargest);
  std::array<Stream, 4> streams_{m_.stream(), m_.stream(), m_.stream(StreamKind::blocking),
                                 m_.stream(StreamKind::legacy_default)};
  Event event_ = m_.device().make_event(EventKind::ordering);
  Graph graph_;
};

/// The replay is only close here. Kernels of several streams are often ready at once; the replay does not know which
/// goes first, nor that a launch occupies the simulated multiprocessors for some time.
TEST(SimulatedProgramsAtRandom, AreReplayedNearlyAsTheyWere) {
  constexpr std::uint64_t kPrograms = 40;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
    const SimProgram program = [seed](ProgramMachine& m) { RandomProgram(m, seed).run(); };
    const ProcessExplanation told = explained(recorded(program).recording);
    ASSERT_TRUE(told.window_summary.replayed);
    const double error = *told.window_summary.replayed / told.window_summary.seconds - 1;
    EXPECT_NEAR(error, 0, 0.05) << "seed " << seed;
    sum += std::abs(error);
  }
  EXPECT_LT(sum / kPrograms, 0.02);
}

INSTANTIATE_TEST_SUITE_P(Each, SimulatedPrograms, testing::ValuesIn(sim_programs()), [](const auto& instance) {
  std::string name = instance.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace xferbench::test
