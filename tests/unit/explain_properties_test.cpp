// What holds of all explanations, where it is easily lost: gains that the GPU does not allow, mends that spoil each
// other, programs at the edges of the stretch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "explain/candidates.hpp"
#include "explain/explain.hpp"
#include "explain/gains.hpp"
#include "explain/program.hpp"
#include "explain/replay.hpp"
#include "report/explain/words.hpp"
#include "support/made_recording.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;

using Write = std::function<void(MadeRecording&)>;

Recording whole(const Write& write) {
  MadeRecording made;
  write(made);
  return made.finish();
}

Recording in_range(const Write& write) {
  MadeRecording made;
  made.work(5e-3);
  made.begin_range("steps");
  write(made);
  made.end_range();
  made.work(1e-3);
  return made.finish();
}

ProcessExplanation explained(const Recording& r, const std::vector<FindingKind>& mended = {}, bool range = true) {
  return explain(r, MadeRecording::costs(), {}, std::nullopt,
                 {.range = range ? std::optional<std::string>("steps") : std::nullopt, .mended = mended});
}

const Finding* find(const ProcessExplanation& told, FindingKind kind) {
  const auto found = std::ranges::find(told.findings, kind, &Finding::kind);
  return found == told.findings.end() ? nullptr : &*found;
}

double pinned_seconds(std::uint64_t bytes) { return static_cast<double>(bytes) / 50e9; }

// --- Gains that the engines do not allow ----------------------------------------------------------------------------

TEST(ExplainProperties, PinnedCopiesStillTakeTheLinksTimeWhereNobodyWaitsForThem) {
  const auto write = [](MadeRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::legacy);
    for (int i = 0; i < 20; ++i) m.copy(CopyKind::h2d, Memory::pageable, 64 * MiB, s, false);
  };
  const ProcessExplanation told = explained(whole(write), {FindingKind::pageable}, false);
  ASSERT_TRUE(told.seconds_mended) << told.withheld;
  EXPECT_GE(*told.seconds_mended, pinned_seconds(20 * 64 * MiB)) << "of " << told.stretch.seconds;
}

TEST(ExplainProperties, LeavingOutWaitsDoesNotEndTheProgramBeforeItsKernels) {
  const auto write = [](MadeRecording& m) {
    std::vector<std::uint32_t> s;
    for (int i = 0; i < 6; ++i) s.push_back(m.stream(StreamFlag::non_blocking));
    for (int i = 0; i < 6; ++i) m.kernel("work", i == 5 ? 50e-3 : 1e-3, s[static_cast<std::size_t>(i)]);
    for (int i = 5; i >= 0; --i) m.wait(s[static_cast<std::size_t>(i)]);
  };
  const ProcessExplanation told = explained(in_range(write), {FindingKind::needless_wait});
  ASSERT_TRUE(told.seconds_mended) << told.withheld;
  EXPECT_GE(*told.seconds_mended, 55e-3) << "of " << told.stretch.seconds;
}

TEST(ExplainProperties, GatheredCopiesOfPageableMemoryDoNotShrinkToOneWhenTheyArePinned) {
  constexpr std::uint64_t kCopies = 512;
  const Recording r = in_range([](MadeRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (std::uint64_t i = 0; i < kCopies; ++i) m.copy(CopyKind::h2d, Memory::pageable, 8 * KiB, s);
    m.kernel("work", 5e-6, s);
    m.wait(s);
  });
  const Window window = window_of(r, "steps");
  Program program = program_of(r, window, {});
  const Evidence evidence{r, window, program, MadeRecording::costs()};
  const std::vector<Candidate> small = small_copies(evidence);
  const std::vector<Candidate> pageable = pageable_copies(evidence);
  ASSERT_EQ(small.size(), 1U);
  ASSERT_EQ(pageable.size(), 1U);
  Program changed = program;
  small.front().mends.front().apply(changed);
  pageable.front().mends.front().apply(changed);
  double work = 0;
  for (const Operation& o : changed.operations) work += o.is_copy ? o.work : 0;
  EXPECT_GE(work, pinned_seconds(kCopies * 8 * KiB));
}

TEST(ExplainProperties, SplitAndThenPinnedCopiesStillTakeTheLinksTimeButNoMore) {
  const Recording r = in_range([](MadeRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int step = 0; step < 10; ++step) {
      m.copy(CopyKind::h2d, Memory::pinned, 64 * MiB, s);
      m.kernel("work", 1e-3, s);
      m.copy(CopyKind::d2h, Memory::pinned, 64 * MiB, s);
      m.wait(s);
    }
  });
  const Window window = window_of(r, "steps");
  const Program program = program_of(r, window, {});
  const Evidence evidence{r, window, program, MadeRecording::costs()};
  const std::vector<Candidate> turns = copies_and_kernels_in_turn(evidence);
  ASSERT_EQ(turns.size(), 1U);
  for (const Mend& mend : turns.front().mends) {
    Program changed = program;
    mend.apply(changed);
    double work = 0;
    for (const Operation& o : changed.operations) work += o.is_copy && o.engine == Engine::h2d ? o.work : 0;
    EXPECT_GE(work, pinned_seconds(10 * 64 * MiB)) << mend.text;
    EXPECT_GE(replay(changed).seconds, pinned_seconds(10 * 64 * MiB)) << mend.text;
  }
}

TEST(ExplainProperties, PagesThatMoveSideBySideDoNotCountTwice) {
  Recording r = in_range([](MadeRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 5; ++i) {
      m.kernel("work", 10e-3, s);
      m.wait(s);
    }
  });
  for (const recording::Kernel& k : r.kernels) {  // 4 MiB in 4 ms, on four channels at once: 6 ms are computing
    for (int i = 0; i < 4; ++i) {
      r.migrations.push_back({.begin = k.on.begin, .end = k.on.begin + 4'000'000, .bytes = MiB, .kind = CopyKind::h2d});
    }
  }
  const ProcessExplanation told = explained(r);
  const Finding* managed = find(told, FindingKind::managed);
  ASSERT_NE(managed, nullptr) << told.withheld;
  EXPECT_GE(*managed->seconds_after, 5 * 6e-3);
}

// --- What depends on what -------------------------------------------------------------------------------------------

TEST(ExplainProperties, ACallThatBeganBeforeTheRangeOnAnotherThreadIsReplayed) {
  MadeRecording m;
  const std::uint32_t a = m.stream(StreamFlag::non_blocking);
  const std::uint32_t b = m.stream(StreamFlag::non_blocking);
  m.copy(CopyKind::h2d, Memory::pageable, 16 * MiB, a, false);
  m.kernel("work", 1e-3, b);
  m.begin_range("steps");
  m.wait(b);
  m.end_range();
  Recording r = m.finish();
  // Another thread's: the copy goes on while the range begins, and a kernel of before the range began after the copy.
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

TEST(ExplainProperties, AWaitForAStreamIsOneForTheEventThatTheStreamWaitsFor) {
  MadeRecording m;
  const std::uint32_t first = m.stream(StreamFlag::non_blocking);
  const std::uint32_t second = m.stream(StreamFlag::non_blocking);
  m.kernel("small", 10e-6, second);
  m.kernel("work", 10e-3, first);
  m.record(1, first);
  m.make_wait(second, 1);
  m.wait(first);  // as long as that of `second` would be, which is what the next lines make of it
  Recording r = m.finish();
  r.synchronizations.back().stream = second;
  const Program program = program_of(r, window_of(r, std::nullopt), {});
  const HostCall& wait = program.calls[program.calls.size() - 2];
  const bool waits_for_work = std::ranges::any_of(
      wait.waits_for, [&program](Index i) { return program.operations[i].end - program.operations[i].begin > 5e-3; });
  EXPECT_TRUE(waits_for_work);
}

TEST(ExplainProperties, AnEventRecordedBehindAWaitForAnotherMeansThatOneToo) {
  MadeRecording m;
  const std::uint32_t a = m.stream(StreamFlag::non_blocking);
  const std::uint32_t b = m.stream(StreamFlag::non_blocking);
  const std::uint32_t c = m.stream(StreamFlag::non_blocking);
  m.kernel("first", 10e-3, a);
  m.record(1, a);
  m.make_wait(b, 1);
  m.record(2, b);  // nothing is in b but the wait
  m.make_wait(c, 2);
  m.kernel("last", 1e-3, c);  // on the one engine for kernels, behind "first" in any case
  m.wait_device();
  const Recording r = m.finish();
  const Program program = program_of(r, window_of(r, std::nullopt), {});
  ASSERT_EQ(program.operations.size(), 2U);
  ASSERT_EQ(program.operations[1].after.size(), 1U);
  EXPECT_EQ(program.operations[1].after.front().operation, 0U);
}

// --- Kernels side by side --------------------------------------------------------------------------------------------

/// Three kernels that each fill the GPU, in streams of their own, enqueued at once: each begins in the last 20 us of
/// the one before it, while that one's last blocks run.
Recording overlapping_tails() {
  Recording r = whole([](MadeRecording& m) {
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

TEST(ExplainProperties, KernelsWhoseEndsOverlapDoNotRunAllAtOnce) {
  const Recording r = overlapping_tails();
  const Program program = program_of(r, window_of(r, std::nullopt), {});
  EXPECT_NEAR(replay(program).seconds, program.seconds, 0.03 * program.seconds);
}

// --- What is said ----------------------------------------------------------------------------------------------------

TEST(ExplainProperties, TimesOfCopyBackCallsThatBlockAreNotGatheredAsIfNobodyReadThem) {
  const auto write = [](MadeRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 500; ++i) m.copy(CopyKind::d2h, Memory::pageable, 8, s, false);  // follows a list
  };
  const ProcessExplanation told = explained(in_range(write));
  const Finding* small = find(told, FindingKind::small_copies);
  if (small != nullptr) {
    EXPECT_TRUE(small->at_most) << "each blocks, and what it brought may say which is next";
  }
}

// --- More of the same ------------------------------------------------------------------------------------------------

TEST(ExplainProperties, ManagedMemoryOfBeforeTheRangeIsManagedInIt) {
  const auto program = [](bool before) {
    MadeRecording m;
    if (before) m.call("cudaMallocManaged", 100e-6);
    m.work(1e-3);
    m.begin_range("steps");
    if (!before) m.call("cudaMallocManaged", 100e-6);
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 50; ++i) {
      m.kernel("work", 100e-6, s);
      m.wait(s);  // the host then reads what the kernel wrote
      m.work(50e-6);
    }
    m.end_range();
    return m.finish();
  };
  EXPECT_EQ(find(explained(program(false)), FindingKind::needless_wait), nullptr);
  EXPECT_EQ(find(explained(program(true)), FindingKind::needless_wait), nullptr);
}

}  // namespace
}  // namespace xferbench::explain
