// explain(): findings and predicted times of programs with one known fault each.
#include "explain/explain.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/units.hpp"
#include "support/made_recording.hpp"
#include "unit/explained.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;

ProcessExplanation explained(const Write& write, const std::vector<double>& bare = {}) {
  return explain(in_range(write), MadeRecording::costs(), bare, std::nullopt, {.range = "steps"});
}

double seconds_of(const Write& write) { return explained(write).stretch.seconds; }

bool finds(const ProcessExplanation& told, FindingKind kind) { return find(told, kind) != nullptr; }

/// Predicted seconds with all findings fixed.
double best(const ProcessExplanation& told) {
  return told.findings.empty() ? told.stretch.seconds : *told.findings.back().seconds_after_all;
}

/// Explains the slow program: the first finding must be kinds[0], and the time predicted with all `kinds` fixed must be
/// within 5 % of the fixed program's time.
void expect_mended(const Write& slow, const Write& mended, const std::vector<FindingKind>& kinds) {
  const ProcessExplanation told = explained(in_range(slow), kinds);
  EXPECT_EQ(told.withheld, "");
  EXPECT_NEAR(*told.stretch.replayed, told.stretch.seconds, 0.005 * told.stretch.seconds);
  ASSERT_FALSE(told.findings.empty());
  EXPECT_EQ(to_text(told.findings.front().kind), to_text(kinds.front()));
  const double truth = seconds_of(mended);
  EXPECT_NEAR(*told.seconds_mended, truth, 0.05 * truth) << "of " << told.stretch.seconds;
  const ProcessExplanation after = explained(mended);
  for (const FindingKind kind : kinds) EXPECT_FALSE(finds(after, kind)) << to_text(kind);
}

// --- Programs with one fault, and without it; the same faults are in tests/sim/sim_programs.cpp ---

Write torch_loop(bool pinned, bool item) {
  return [=](MadeRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::legacy);
    for (int step = 0; step < 64; ++step) {
      m.work(20e-6);
      m.copy(CopyKind::h2d, pinned ? Memory::pinned : Memory::pageable, 4 * MiB, s);
      if (!pinned) m.wait(s);
      for (int layer = 0; layer < 4; ++layer) {
        m.work(10e-6);
        m.kernel("gemm", 20e-6, s);
      }
      if (item || step == 63) {
        m.copy(CopyKind::d2h, Memory::pageable, 4, s);
        m.wait(s);
      }
    }
  };
}

TEST(Explain, NamesPageableCopiesAndWaitsForResults) {
  const ProcessExplanation told = explained(torch_loop(false, true));
  EXPECT_TRUE(finds(told, FindingKind::pageable));
  EXPECT_TRUE(finds(told, FindingKind::result_wait));
  EXPECT_TRUE(finds(told, FindingKind::needless_wait));
  expect_mended(torch_loop(false, true), torch_loop(true, false),
                {FindingKind::pageable, FindingKind::result_wait, FindingKind::needless_wait});
}

Write steps_that_wait(bool each) {
  return [=](MadeRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int step = 0; step < 400; ++step) {
      m.work(15e-6);
      m.kernel("step", 30e-6, s);
      if (each || step == 399) m.wait(s);
    }
  };
}

Write serial(int steps) {
  return [=](MadeRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int step = 0; step < steps; ++step) {
      m.copy(CopyKind::h2d, Memory::pinned, 8 * MiB, s);
      m.kernel("work", 150e-6, s);
      m.copy(CopyKind::d2h, Memory::pinned, 8 * MiB, s);
    }
    m.wait(s);
  };
}

TEST(Explain, SplitsAStepThatIsAlone) {
  const ProcessExplanation told = explained([](MadeRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    m.copy(CopyKind::h2d, Memory::pinned, 256 * MiB, s);
    m.kernel("work", 5e-3, s);
    m.copy(CopyKind::d2h, Memory::pinned, 256 * MiB, s);
    m.wait(s);
  });
  ASSERT_TRUE(finds(told, FindingKind::no_overlap));
  EXPECT_GT(best(told), 5.37e-3);  // the time of one direction
  EXPECT_LT(best(told), 6.5e-3);
}

// --- Properties of all explanations -----

TEST(Explain, SharesAddUpToTheStretch) {
  for (const Write& write : {torch_loop(false, true), serial(40), steps_that_wait(true)}) {
    const ProcessExplanation told = explained(write, {0.9 * seconds_of(write)});
    EXPECT_NEAR(told.shares.total(), told.stretch.seconds, 1e-9);
    EXPECT_GT(told.shares.watching, 0);
    EXPECT_LE(told.shares.watching, 0.1 * told.stretch.seconds + 1e-9);
  }
}

TEST(Explain, SharesAddUpToTheTimeWithoutWatchingWhereThatWasLonger) {
  const Write write = steps_that_wait(true);
  const double bare = 1.15 * seconds_of(write);
  const ProcessExplanation told = explained(write, {bare});
  ASSERT_EQ(told.withheld, "");
  EXPECT_NEAR(told.shares.total(), bare, 1e-9);
  EXPECT_EQ(told.shares.watching, 0);
}

TEST(Explain, GainsAreToldOfTheTimeWithoutWatching) {
  const Write write = steps_that_wait(true);
  const double watched = seconds_of(write);
  const ProcessExplanation told = explained(write, {0.98 * watched});
  ASSERT_FALSE(told.findings.empty());
  const double unscaled = *explained(write).findings.front().seconds_after;
  EXPECT_NEAR(*told.findings.front().seconds_after, unscaled, 0.03 * unscaled);
  EXPECT_DOUBLE_EQ(told.stretch.reference(), 0.98 * watched);
}

TEST(Explain, FindingsBelowTheNoiseAreLeftOut) {
  const Write write = steps_that_wait(true);
  const double seconds = seconds_of(write);
  const ProcessExplanation told = explained(write, {0.5 * seconds, seconds, 3 * seconds});
  EXPECT_TRUE(told.findings.empty());
  EXPECT_GT(told.small_findings, 0U);
}

TEST(Explain, ARangeThatIsNotThereIsRefused) {
  EXPECT_THROW(explain(in_range(steps_that_wait(true)), MadeRecording::costs(), {}, std::nullopt, {.range = "stairs"}),
               InputError);
}

TEST(Explain, WholeProgramsHaveTheirStartAndEnd) {
  const ProcessExplanation told =
      explain(in_range(steps_that_wait(true)), MadeRecording::costs(), {}, std::nullopt, {});
  EXPECT_NEAR(told.stretch.seconds, seconds_of(steps_that_wait(true)) + 6e-3, 1e-6);
  EXPECT_GT(told.shares.program, 6e-3);
}

TEST(Explain, ThreadsThatTakeTurnsFollowEachOther) {
  const auto loop = [](bool wait) {
    return [wait](MadeRecording& m) {
      const std::uint32_t s = m.stream(StreamFlag::non_blocking);
      for (int step = 0; step < 50; ++step) {
        for (const std::uint32_t thread : {1U, 2U}) {
          m.switch_thread(thread);
          for (int i = 0; i < 8; ++i) {
            m.work(5e-6);
            m.kernel("layer", 12e-6, s);
            if (wait || (step == 49 && i == 7)) m.wait(s);
          }
        }
      }
      m.switch_thread(1);
      m.work(1e-6);
      m.wait(s);
    };
  };
  const ProcessExplanation told = explained(loop(true));
  const double truth = seconds_of(loop(false));
  EXPECT_EQ(told.withheld, "");
  EXPECT_NEAR(best(told), truth, 0.1 * truth) << "of " << told.stretch.seconds;
}

TEST(Explain, WithoutKnownTimesOfCopiesThoseFindingsAreLeftOut) {
  const ProcessExplanation told =
      explain(in_range(torch_loop(false, true)), Costs{}, {}, std::nullopt, {.range = "steps"});
  EXPECT_FALSE(finds(told, FindingKind::pageable));
  EXPECT_TRUE(finds(told, FindingKind::result_wait));
  EXPECT_FALSE(told.traffic.front().reachable);
}

}  // namespace
}  // namespace xferbench::explain
