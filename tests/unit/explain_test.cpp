// explain(): findings and predicted times of programs with one known fault each.

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"
#include "unit/explain_fixture.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;

ProcessExplanation analysed(const Write& write, const std::vector<double>& baseline = {}) {
  return explain(in_range(write), SyntheticRecording::costs(), baseline, std::nullopt, {.range = "steps"});
}

double seconds_of(const Write& write) { return analysed(write).window_summary.seconds; }

bool finds(const ProcessExplanation& analysis, FindingKind kind) { return find(analysis, kind) != nullptr; }

/// Predicted seconds with all findings fixed.
double best(const ProcessExplanation& analysis) {
  return analysis.findings.empty() ? analysis.window_summary.seconds : *analysis.findings.back().seconds_after_all;
}

/// Explains the slow program: the first finding must be kinds[0], and the time predicted with all `kinds` fixed must be
/// within 5 % of the fixed program's time.
void expect_mended(const Write& slow, const Write& fixed, const std::vector<FindingKind>& kinds) {
  const ProcessExplanation analysis = explained(in_range(slow), kinds);
  EXPECT_EQ(analysis.gains_unavailable, "");
  EXPECT_NEAR(*analysis.window_summary.replayed, analysis.window_summary.seconds,
              0.005 * analysis.window_summary.seconds);
  ASSERT_FALSE(analysis.findings.empty());
  EXPECT_EQ(to_text(analysis.findings.front().kind), to_text(kinds.front()));
  const double truth = seconds_of(fixed);
  EXPECT_NEAR(*analysis.seconds_fixed, truth, 0.05 * truth) << "of " << analysis.window_summary.seconds;
  const ProcessExplanation after = analysed(fixed);
  for (const FindingKind kind : kinds) EXPECT_FALSE(finds(after, kind)) << to_text(kind);
}

// --- Programs with one fault, and without it; the same faults are in tests/sim/sim_programs.cpp ---

Write torch_loop(bool pinned, bool item) {
  return [=](SyntheticRecording& m) {
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
  const ProcessExplanation analysis = analysed(torch_loop(false, true));
  EXPECT_TRUE(finds(analysis, FindingKind::pageable));
  EXPECT_TRUE(finds(analysis, FindingKind::result_wait));
  EXPECT_TRUE(finds(analysis, FindingKind::needless_wait));
  expect_mended(torch_loop(false, true), torch_loop(true, false),
                {FindingKind::pageable, FindingKind::result_wait, FindingKind::needless_wait});
}

Write steps_that_wait(bool each) {
  return [=](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int step = 0; step < 400; ++step) {
      m.work(15e-6);
      m.kernel("step", 30e-6, s);
      if (each || step == 399) m.wait(s);
    }
  };
}

Write serial(int steps) {
  return [=](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int step = 0; step < steps; ++step) {
      m.copy(CopyKind::h2d, Memory::pinned, 8 * MiB, s);
      m.kernel("work", 150e-6, s);
      m.copy(CopyKind::d2h, Memory::pinned, 8 * MiB, s);
    }
    m.wait(s);
  };
}

TEST(Explain, CountsAgreeWithVerbs) {
  const auto what = [](int copies) {
    const ProcessExplanation analysis = analysed([copies](SyntheticRecording& m) {
      const std::uint32_t s = m.stream(StreamFlag::non_blocking);
      for (int i = 0; i < copies; ++i) m.copy(CopyKind::h2d, Memory::pageable, 16 * MiB, s, false);
      m.wait(s);
    });
    const Finding* found = find(analysis, FindingKind::pageable);
    return found == nullptr ? "" : found->what;
  };
  EXPECT_TRUE(what(1).starts_with("1 copy of 16 MiB to the GPU reads from pageable memory")) << what(1);
  EXPECT_TRUE(what(1).ends_with("the host waits for it")) << what(1);
  EXPECT_TRUE(what(2).starts_with("2 copies of 16 MiB to the GPU read from pageable memory")) << what(2);
  EXPECT_EQ(verb(1, "reach") + verb(2, "reach"), "reachesreach");
}

TEST(Explain, SplitsAStepThatIsAlone) {
  const ProcessExplanation analysis = analysed([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    m.copy(CopyKind::h2d, Memory::pinned, 256 * MiB, s);
    m.kernel("work", 5e-3, s);
    m.copy(CopyKind::d2h, Memory::pinned, 256 * MiB, s);
    m.wait(s);
  });
  ASSERT_TRUE(finds(analysis, FindingKind::no_overlap));
  EXPECT_GT(best(analysis), 5.37e-3);  // the time of one direction
  EXPECT_LT(best(analysis), 6.5e-3);
}

// --- Properties of all explanations -----

TEST(Explain, SharesAddUpToTheStretch) {
  for (const Write& write : {torch_loop(false, true), serial(40), steps_that_wait(true)}) {
    const ProcessExplanation analysis = analysed(write, {0.9 * seconds_of(write)});
    EXPECT_NEAR(analysis.shares.total(), analysis.window_summary.seconds, 1e-9);
    EXPECT_GT(analysis.shares.profiling, 0);
    EXPECT_LE(analysis.shares.profiling, 0.1 * analysis.window_summary.seconds + 1e-9);
  }
}

TEST(Explain, SharesAddUpToTheTimeWithoutWatchingWhereThatWasLonger) {
  const Write write = steps_that_wait(true);
  const double baseline = 1.15 * seconds_of(write);
  const ProcessExplanation analysis = analysed(write, {baseline});
  ASSERT_EQ(analysis.gains_unavailable, "");
  EXPECT_NEAR(analysis.shares.total(), baseline, 1e-9);
  EXPECT_EQ(analysis.shares.profiling, 0);
}

TEST(Explain, GainsAreToldOfTheTimeWithoutWatching) {
  const Write write = steps_that_wait(true);
  const double profiled = seconds_of(write);
  const ProcessExplanation analysis = analysed(write, {0.98 * profiled});
  ASSERT_FALSE(analysis.findings.empty());
  const double unscaled = *analysed(write).findings.front().seconds_after;
  EXPECT_NEAR(*analysis.findings.front().seconds_after, unscaled, 0.03 * unscaled);
  EXPECT_DOUBLE_EQ(analysis.window_summary.reference(), 0.98 * profiled);
}

/// A baseline run that took 120 ms where the profiled one took 200: copies vary by a third, the host takes the rest.
TEST(Explain, ADifferenceBetweenRunsIsNotAllThatOfPageableCopies) {
  const ProcessExplanation analysis = analysed(
      [](SyntheticRecording& made) {
        for (int step = 0; step < 10; ++step) {
          made.work(10e-3);
          made.copy(CopyKind::h2d, Memory::pageable, 100'000'000, 7, false);
        }
      },
      {0.12});
  const Finding* pinned = find(analysis, FindingKind::pageable);
  ASSERT_NE(pinned, nullptr);
  EXPECT_NEAR(*pinned->seconds_after, 0.12 - 0.075, 0.007) << "pinned copies run while the host works";
}

TEST(Explain, FindingsBelowTheNoiseAreLeftOut) {
  const Write write = steps_that_wait(true);
  const double seconds = seconds_of(write);
  const ProcessExplanation analysis = analysed(write, {0.5 * seconds, seconds, 3 * seconds});
  EXPECT_TRUE(std::ranges::all_of(analysis.findings, [](const Finding& one) { return one.share >= 0.1; }));
  EXPECT_NEAR(analysed(write, {0.97 * seconds, seconds, 1.03 * seconds}).least_share, 0.03, 1e-9);
  EXPECT_DOUBLE_EQ(analysis.least_share, 0.1) << "an odd run does not hide larger gains";
  ASSERT_EQ(analysis.notes.size(), 1U);
  EXPECT_NE(analysis.notes.front().find("times after fixes are that uncertain, too (--runs 5)"), std::string::npos);
}

TEST(Explain, OfTwoBaselineRunsTheFasterOneCounts) {
  const Write write = steps_that_wait(true);
  const double seconds = seconds_of(write);
  const ProcessExplanation analysis = analysed(write, {1.1 * seconds, seconds});
  EXPECT_DOUBLE_EQ(analysis.window_summary.baseline.value(), seconds);
  EXPECT_TRUE(analysis.notes.empty()) << "they differ by less than a tenth from their middle";
}

TEST(Explain, ARangeThatHasNotEndedIsRefusedWithTheReason) {
  Recording r = in_range(steps_that_wait(true));
  const auto refusal = [&r]() -> std::string {
    try {
      explain(r, SyntheticRecording::costs(), {}, std::nullopt, {.range = "stairs"});
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  const auto says = [&](std::string_view text) { return refusal().find(text) != std::string::npos; };
  EXPECT_TRUE(says("there is no NVTX range 'stairs'; ranges in the recording: steps")) << refusal();
  r.end->reason = recording::EndReason::max_records;
  EXPECT_TRUE(says("ended before the recording stopped (--max-records)")) << refusal();
  r.end.reset();
  EXPECT_TRUE(says("ended before the process was killed, crashed or called _exit")) << refusal();
}

TEST(Explain, WholeProgramsHaveTheirStartAndEnd) {
  const ProcessExplanation analysis =
      explain(in_range(steps_that_wait(true)), SyntheticRecording::costs(), {}, std::nullopt, {});
  EXPECT_NEAR(analysis.window_summary.seconds, seconds_of(steps_that_wait(true)) + 6e-3, 1e-6);
  EXPECT_GT(analysis.shares.program, 6e-3);
}

TEST(Explain, ThreadsThatTakeTurnsFollowEachOther) {
  const auto loop = [](bool wait) {
    return [wait](SyntheticRecording& m) {
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
  const ProcessExplanation analysis = analysed(loop(true));
  const double truth = seconds_of(loop(false));
  EXPECT_EQ(analysis.gains_unavailable, "");
  EXPECT_NEAR(best(analysis), truth, 0.1 * truth) << "of " << analysis.window_summary.seconds;
}

/// Copies that take twice as long as this machine's alone.
ProcessExplanation explained_slow_copies(std::string_view call) {
  Recording recording = in_range([](SyntheticRecording& made) {
    for (int i = 0; i < 8; ++i) made.copy(CopyKind::h2d, Memory::pinned, 64 * MiB, 7);
    made.wait(7);
  });
  std::ranges::replace(recording.names, std::string("cudaMemcpyAsync"), std::string(call));
  Costs costs = SyntheticRecording::costs();
  costs.copy = [](CopyKind, Memory host, std::uint64_t bytes) {
    return std::optional(SyntheticRecording::copy_seconds(host, bytes) / 2);
  };
  return explain(recording, costs, {}, std::nullopt, {.range = "steps"});
}

TEST(Explain, CopiesSlowerThanThisMachinesNameARemedyForWhatTheyAre) {
  const ProcessExplanation plain = explained_slow_copies("cudaMemcpyAsync");
  const Finding* slow = find(plain, FindingKind::slow_copies);
  ASSERT_NE(slow, nullptr);
  EXPECT_NEAR(*slow->seconds_after / plain.window_summary.seconds, 0.5, 0.01);
  EXPECT_NE(slow->fix.find("NUMA node"), std::string::npos) << slow->fix;
  const ProcessExplanation by_rows = explained_slow_copies("cudaMemcpy2DAsync_v3020");
  slow = find(by_rows, FindingKind::slow_copies);
  ASSERT_NE(slow, nullptr);
  EXPECT_NE(slow->what.find("8 copies of 64 MiB, row by row, to the GPU reach "), std::string::npos) << slow->what;
  EXPECT_NE(slow->fix.find("pack the rows"), std::string::npos) << slow->fix;
}

TEST(Explain, WithoutKnownTimesOfCopiesThoseFindingsAreLeftOut) {
  const ProcessExplanation analysis =
      explain(in_range(torch_loop(false, true)), Costs{}, {}, std::nullopt, {.range = "steps"});
  EXPECT_FALSE(finds(analysis, FindingKind::pageable));
  EXPECT_TRUE(finds(analysis, FindingKind::result_wait));
  EXPECT_FALSE(analysis.traffic.front().reachable);
}

}  // namespace
}  // namespace xferbench::explain
