// Tests of findings about memory and files of the host, which the counters of a recording show (recording::Usage).
#include <gtest/gtest.h>

#include "core/units.hpp"
#include "unit/explain_fixture.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;

constexpr int kRounds = 8;
constexpr std::uint64_t kBatch = 64 * MiB;
constexpr std::uint64_t kBatchPages = kBatch / (4 * KiB);

/// Pageable memory that is in use takes a third of the time that the copies of the recording take.
Costs fast_costs() {
  Costs costs = SyntheticRecording::costs();
  costs.copy = [](CopyKind, Memory host, std::uint64_t bytes) {
    return std::optional(SyntheticRecording::copy_seconds(host, bytes) / (host == Memory::pageable ? 3 : 1));
  };
  return costs;
}

Recording results_in_new_memory(const SyntheticRecording::Did& each) {
  return in_range([&](SyntheticRecording& made) {
    for (int step = 0; step < kRounds; ++step) {
      made.copy(CopyKind::d2h, Memory::pageable, kBatch, 7, false);
      made.usage(each);
    }
  });
}

TEST(ExplainMemory, CopiesIntoNewMemoryGainByKeepingIt) {
  const Recording recording = results_in_new_memory({.faults = kBatchPages});
  const ProcessExplanation analysis = explain(recording, fast_costs(), {}, std::nullopt, {.range = "steps"});
  const Finding* fresh = find(analysis, FindingKind::fresh_memory);
  ASSERT_NE(fresh, nullptr);
  EXPECT_EQ(fresh->count, kRounds);
  EXPECT_NEAR(*fresh->seconds_after / analysis.window_summary.seconds, 1.15 / 3, 0.01);
  EXPECT_NEAR(fresh->seconds_after_least.value() / analysis.window_summary.seconds, 0.85 / 3, 0.01);
  EXPECT_EQ(fresh->work_around, 0) << "not for what the program does around them";
  EXPECT_NE(fresh->what.find("9.988 GB/s; touched memory would reach 29.96 GB/s"), std::string::npos) << fresh->what;
  EXPECT_EQ(analysis.findings.front().kind, FindingKind::fresh_memory) << "easier than pinning, which gains more";
}

TEST(ExplainMemory, HugePagesTakeFewFaults) {
  const ProcessExplanation analysis = explain(results_in_new_memory({.faults = kBatch / (2 * MiB)}), fast_costs(), {},
                                              std::nullopt, {.range = "steps"});
  EXPECT_NE(find(analysis, FindingKind::fresh_memory), nullptr);
}

TEST(ExplainMemory, MemoryInUseIsNotFresh) {
  const ProcessExplanation analysis =
      explain(results_in_new_memory({.faults = 4}), fast_costs(), {}, std::nullopt, {.range = "steps"});
  EXPECT_EQ(find(analysis, FindingKind::fresh_memory), nullptr);
}

TEST(ExplainMemory, NewMemoryIsNotAccusedIfCopiesAreAsFastAsUsual) {
  EXPECT_EQ(find(explained(results_in_new_memory({.faults = kBatchPages})), FindingKind::fresh_memory), nullptr);
}

/// Steps that prepare a batch for 20 ms or `work` seconds, copy it, and compute for 20 ms.
Recording batches_read(Memory host, const SyntheticRecording::Did& each, double work = 20e-3) {
  return in_range([&](SyntheticRecording& made) {
    const std::uint32_t stream = made.stream(StreamFlag::non_blocking);
    for (int step = 0; step < kRounds; ++step) {
      made.work(work);
      made.copy(CopyKind::h2d, host, kBatch, stream);
      made.usage(each);
      made.kernel("work", 20e-3, stream);
      made.wait(stream);
    }
  });
}

TEST(ExplainMemory, ArraysMadeAnewGainWhatTouchingThemTakes) {
  const ProcessExplanation analysis = explained(batches_read(Memory::pageable, {.faults_before = kBatchPages / 2}));
  const Finding* fresh = find(analysis, FindingKind::fresh_memory);
  ASSERT_NE(fresh, nullptr);
  EXPECT_TRUE(fresh->at_most);
  const double touching = kRounds * Costs{}.touch * static_cast<double>(kBatch) / 2;
  // The first batch has no sampled call before it, so nothing is known of it.
  EXPECT_NEAR(analysis.window_summary.seconds - *fresh->seconds_after, touching * (kRounds - 1) / kRounds, 1e-4);
}

TEST(ExplainMemory, ReadingInTurnGainsByReadingAhead) {
  const ProcessExplanation analysis = explained(batches_read(Memory::pinned, {.read_before = kBatch}));
  const Finding* reads = find(analysis, FindingKind::read_in_turn);
  ASSERT_NE(reads, nullptr);
  EXPECT_TRUE(reads->at_most);
  const double step = 20e-3 + pinned_seconds(kBatch);
  EXPECT_NEAR(*reads->seconds_after, 20e-3 + kRounds * step, 2e-3) << "reading hides behind copies and kernels";
}

TEST(ExplainMemory, WaitsBeforeReadingIntoTheBufferAreNotNeedless) {
  const auto waits = [](std::uint64_t read) {
    return find(explained(batches_read(Memory::pinned, {.read_before = read})), FindingKind::needless_wait) != nullptr;
  };
  EXPECT_TRUE(waits(0));
  EXPECT_FALSE(waits(kBatch));
}

constexpr double kCopying = 1e-10 * static_cast<double>(kBatch);  // seconds in which a CPU copies a batch

TEST(ExplainMemory, WorkAsLongAsACopyOnTheHostBeforeEachCopyGoesIfTheDataAreMadeInPinnedMemory) {
  const ProcessExplanation analysis = explained(batches_read(Memory::pinned, {.cpu_before = kCopying}, kCopying));
  const Finding* copy = find(analysis, FindingKind::host_copy);
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(copy->at_most);
  EXPECT_EQ(copy->count, kRounds);
  EXPECT_NE(copy->what.find("10.00 GB/s"), std::string::npos) << copy->what;
  EXPECT_NEAR(analysis.window_summary.seconds - *copy->seconds_after, kRounds * kCopying, 1e-4);
}

TEST(ExplainMemory, OtherWorkBeforeCopiesIsNoCopyOnTheHost) {
  const auto found = [](Memory host, const SyntheticRecording::Did& each, double work) {
    return find(explained(batches_read(host, each, work)), FindingKind::host_copy) != nullptr;
  };
  EXPECT_TRUE(found(Memory::pinned, {.cpu_before = kCopying}, kCopying));
  EXPECT_FALSE(found(Memory::pinned, {}, kCopying)) << "the thread sleeps";
  EXPECT_FALSE(found(Memory::pageable, {.cpu_before = kCopying}, kCopying));
  EXPECT_FALSE(found(Memory::pinned, {.read_before = kBatch, .cpu_before = kCopying}, kCopying)) << "reads a file";
  EXPECT_FALSE(found(Memory::pinned, {.faults_before = kBatchPages, .cpu_before = kCopying}, kCopying)) << "new array";
  EXPECT_FALSE(found(Memory::pinned, {.cpu_before = 9 * kCopying}, 5 * kCopying)) << "longer than copying takes";
  EXPECT_FALSE(found(Memory::pinned, {.cpu_before = kCopying / 10}, kCopying / 10)) << "shorter than copying takes";
}

/// Steps that read a batch and copy it. The first copy of the window follows what was read before the window.
TEST(ExplainMemory, WhatWasReadBeforeTheWindowDoesNotCount) {
  const auto copy = [](SyntheticRecording& made, std::uint64_t read) {
    made.copy(CopyKind::h2d, Memory::pinned, kBatch, 7);
    made.usage({.faults_before = 10 * kBatchPages, .read_before = read});
  };
  SyntheticRecording made;
  copy(made, 1000 * kBatch);
  made.begin_range("steps");
  copy(made, 1000 * kBatch);
  for (int round = 1; round < kRounds; ++round) copy(made, kBatch / 4);
  made.wait(7);
  made.end_range();
  EXPECT_EQ(find(explained(made.finish()), FindingKind::read_in_turn), nullptr);
}

TEST(ExplainMemory, ReadingBeforeACopyBackCountsForTheNextCopyToTheGpu) {
  const Recording recording = in_range([&](SyntheticRecording& made) {
    for (int round = 0; round < kRounds; ++round) {
      made.work(20e-3);
      made.copy(CopyKind::d2h, Memory::pinned, kBatch, 7);
      made.usage({.read_before = kBatch});
      made.work(1e-3);
      made.copy(CopyKind::h2d, Memory::pinned, kBatch, 7);
      made.usage({});
      made.kernel("work", 20e-3, 7);
      made.wait(7);
    }
  });
  EXPECT_NE(find(explained(recording), FindingKind::read_in_turn), nullptr);
}

TEST(ExplainMemory, ReadingLongerThanTheGpuWorksSetsThePace) {
  const Recording recording = in_range([&](SyntheticRecording& made) {
    const std::uint32_t stream = made.stream(StreamFlag::non_blocking);
    for (int step = 0; step < kRounds; ++step) {
      made.work(20e-3);
      made.copy(CopyKind::h2d, Memory::pinned, kBatch, stream);
      made.usage({.read_before = kBatch});
      made.kernel("work", 5e-3, stream);
      made.wait(stream);
    }
  });
  const ProcessExplanation analysis = explained(recording);
  const Finding* reads = find(analysis, FindingKind::read_in_turn);
  ASSERT_NE(reads, nullptr);
  EXPECT_NEAR(*reads->seconds_after, kRounds * 20e-3 + 2 * pinned_seconds(kBatch) + 5e-3, 2e-3);
}

TEST(ExplainMemory, WorkThatReadsLittleIsNotReading) {
  EXPECT_EQ(find(explained(batches_read(Memory::pinned, {.read_before = kBatch / 4})), FindingKind::read_in_turn),
            nullptr);
}

TEST(ExplainMemory, MappedFilesAreNamed) {
  const ProcessExplanation analysis =
      explained(batches_read(Memory::pageable, {.faults = kBatchPages, .source_file = "/data/model.bin"}));
  const Finding* mapped = find(analysis, FindingKind::mapped_copy);
  ASSERT_NE(mapped, nullptr);
  EXPECT_NE(mapped->what.find("from the mapped file /data/model.bin: 9.988 GB/s"), std::string::npos) << mapped->what;
  EXPECT_NE(mapped->fix.find("--path /data/model.bin"), std::string::npos) << mapped->fix;
  EXPECT_LT(*mapped->seconds_after, analysis.window_summary.seconds);
  EXPECT_EQ(find(analysis, FindingKind::pageable), nullptr) << "a file's pages are not the program's to pin";
  EXPECT_EQ(find(analysis, FindingKind::fresh_memory), nullptr);
}

TEST(ExplainMemory, MappedFilesHaveARangeUnlessTheLinkIsTheLimit) {
  const Recording recording = in_range([](SyntheticRecording& made) {
    for (int step = 0; step < kRounds; ++step) {
      made.copy(CopyKind::h2d, Memory::pageable, kBatch, 7, false);
      made.usage({.faults = kBatchPages, .source_file = "/data/model.bin"});
    }
  });
  const auto with_link = [&recording](double rate) {
    Costs costs = SyntheticRecording::costs();
    costs.copy = [rate](CopyKind, Memory, std::uint64_t bytes) {
      return std::optional(static_cast<double>(bytes) / rate);
    };
    return explain(recording, costs, {}, std::nullopt, {.range = "steps", .fixed = {FindingKind::mapped_copy}});
  };
  const ProcessExplanation fast = with_link(100e9);
  const Finding* mapped = find(fast, FindingKind::mapped_copy);
  ASSERT_NE(mapped, nullptr);
  const double reading = SyntheticRecording::costs().read_cached / 8 * static_cast<double>(kBatch);  // by eight threads
  EXPECT_NEAR(*mapped->seconds_after - mapped->seconds_after_least.value(), kRounds * 0.3 * reading, 1e-4);
  EXPECT_DOUBLE_EQ(fast.seconds_fixed.value(), *mapped->seconds_after);
  EXPECT_DOUBLE_EQ(fast.seconds_fixed_least.value(), *mapped->seconds_after_least);
  const ProcessExplanation slow = with_link(25e9);
  ASSERT_NE(find(slow, FindingKind::mapped_copy), nullptr);
  EXPECT_FALSE(find(slow, FindingKind::mapped_copy)->seconds_after_least) << "no faster than the link";
}

/// Steps that read the same 64 MiB of a file in two parts, each from another place on if `again` is false.
Recording batches_from_file(bool again) {
  return in_range([again](SyntheticRecording& made) {
    for (int step = 0; step < kRounds; ++step) {
      const std::uint64_t first = again ? 0 : static_cast<std::uint64_t>(step) * kBatch;
      for (int part = 0; part < 2; ++part) {
        made.read("/data/batches", first + static_cast<std::uint64_t>(part) * kBatch / 2, kBatch / 2, 10e-3);
      }
      made.copy(CopyKind::h2d, Memory::pinned, kBatch, 7);
      made.wait(7);
    }
  });
}

TEST(ExplainMemory, ReadingTwiceGainsTheSecondRead) {
  const ProcessExplanation analysis = explained(batches_from_file(true));
  const Finding* twice = find(analysis, FindingKind::read_twice);
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(twice->count, 2 * (kRounds - 1));
  EXPECT_EQ(twice->bytes, (kRounds - 1) * kBatch);
  EXPECT_NE(twice->what.find("14 reads of /data/batches bring what was read before: 448 MiB in 140.0 ms"),
            std::string::npos)
      << twice->what;
  EXPECT_NEAR(analysis.window_summary.seconds - *twice->seconds_after, (kRounds - 1) * 20e-3, 1e-3);
  EXPECT_EQ(find(explained(batches_from_file(false)), FindingKind::read_twice), nullptr);
}

TEST(ExplainMemory, ReadingWhatWasWrittenMeanwhileIsNotReadingTwice) {
  const ProcessExplanation analysis = explained(in_range([](SyntheticRecording& made) {
    for (std::uint64_t version = 1; version <= kRounds; ++version) {
      made.read("/data/spilled", 0, kBatch, 10e-3, version);
      made.copy(CopyKind::h2d, Memory::pinned, kBatch, 7);
      made.wait(7);
    }
  }));
  EXPECT_EQ(find(analysis, FindingKind::read_twice), nullptr);
}

TEST(ExplainMemory, ReadsWithinACallAreNotWorkBeforeTheNextOne) {
  Recording recording = batches_from_file(true);
  // The first read of each step begins before the wait that precedes it has ended.
  for (recording::FileRead& read : recording.file_reads) read.begin -= 1000;
  const ProcessExplanation analysis = explained(recording);
  const Finding* twice = find(analysis, FindingKind::read_twice);
  ASSERT_NE(twice, nullptr);
  EXPECT_NEAR(analysis.window_summary.seconds - *twice->seconds_after, (kRounds - 1) * 10e-3, 1e-3);
}

TEST(ExplainMemory, ReadingTwiceInSmallerPartsOrAcrossTwoIsSeen) {
  const ProcessExplanation analysis = explained(in_range([](SyntheticRecording& made) {
    for (const auto& [offset, bytes] :
         {std::pair{0U, 64U}, {64U, 64U}, {256U, 64U}, {32U, 64U}, {64U, 1U}, {100U, 100U}}) {
      made.read("/data/a", offset * MiB, bytes * MiB, 10e-3);
    }
    made.copy(CopyKind::h2d, Memory::pinned, kBatch, 7);
    made.wait(7);
  }));
  const Finding* twice = find(analysis, FindingKind::read_twice);
  ASSERT_NE(twice, nullptr);
  EXPECT_EQ(twice->bytes, 65 * MiB) << "of the last read a part is new";
}

/// A range of 100 ms, in and before which the process reads and touches memory. `late`: seconds by which the last
/// counters come too late.
Recording with_usage_of_process(std::uint64_t read, double late = 0) {
  SyntheticRecording made;
  made.process_usage(500, 64 * MiB, 64 * MiB);
  made.begin_range("steps");
  made.work(50e-3);
  made.copy(CopyKind::h2d, Memory::pinned, kBatch, 7);
  made.work(50e-3);
  made.end_range();
  made.work(late);
  made.process_usage(700, 64 * MiB + read, 65 * MiB);
  made.work(1);
  made.process_usage(100'700, 640 * MiB, 65 * MiB);
  return made.finish();
}

TEST(ExplainMemory, WhatTheProcessReadsAndTouchesIsSaidIfItTakesTime) {
  const auto is_usage = [](const std::string& note) { return note.starts_with("In this time the process had"); };
  const std::vector<std::string> notes = explained(with_usage_of_process(512 * MiB)).notes;
  const auto note = std::ranges::find_if(notes, is_usage);
  ASSERT_NE(note, notes.end());
  EXPECT_EQ(
      *note,
      "In this time the process had 512 MiB read from files, pipes and sockets, 1 MiB delivered by disks, 200 page "
      "faults");
  for (const Recording& r : {with_usage_of_process(1 * MiB), with_usage_of_process(512 * MiB, 0.1)}) {
    EXPECT_TRUE(std::ranges::none_of(explained(r).notes, is_usage)) << "too little, or not at the end of the range";
  }
}

}  // namespace
}  // namespace xferbench::explain
