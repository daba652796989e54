// Tests of waits for others: of a thread for workers, which samples of CPU time show (recording::Workers), and of
// processes for each other.
#include <gtest/gtest.h>

#include "core/units.hpp"
#include "unit/explain_fixture.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;

constexpr int kSteps = 10;
constexpr std::uint64_t kBatchBytes = 16 * MiB;
constexpr double kFetch = 20e-3;  // seconds from the end of a step to the copy of the next one
constexpr double kOnGpu = 5e-3;

/// Who used a CPU, and how much.
struct Cpus {
  double thread = 0;     // seconds of the copying thread in each step
  double children = 0;   // CPUs that two child processes keep busy
  double elsewhere = 0;  // seconds that the thread sleeps in each step between the copy and the kernel
};

/// Steps that get a batch, copy it and compute. CPU times are sampled before the window, in the middle and at its end.
Recording batches_from_workers(const Cpus& cpus) {
  SyntheticRecording made;
  const auto sample = [&] { made.workers(cpus.children * made.now(), 2); };
  sample();
  made.work(5e-3);
  made.begin_range("steps");
  const std::uint32_t stream = made.stream(StreamFlag::non_blocking);
  for (int step = 0; step < kSteps; ++step) {
    made.work(kFetch);
    made.copy(CopyKind::h2d, Memory::pinned, kBatchBytes, stream);
    made.usage({.cpu_before = cpus.thread});
    made.work(cpus.elsewhere);
    made.kernel("work", kOnGpu, stream);
    made.wait(stream);
    if (step == kSteps / 2) sample();
  }
  sample();
  made.end_range();
  return made.finish();
}

/// The thread uses a CPU while it waits for the GPU, and for a millisecond of its own.
constexpr double kSpinning = kOnGpu + 1.3e-3;

TEST(ExplainWorkers, ThatAreBusyWhileTheCopyingThreadIdlesAreTheBottleneck) {
  const ProcessExplanation analysis = explained(batches_from_workers({.thread = kSpinning, .children = 1.9}));
  const Finding* workers = find(analysis, FindingKind::slow_workers);
  ASSERT_NE(workers, nullptr);
  EXPECT_TRUE(workers->at_most);
  EXPECT_EQ(workers->count, kSteps);
  EXPECT_NE(workers->what.find("while 2 child processes keep 1.9 CPUs busy"), std::string::npos) << workers->what;
  // Nothing is known of the time before the first copy.
  const double idle = (kSteps - 1) * (kFetch - 1e-3);
  EXPECT_NEAR(analysis.window_summary.seconds - *workers->seconds_after, idle, 0.05 * idle);
  EXPECT_EQ(analysis.findings.front().kind, FindingKind::slow_workers);
}

TEST(ExplainWorkers, AreNotAccusedIfTheCopyingThreadIdlesElsewhere) {
  const Recording recording =
      batches_from_workers({.thread = kSpinning + kFetch, .children = 1.9, .elsewhere = 2 * kFetch});
  EXPECT_EQ(find(explained(recording), FindingKind::slow_workers), nullptr) << "it works before each copy";
}

TEST(ExplainWorkers, AreNotAccusedOfTheWorkOfAThreadThatSleepsInWaits) {
  constexpr double kWork = 4e-3;  // less than the kernel takes, so the thread cannot have used a CPU while it waited
  const ProcessExplanation analysis = explained(batches_from_workers({.thread = kWork, .children = 1.9}));
  const Finding* workers = find(analysis, FindingKind::slow_workers);
  ASSERT_NE(workers, nullptr);
  const double idle = (kSteps - 1) * (kFetch - kWork);
  EXPECT_NEAR(analysis.window_summary.seconds - *workers->seconds_after, idle, 0.03 * idle);
}

TEST(ExplainWorkers, AreUnknownInAShortRangeBetweenSamples) {
  Recording recording = batches_from_workers({.thread = kSpinning, .children = 1.9});
  recording.workers.front().time -= 1'000'000'000;
  recording.workers.erase(recording.workers.begin() + 1);
  EXPECT_EQ(find(explained(recording), FindingKind::slow_workers), nullptr);
}

TEST(ExplainWorkers, AreNotAccusedIfTheCopyingThreadWorks) {
  EXPECT_EQ(
      find(explained(batches_from_workers({.thread = kSpinning + kFetch, .children = 2})), FindingKind::slow_workers),
      nullptr);
}

TEST(ExplainWorkers, ThatIdleAsWellHaveOtherReasons) {
  EXPECT_EQ(find(explained(batches_from_workers({.thread = kSpinning, .children = 0.1})), FindingKind::slow_workers),
            nullptr);
}

TEST(ExplainWorkers, AreUnknownIfTheSamplesMissMostOfTheWindow) {
  Recording recording = batches_from_workers({.thread = kSpinning, .children = 1.9});
  recording.workers.erase(recording.workers.begin() + 1, recording.workers.end());
  EXPECT_EQ(find(explained(recording), FindingKind::slow_workers), nullptr);
}

// --- Processes ------------------------------------------------------------------------------------------------------

/// A rank that works, and then takes part in a reduction; `waits`: seconds until the others have come.
ProcessExplanation rank(std::uint32_t pid, double work, double waits) {
  Recording recording = in_range([&](SyntheticRecording& made) {
    made.kernel("work", work, 7);
    made.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 5e-3 + waits, 7);
    made.wait(7);
  });
  recording.process.pid = pid;
  return explained(recording);
}

TEST(ExplainWorkers, ProcessesSayForWhichOtherTheyWait) {
  std::vector<ProcessExplanation> ranks{rank(11, 10e-3, 40e-3), rank(12, 50e-3, 0), rank(13, 50e-3, 0.1e-3)};
  note_waits_between(ranks);
  ASSERT_EQ(ranks[0].notes.size(), 1U);
  EXPECT_EQ(ranks[0].notes[0],
            "NCCL's kernels run for 45.00 ms here and for 5.000 ms in process 12: this one waits about 40.00 ms for "
            "that one, which counts as kernels");
  ASSERT_EQ(ranks[1].notes.size(), 1U);
  EXPECT_EQ(ranks[1].notes[0], "Other processes wait for this one in NCCL's kernels, up to 40.00 ms: it comes last");
  EXPECT_EQ(ranks[2].notes, std::vector<std::string>{});
}

TEST(ExplainWorkers, ProcessesThatComeTogetherOrAreAloneDoNotWait) {
  std::vector<ProcessExplanation> together{rank(11, 50e-3, 0), rank(12, 50e-3, 0)};
  note_waits_between(together);
  std::vector<ProcessExplanation> alone{rank(11, 10e-3, 40e-3)};
  note_waits_between(alone);
  for (const auto& ranks : {together, alone}) {
    for (const ProcessExplanation& one : ranks) EXPECT_EQ(one.notes, std::vector<std::string>{});
  }
}

}  // namespace
}  // namespace xferbench::explain
