// Dependencies between operations of a recorded program, and kernels that run at the same time.
#include <gtest/gtest.h>

#include "core/units.hpp"
#include "explain/candidates.hpp"
#include "explain/gains.hpp"
#include "explain/program.hpp"
#include "explain/replay.hpp"
#include "unit/explain_fixture.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;

// --- Dependencies ---------------------------------------------------------------------------------------------------

TEST(ExplainOrder, WorkLaunchedBeforeTheRangeComesBeforeWhatIsInIt) {
  SyntheticRecording m;
  const std::uint32_t s = m.stream(StreamFlag::non_blocking);
  for (int i = 0; i < 20; ++i) m.kernel("before", 1e-3, s);
  m.begin_range("steps");
  for (int i = 0; i < 10; ++i) {
    m.copy(CopyKind::h2d, Memory::pinned, 16 * MiB, s);
    m.kernel("work", 300e-6, s);
    m.wait(s);
  }
  m.end_range();
  const Recording r = m.finish();
  const Program program = program_of(r, window_of(r, "steps"), {});
  for (const Operation& o : program.operations) {
    for (const Dependency& d : o.after) {
      EXPECT_LE(program.operations[d.operation].begin, o.begin) << "depends on what came later";
    }
  }
  EXPECT_NEAR(replay(program).seconds, program.seconds, 0.03 * program.seconds);
}

TEST(ExplainOrder, AWaitForAStreamIsOneForTheEventThatTheStreamWaitsFor) {
  SyntheticRecording m;
  const std::uint32_t first = m.stream(StreamFlag::non_blocking);
  const std::uint32_t second = m.stream(StreamFlag::non_blocking);
  m.kernel("small", 10e-6, second);
  m.kernel("work", 10e-3, first);
  m.record(1, first);
  m.make_wait(second, 1);
  m.wait(first);  // recorded for `first`, which ends at the same time; changed to `second` below
  Recording r = m.finish();
  r.synchronizations.back().stream = second;
  const Program program = program_of(r, window_of(r, std::nullopt), {});
  const HostCall& wait = program.calls[program.calls.size() - 2];
  const bool waits_for_work = std::ranges::any_of(
      wait.waits_for, [&program](Index i) { return program.operations[i].end - program.operations[i].begin > 5e-3; });
  EXPECT_TRUE(waits_for_work);
}

TEST(ExplainOrder, AnEventRecordedBehindAWaitForAnotherMeansThatOneToo) {
  SyntheticRecording m;
  const std::uint32_t a = m.stream(StreamFlag::non_blocking);
  const std::uint32_t b = m.stream(StreamFlag::non_blocking);
  const std::uint32_t c = m.stream(StreamFlag::non_blocking);
  m.kernel("first", 10e-3, a);
  m.record(1, a);
  m.make_wait(b, 1);
  m.record(2, b);  // b has no work, only the wait
  m.make_wait(c, 2);
  m.kernel("last", 1e-3, c);  // behind "first" anyway: the recorded machine runs one kernel at a time
  m.wait_device();
  const Recording r = m.finish();
  const Program program = program_of(r, window_of(r, std::nullopt), {});
  ASSERT_EQ(program.operations.size(), 2U);
  ASSERT_EQ(program.operations[1].after.size(), 1U);
  EXPECT_EQ(program.operations[1].after.front().operation, 0U);
}

TEST(ExplainOrder, AnEventBeforeTheCopyBackDoesNotBringItsResult) {
  SyntheticRecording m;
  m.work(1e-3);
  m.begin_range("steps");
  const std::uint32_t s = m.stream(StreamFlag::non_blocking);
  for (int step = 0; step < 50; ++step) {
    m.kernel("work", 100e-6, s);
    m.record(1, s);
    m.copy(CopyKind::d2h, Memory::pinned, MiB, s);
    m.wait(s);  // changed to a wait for event 1 below
    m.wait(s);  // for the copy's result
    m.work(50e-6);
  }
  m.end_range();
  Recording r = m.finish();
  for (std::size_t i = 0; i < r.synchronizations.size(); i += 2) {
    recording::Synchronization& sync = r.synchronizations[i];
    sync.kind = recording::SyncKind::event;
    sync.event = 1;
  }
  // Waits for the event are needless, since it precedes the copy back; waits for the stream bring the result.
  const Program program = program_of(r, window_of(r, "steps"), {});
  const Replay replayed = replay(program);
  const AnalysisInput input{r, window_of(r, "steps"), program, SyntheticRecording::costs(), replayed};
  for (const Candidate& candidate : waits(input)) {
    Program changed = program;
    candidate.fixes.front().apply(changed);
    std::size_t for_copies = 0;
    std::size_t for_kernels = 0;
    for (Index c = 0; c < program.calls.size(); ++c) {
      const HostCall& call = program.calls[c];
      if (call.waits_for.empty() || !changed.calls[c].waits_for.empty()) continue;
      ++(program.operations[call.waits_for.front()].is_copy ? for_copies : for_kernels);
    }
    if (candidate.finding.kind == FindingKind::result_wait) {
      EXPECT_EQ(for_kernels, 0U) << "waits for an event before the copy are told as waits for its result";
    } else {
      EXPECT_EQ(for_copies, 0U) << "waits for copies back are told as needless";
    }
  }
}

TEST(ExplainOrder, ACallThatBeganBeforeTheRangeOnAnotherThreadIsReplayed) {
  SyntheticRecording m;
  const std::uint32_t a = m.stream(StreamFlag::non_blocking);
  const std::uint32_t b = m.stream(StreamFlag::non_blocking);
  m.copy(CopyKind::h2d, Memory::pageable, 16 * MiB, a, false);
  m.kernel("work", 1e-3, b);
  m.begin_range("steps");
  m.wait(b);
  m.end_range();
  Recording r = m.finish();
  // Moves the copy to another thread: it spans the begin of the range. The kernel, launched before the range, starts
  // after the copy's call.
  recording::Call& copy = r.calls[0];
  copy.thread = 2;
  recording::Kernel& kernel = r.kernels.front();
  const recording::Time begin = r.ranges.front().begin;
  kernel.on.begin = begin - 3000;
  copy.begin = begin - 10'000;
  r.copies.front().on.begin = begin - 5000;
  r.copies.front().on.end = begin + 500'000;
  copy.end = begin + 510'000;
  std::ranges::sort(r.calls, {}, &recording::Call::begin);
  const Program program = program_of(r, window_of(r, "steps"), {});
  for (Index i = 0; i < program.operations.size(); ++i) {
    for (const Dependency& d : program.operations[i].after) EXPECT_NE(d.operation, i) << "waits for itself";
  }
  EXPECT_NO_THROW((void)replay(program));
}

TEST(ExplainOrder, ACallThatReturnsBeforeItsCopyEndsIsReplayedSo) {
  Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 100; ++i) {
      m.copy(CopyKind::h2d, Memory::pageable, 64 * KiB, s);
      m.work(50e-6);
    }
    m.wait(s);
  });
  for (recording::Copy& copy : r.copies) {  // the call returns 20 us before the end of the copy
    copy.on.end += 20'000;
  }
  const Program program = program_of(r, window_of(r, "steps"), {});
  EXPECT_NEAR(replay(program).seconds, program.seconds, 0.03 * program.seconds);
}

/// Two GPUs work at the same time, each in its own context and independent of the other.
Recording on_two_gpus() {
  Recording r = in_range([](SyntheticRecording& m) {  // recorded on one GPU, one kernel after the other
    const std::uint32_t a = m.stream(StreamFlag::non_blocking);
    const std::uint32_t b = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 20; ++i) m.kernel(i % 2 == 0 ? "first" : "second", 1e-3, i % 2 == 0 ? a : b);
    m.wait_device();
  });
  r.devices.push_back({1, r.devices.front().name, 0, 0});
  const recording::Time begin = r.kernels.front().on.begin;
  for (std::size_t i = 0; i < r.kernels.size(); ++i) {
    recording::OnDevice& on = r.kernels[i].on;
    on.begin = begin + i / 2 * 1'001'000;
    on.end = on.begin + 1'000'000;
    if (i % 2 == 0) continue;
    on.device = 1;
    on.context = 2;
  }
  r.streams.back().context = 2;
  r.synchronizations.back().context = 1;
  recording::Call& wait = r.calls.back();
  wait.end = r.kernels.back().on.end + 5'000;
  r.ranges.front().end = wait.end;
  return r;
}

TEST(ExplainOrder, TwoGpusWorkAtOnce) {
  const Recording r = on_two_gpus();
  const Program program = program_of(r, window_of(r, "steps"), {});
  EXPECT_NEAR(replay(program).seconds, program.seconds, 0.03 * program.seconds);
  EXPECT_LT(program.seconds, 11e-3);
  for (const Operation& o : program.operations) {
    for (const Dependency& d : o.after) EXPECT_EQ(program.operations[d.operation].device, o.device);
  }
}

// --- Concurrent kernels ---

/// Three kernels that each fill the GPU, enqueued at once on three streams. Each begins in the last 20 us of the one
/// before, while that one's last blocks run.
Recording overlapping_tails() {
  Recording r = whole([](SyntheticRecording& m) {
    std::vector<std::uint32_t> s;
    for (int i = 0; i < 3; ++i) s.push_back(m.stream(StreamFlag::non_blocking));
    for (const std::uint32_t stream : s) m.kernel("work", 10e-3, stream);
    m.wait_device();
  });
  for (recording::Kernel& k : r.kernels) {
    if (&k != &r.kernels.front()) k.on.begin -= 20'000;
  }
  return r;
}

TEST(ExplainOrder, KernelsWhoseEndsOverlapDoNotRunAllAtOnce) {
  const Recording r = overlapping_tails();
  const Program program = program_of(r, window_of(r, std::nullopt), {});
  EXPECT_NEAR(replay(program).seconds, program.seconds, 0.03 * program.seconds);
}

TEST(ExplainOrder, KernelsWhoseEndsOverlapDoNotShareTheGpuWhenWaitsAreLeftOut) {
  constexpr int kSteps = 50;
  Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t a = m.stream(StreamFlag::non_blocking);
    const std::uint32_t b = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < kSteps; ++i) {
      m.kernel("a", 1e-3, a);
      m.kernel("b", 1e-3, b);
      m.wait_device();
      m.work(100e-6);
    }
  });
  for (std::size_t i = 1; i < r.kernels.size(); i += 2) r.kernels[i].on.begin -= 10'000;  // 1 % of the kernel before
  const ProcessExplanation analysis = explained(r, {FindingKind::needless_wait});
  ASSERT_TRUE(analysis.seconds_fixed) << analysis.gains_unavailable;
  EXPECT_GE(*analysis.seconds_fixed, kSteps * 1.9e-3) << "of " << analysis.window_summary.seconds;
}

TEST(ExplainOrder, ACallOfAnotherThreadOverTheEndOfARangeIsNoPartOfIt) {
  SyntheticRecording m;
  const std::uint32_t a = m.stream(StreamFlag::non_blocking);
  const std::uint32_t b = m.stream(StreamFlag::non_blocking);
  m.begin_range("steps");
  for (int i = 0; i < 10; ++i) {
    m.kernel("work", 1e-3, a);
    m.wait(a);
  }
  m.switch_thread(2);
  m.copy(CopyKind::h2d, Memory::pageable, 64 * MiB, b, false);
  Recording r = m.finish();
  r.ranges.front().of_process = 1;
  r.ranges.front().end = r.calls.back().begin + 100'000;  // the copy takes 6.7 ms
  const Program program = program_of(r, window_of(r, "steps"), {});
  EXPECT_NEAR(replay(program).seconds, program.seconds, 0.03 * program.seconds);
}

}  // namespace
}  // namespace xferbench::explain
