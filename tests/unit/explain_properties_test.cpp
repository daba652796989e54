// Claims that `explain` must never make. Each program here once led to a wrong one.
#include <gtest/gtest.h>

#include "core/units.hpp"
#include "explain/candidates.hpp"
#include "explain/gains.hpp"
#include "explain/program.hpp"
#include "explain/replay.hpp"
#include "unit/explain_fixture.hpp"
#include "words/explain_text.hpp"

namespace xferbench::explain {
namespace {

using recording::CopyKind;
using recording::Memory;
using recording::StreamFlag;

// --- Gains that the engines rule out --------------------------------------------------------------------------------

TEST(ExplainProperties, PinnedCopiesStillTakeTheLinksTimeWhereNobodyWaitsForThem) {
  const auto write = [](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::legacy);
    for (int i = 0; i < 20; ++i) m.copy(CopyKind::h2d, Memory::pageable, 64 * MiB, s, false);
  };
  const ProcessExplanation analysis = explained(whole(write), {FindingKind::pageable}, false);
  ASSERT_TRUE(analysis.seconds_fixed) << analysis.gains_unavailable;
  EXPECT_GE(*analysis.seconds_fixed, pinned_seconds(20 * 64 * MiB)) << "of " << analysis.window_summary.seconds;
}

TEST(ExplainProperties, LeavingOutWaitsDoesNotEndTheProgramBeforeItsKernels) {
  const auto write = [](SyntheticRecording& m) {
    std::vector<std::uint32_t> s;
    for (int i = 0; i < 6; ++i) s.push_back(m.stream(StreamFlag::non_blocking));
    for (int i = 0; i < 6; ++i) m.kernel("work", i == 5 ? 50e-3 : 1e-3, s[static_cast<std::size_t>(i)]);
    for (int i = 5; i >= 0; --i) m.wait(s[static_cast<std::size_t>(i)]);
  };
  const ProcessExplanation analysis = explained(in_range(write), {FindingKind::needless_wait});
  ASSERT_TRUE(analysis.seconds_fixed) << analysis.gains_unavailable;
  EXPECT_GE(*analysis.seconds_fixed, 55e-3) << "of " << analysis.window_summary.seconds;
}

TEST(ExplainProperties, GatheredCopiesOfPageableMemoryDoNotShrinkToOneWhenTheyArePinned) {
  constexpr std::uint64_t kCopies = 512;
  const Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (std::uint64_t i = 0; i < kCopies; ++i) m.copy(CopyKind::h2d, Memory::pageable, 8 * KiB, s);
    m.kernel("work", 5e-6, s);
    m.wait(s);
  });
  const Window window = window_of(r, "steps");
  const Program program = program_of(r, window, {});
  const Replay replayed = replay(program);
  const AnalysisInput input{r, window, program, SyntheticRecording::costs(), replayed};
  const std::vector<Candidate> small = small_copies(input);
  const std::vector<Candidate> pageable = pageable_copies(input);
  ASSERT_EQ(small.size(), 1U);
  ASSERT_EQ(pageable.size(), 1U);
  Program changed = program;
  small.front().fixes.front().apply(changed);
  pageable.front().fixes.front().apply(changed);
  double work = 0;
  for (const Operation& o : changed.operations) work += o.is_copy ? o.work : 0;
  EXPECT_GE(work, pinned_seconds(kCopies * 8 * KiB));
}

TEST(ExplainProperties, SplitAndThenPinnedCopiesStillTakeTheLinksTimeButNoMore) {
  const Recording r = in_range([](SyntheticRecording& m) {
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
  const Replay replayed = replay(program);
  const AnalysisInput input{r, window, program, SyntheticRecording::costs(), replayed};
  const std::vector<Candidate> turns = copies_and_kernels_in_turn(input);
  ASSERT_EQ(turns.size(), 1U);
  for (const Fix& fix : turns.front().fixes) {
    Program changed = program;
    fix.apply(changed);
    double work = 0;
    for (const Operation& o : changed.operations) work += o.is_copy && o.engine == Engine::h2d ? o.work : 0;
    EXPECT_GE(work, pinned_seconds(10 * 64 * MiB)) << fix.text;
    EXPECT_GE(replay(changed).seconds, pinned_seconds(10 * 64 * MiB)) << fix.text;
  }
}

TEST(ExplainProperties, PagesThatMoveSideBySideDoNotCountTwice) {
  Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 5; ++i) {
      m.kernel("work", 10e-3, s);
      m.wait(s);
    }
  });
  for (const recording::Kernel& k : r.kernels) {  // 4 channels move 4 MiB in 4 ms; 6 ms compute
    for (int i = 0; i < 4; ++i) {
      r.migrations.push_back({.begin = k.on.begin, .end = k.on.begin + 4'000'000, .bytes = MiB, .kind = CopyKind::h2d});
    }
  }
  const ProcessExplanation analysis = explained(r);
  const Finding* managed = find(analysis, FindingKind::managed);
  ASSERT_NE(managed, nullptr) << analysis.gains_unavailable;
  EXPECT_GE(*managed->seconds_after, 5 * 6e-3);
}

TEST(ExplainProperties, TheHostThatTouchesManagedPagesWaitsForThemToo) {
  constexpr int kSteps = 5;
  const auto write = [](double touching) {
    return [=](SyntheticRecording& m) {
      const std::uint32_t s = m.stream(StreamFlag::non_blocking);
      for (int i = 0; i < kSteps; ++i) {
        m.work(touching);
        m.kernel("work", 10e-3, s);
        m.wait(s);
      }
    };
  };
  Recording r = in_range(write(8e-3));
  for (const recording::Kernel& k : r.kernels) {  // the kernel waits for 4 ms, and the host before it for 7 of 8 ms
    r.migrations.push_back({.begin = k.on.begin, .end = k.on.begin + 4'000'000, .bytes = MiB, .kind = CopyKind::h2d});
    for (const recording::Time before : {recording::Time{7'500'000}, recording::Time{1'000'000}}) {
      const recording::Time begin = k.on.begin - before;
      r.migrations.push_back({.begin = begin, .end = begin + 500'000, .bytes = MiB, .kind = CopyKind::d2h});
    }
  }
  const Finding managed = *find(explained(r), FindingKind::managed);
  EXPECT_EQ(managed.count, kSteps * 3);
  EXPECT_EQ(managed.bytes, kSteps * 3 * MiB);
  EXPECT_NEAR(*managed.seconds_after, kSteps * (1e-3 + 6e-3), kSteps * 0.8e-3);
}

TEST(ExplainProperties, PagesOfAnotherDeviceAreNotThisKernels) {
  Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 5; ++i) {
      m.kernel("work", 10e-3, s);
      m.wait(s);
    }
  });
  for (const recording::Kernel& k : r.kernels) {
    r.migrations.push_back(
        {.begin = k.on.begin + 1000, .end = k.on.begin + 8'000'000, .bytes = MiB, .device = 1, .kind = CopyKind::h2d});
  }
  const ProcessExplanation analysis = explained(r);
  EXPECT_EQ(find(analysis, FindingKind::managed), nullptr);
}

TEST(ExplainProperties, WhatCountersOfManagedMemoryCostIsNotTakenOutOfCopies) {
  constexpr int kSteps = 10;
  Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < kSteps; ++i) {
      m.copy(CopyKind::h2d, Memory::pageable, 16 * MiB, s, false);
      m.kernel("work", 10e-3, s);
      m.wait(s);
    }
  });
  for (const recording::Kernel& k : r.kernels) {
    r.migrations.push_back({.begin = k.on.begin, .end = k.on.begin + 6'000'000, .bytes = MiB, .kind = CopyKind::h2d});
  }
  const double baseline = explained(r).window_summary.seconds - kSteps * 3e-3;
  const ProcessExplanation analysis =
      explain(r, SyntheticRecording::costs(), {baseline}, std::nullopt, {.range = "steps"});
  const Finding* pageable = find(analysis, FindingKind::pageable);
  ASSERT_NE(pageable, nullptr) << analysis.gains_unavailable;
  const double saved = SyntheticRecording::copy_seconds(Memory::pageable, 16 * MiB) - pinned_seconds(16 * MiB);
  EXPECT_NEAR(*pageable->seconds_after, baseline - kSteps * saved, 0.01 * baseline);
  EXPECT_NE(pageable->what.find("9.953 GB/s"), std::string::npos) << pageable->what;
  EXPECT_NEAR(analysis.shares.kernels, kSteps * 7e-3, 0.01 * baseline) << "of which counters took 3 ms each";
  EXPECT_NEAR(analysis.shares.total(), analysis.window_summary.seconds, 1e-6);
}

TEST(ExplainProperties, PartsOfAKernelAreNoShorterThanItsBlocksAllow) {
  const auto of_gpu_with = [](std::uint32_t multiprocessors) {
    Recording r = in_range([](SyntheticRecording& m) {
      const std::uint32_t s = m.stream(StreamFlag::non_blocking);
      m.copy(CopyKind::h2d, Memory::pinned, 256 * MiB, s);
      m.kernel("work", 5e-3, s);
      m.wait(s);
    });
    r.kernels.front().grid = 132;
    r.devices.front().multiprocessors = multiprocessors;
    return explained(r);
  };
  EXPECT_NE(find(of_gpu_with(4), FindingKind::no_overlap), nullptr);
  EXPECT_EQ(find(of_gpu_with(132), FindingKind::no_overlap), nullptr) << "each block has one to itself";
  EXPECT_NE(find(of_gpu_with(0), FindingKind::no_overlap), nullptr) << "not known";
}

// --- Gains that would remove the program's own work -----------------------------------------------------------------

TEST(ExplainProperties, GatheringDoesNotTakeAwayWhatTheProgramComputesBetweenCopies) {
  const auto write = [](bool gathered) {
    return [=](SyntheticRecording& m) {
      const std::uint32_t s = m.stream(StreamFlag::non_blocking);
      for (int i = 0; i < 1000; ++i) {
        m.work(100e-6);  // computes the value
        if (!gathered) m.copy(CopyKind::h2d, Memory::pinned, 4, s);
      }
      if (gathered) m.copy(CopyKind::h2d, Memory::pinned, 4000, s);
      m.kernel("work", 5e-6, s);
      m.wait(s);
    };
  };
  const ProcessExplanation analysis = explained(in_range(write(false)));
  const double truth = explained(in_range(write(true))).window_summary.seconds;
  const Finding* small = find(analysis, FindingKind::small_copies);
  if (small == nullptr) return;
  EXPECT_TRUE(small->at_most) << "told as 'about' " << *small->seconds_after << " where it is " << truth;
  EXPECT_NEAR(*small->seconds_after, truth, 0.1 * truth);
}

TEST(ExplainProperties, AGainIsARangeWhereWorkRecursAroundCallsThatGo) {
  constexpr int kCopies = 1000;
  constexpr double kWrapper = 5e-6;
  constexpr double kOnce = 2e-3;  // takes place between some copies, and does not go with them
  const auto write = [](bool gathered, bool wrapped) {
    return [=](SyntheticRecording& m) {
      const std::uint32_t s = m.stream(StreamFlag::non_blocking);
      for (int i = 0; i < kCopies; ++i) {
        if (wrapped) m.work(kWrapper);
        if (i % 250 == 100) m.work(kOnce);
        if (!gathered) m.copy(CopyKind::h2d, Memory::pinned, 4, s);
      }
      if (gathered) m.copy(CopyKind::h2d, Memory::pinned, 4 * kCopies, s);
      m.kernel("work", 5e-6, s);
      m.wait(s);
    };
  };
  const auto seconds = [&](bool wrapped) { return explained(in_range(write(true, wrapped))).window_summary.seconds; };
  const ProcessExplanation analysis = explained(in_range(write(false, true)), {FindingKind::small_copies});
  const Finding* small = find(analysis, FindingKind::small_copies);
  ASSERT_NE(small, nullptr);
  EXPECT_NEAR(*small->seconds_after, seconds(true), 0.05 * seconds(true));
  ASSERT_TRUE(small->seconds_after_least);
  EXPECT_NEAR(*small->seconds_after_least, seconds(false), 0.05 * seconds(false));
  EXPECT_NEAR(small->work_around, kCopies * kWrapper, 0.02 * kCopies * kWrapper);
  ASSERT_TRUE(analysis.seconds_fixed_least);
  EXPECT_NEAR(*analysis.seconds_fixed_least, seconds(false), 0.05 * seconds(false));
  const ProcessExplanation without = explained(in_range(write(false, false)));
  const Finding* bare = find(without, FindingKind::small_copies);
  EXPECT_TRUE(bare == nullptr || !bare->seconds_after_least) << "nothing recurs";
}

TEST(ExplainProperties, CallsBetweenMergedCopiesAndWorkForTheirUseMayGoWithThem) {
  constexpr int kSteps = 6;
  constexpr int kCopies = 200;
  const auto write = [](bool gathered) {
    return [=](SyntheticRecording& m) {
      const std::uint32_t s = m.stream(StreamFlag::non_blocking);
      for (int step = 0; step < kSteps; ++step) {
        for (int i = 0; i < kCopies && !gathered; ++i) {
          m.copy(CopyKind::h2d, Memory::pinned, 4, s);
          m.work(5e-6);
          m.call("cudaEventDestroy", 4e-6);
        }
        if (gathered) m.copy(CopyKind::h2d, Memory::pinned, 4 * kCopies, s);
        if (!gathered) m.work(300e-6);  // a list of the values for the kernel
        m.kernel("work", 5e-6, s);
        m.wait(s);
      }
    };
  };
  const Finding small = *find(explained(in_range(write(false))), FindingKind::small_copies);
  const double truth = explained(in_range(write(true))).window_summary.seconds;
  ASSERT_TRUE(small.seconds_after_least);
  EXPECT_NEAR(*small.seconds_after_least, truth, 0.3 * truth);
  EXPECT_GT(*small.seconds_after, kSteps * kCopies * 9e-6) << "all of it stays";
}

TEST(ExplainProperties, LaunchesWithNeedlessWaitsBetweenThemGainByAGraphOnceTheWaitsAreGone) {
  const Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 500; ++i) {
      m.kernel("work", 1e-6, s);
      m.wait(s);
    }
    m.copy(CopyKind::d2h, Memory::pinned, 4, s);
    m.wait(s);
  });
  const ProcessExplanation analysis = explained(r);
  const Finding* wait = find(analysis, FindingKind::needless_wait);
  const Finding* launches = find(analysis, FindingKind::launch_bound);
  ASSERT_TRUE(wait != nullptr && launches != nullptr);
  EXPECT_LT(wait, launches) << "first what gains by itself";
  EXPECT_NEAR(*launches->seconds_after, analysis.window_summary.seconds, 1e-6) << "a graph does not end waits";
  EXPECT_LT(*launches->seconds_after_all, 0.7 * *wait->seconds_after_all);
}

TEST(ExplainProperties, OfFixesThatGainAlikeTheCheapestIsFirst) {
  const Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (const char* kernel : {"x", "y", "z"}) m.kernel(kernel, 10e-3, s);
    m.wait(s);
  });
  const Program program = program_of(r, window_of(r, "steps"), SyntheticRecording::costs());
  const auto candidate = [&](FindingKind kind, std::size_t operation, double gain) {
    Candidate one;
    one.finding.kind = kind;
    one.fixes.push_back({"faster", "", [=](Program& p) { p.operations[operation].work -= gain; }});
    return one;
  };
  const auto first = [&](double cheap, double dear) {
    return gains_of(program, program.seconds,
                    {candidate(FindingKind::no_overlap, 0, dear), candidate(FindingKind::pageable, 1, cheap)}, 0.001)
        .findings.front()
        .kind;
  };
  EXPECT_EQ(first(4.8e-3, 5e-3), FindingKind::pageable);
  EXPECT_EQ(first(4e-3, 5e-3), FindingKind::no_overlap);
}

TEST(ExplainProperties, GatheringDoesNotTakeAwayOtherCallsBetweenCopies) {
  const auto write = [](bool gathered) {
    return [=](SyntheticRecording& m) {
      const std::uint32_t s = m.stream(StreamFlag::non_blocking);
      const std::uint32_t other = m.stream(StreamFlag::non_blocking);
      for (int i = 0; i < 100; ++i) {
        if (!gathered || i == 99) m.copy(CopyKind::h2d, Memory::pinned, gathered ? 400 : 4, s);
        m.copy(CopyKind::h2d, Memory::pageable, MiB, other, false);  // takes 113 us
      }
      m.kernel("work", 5e-6, s);
      m.wait_device();
    };
  };
  const ProcessExplanation analysis = explained(in_range(write(false)), {FindingKind::small_copies});
  const double truth = explained(in_range(write(true))).window_summary.seconds;
  ASSERT_TRUE(analysis.seconds_fixed) << analysis.gains_unavailable;
  EXPECT_NEAR(*analysis.seconds_fixed, truth, 0.05 * truth);
}

TEST(ExplainProperties, PinningDoesNotTakeAwayTheProgramsWorkAfterACopy) {
  const auto write = [](bool pinned) {
    return [=](SyntheticRecording& m) {
      const std::uint32_t s = m.stream(StreamFlag::non_blocking);
      for (int step = 0; step < 100; ++step) {
        m.copy(CopyKind::h2d, pinned ? Memory::pinned : Memory::pageable, 2 * MiB, s);
        m.work(150e-6);  // decodes the next batch
        for (int i = 0; i < 4; ++i) m.kernel("work", 5e-6, s);
      }
      m.wait(s);
    };
  };
  const ProcessExplanation analysis = explained(in_range(write(false)), {FindingKind::pageable});
  const double truth = explained(in_range(write(true))).window_summary.seconds;
  ASSERT_TRUE(analysis.seconds_fixed) << analysis.gains_unavailable;
  EXPECT_NEAR(*analysis.seconds_fixed, truth, 0.1 * truth) << "of " << analysis.window_summary.seconds;
}

TEST(ExplainProperties, WhatAProgramSetsUpOnceCannotBeDoneBeforeIt) {
  const auto write = [](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    m.kernel("work", 1e-3, s);
    m.wait(s);
    m.call("cudaMalloc", 50e-3);  // only one, so it is not part of a loop
    m.kernel("work", 1e-3, s);
    m.wait(s);
  };
  const ProcessExplanation analysis = explained(whole(write), {}, false);
  EXPECT_EQ(find(analysis, FindingKind::setup), nullptr);
}

TEST(ExplainProperties, SetupInARangeOfTheProcessCountsAsInOneOfAThread) {
  Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 4; ++i) m.call("cudaMalloc", 5e-3);
    m.kernel("work", 1e-3, s);
    m.wait(s);
  });
  ASSERT_NE(find(explained(r), FindingKind::setup), nullptr);
  r.ranges.front().of_process = 1;
  EXPECT_NE(find(explained(r), FindingKind::setup), nullptr);
}

// --- Texts ------

TEST(ExplainProperties, CopiesInsideTheGpuAreNoTransfers) {
  const Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 10; ++i) {
      m.copy(CopyKind::d2d, Memory::device, 256 * MiB, s);
      m.wait(s);
    }
  });
  const std::string text = explain_text::answer(explained(r));
  EXPECT_TRUE(text.starts_with("Transfers take 0")) << text;
}

TEST(ExplainProperties, IdleTimesAndWaitsThatAreToldAreNotLongerThanTheStretch) {
  const Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 1000; ++i) {
      m.kernel("work", 1e-6, s);
      m.work(6e-6);
    }
    m.wait(s);
  });
  const double profiled = explained(r).window_summary.seconds;
  const ProcessExplanation analysis =
      explain(r, SyntheticRecording::costs(), {0.8 * profiled, 0.8 * profiled}, std::nullopt, {.range = "steps"});
  const Finding* launches = find(analysis, FindingKind::launch_bound);
  ASSERT_NE(launches, nullptr) << analysis.gains_unavailable;
  // Idle time is reported for the profiled run, gains for the baseline run; it must not exceed the baseline.
  const std::size_t at = launches->what.find("idle for ") + 9;
  const double idle = std::stod(launches->what.substr(at)) * 1e-3;
  ASSERT_NE(launches->what.find(" ms in total", at), std::string::npos) << launches->what;
  EXPECT_LE(idle, *analysis.window_summary.baseline) << launches->what;
}

TEST(ExplainProperties, WhatCanBeKeptIsNamedByWhatItIs) {
  const Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 100; ++i) {
      m.call("cudaEventCreateWithFlags", 20e-6);
      m.kernel("work", 50e-6, s);
      m.wait(s);
    }
  });
  const ProcessExplanation analysis = explained(r);
  const Finding* setup = find(analysis, FindingKind::setup);
  ASSERT_NE(setup, nullptr);
  EXPECT_EQ(setup->fix.find("cudaMallocAsync"), std::string::npos) << "of events: " << setup->fix;
}

TEST(ExplainProperties, TimesOfCopyBackCallsThatBlockAreNotGatheredAsIfNobodyReadThem) {
  const auto write = [](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 500; ++i) m.copy(CopyKind::d2h, Memory::pageable, 8, s, false);  // values may be list links
  };
  const ProcessExplanation analysis = explained(in_range(write));
  const Finding* small = find(analysis, FindingKind::small_copies);
  if (small != nullptr) {
    EXPECT_TRUE(small->at_most) << "each blocks, and what it brought may say which is next";
  }
}

// --- More claims ----

TEST(ExplainProperties, ManagedMemoryOfBeforeTheRangeIsManagedInIt) {
  const auto program = [](bool before) {
    SyntheticRecording m;
    if (before) m.call("cudaMallocManaged", 100e-6);
    m.work(1e-3);
    m.begin_range("steps");
    if (!before) m.call("cudaMallocManaged", 100e-6);
    const std::uint32_t s = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 50; ++i) {
      m.kernel("work", 100e-6, s);
      m.wait(s);  // then the host reads the kernel's output
      m.work(50e-6);
    }
    m.end_range();
    return m.finish();
  };
  EXPECT_EQ(find(explained(program(false)), FindingKind::needless_wait), nullptr);
  EXPECT_EQ(find(explained(program(true)), FindingKind::needless_wait), nullptr);
}

/// A fix that divides the work of the kernels of this name.
Fix faster(std::string text, Index name, double by) {
  return {std::move(text), "", [name, by](Program& p) {
            for (Operation& o : p.operations) {
              if (o.name == name) o.work /= by;
            }
          }};
}

TEST(ExplainProperties, TheTimeThatIsToldIsThatOfTheMendThatIsTold) {
  const Recording r = in_range([](SyntheticRecording& m) {
    const std::uint32_t a = m.stream(StreamFlag::non_blocking);
    for (int i = 0; i < 10; ++i) {
      m.kernel("x", 5e-3, a);
      m.kernel("y", 3e-3, a);
      m.kernel("z", 2e-3, a);
      m.wait(a);
    }
  });
  const Program program = program_of(r, window_of(r, "steps"), {});
  const Index x = program.operations[0].name;
  const Index y = program.operations[1].name;
  const Index z = program.operations[2].name;
  Candidate first;
  first.fixes.push_back({"x and most of y", "", [x, y](Program& p) {
                           for (Operation& o : p.operations) {
                             if (o.name == x) o.work = 0;
                             if (o.name == y) o.work = std::min(o.work, 0.1e-3);
                           }
                         }});
  Candidate second;
  second.fixes = {faster("y", y, 3), faster("z, which is worth the same after the first and more", z, 20)};
  // Alone y gains 2.0 ms per step and z 1.9 ms. After the first fix y gains almost nothing.
  const Gains gains = gains_of(program, program.seconds, {first, second}, 0.001);
  ASSERT_EQ(gains.findings.size(), 2U);
  const Finding& analysis = gains.findings.back();
  const auto fix = std::ranges::find(second.fixes, analysis.fix, &Fix::text);
  ASSERT_NE(fix, second.fixes.end());
  Program changed = program;
  fix->apply(changed);
  const double scale = program.seconds / replay(program).seconds;
  EXPECT_NEAR(*analysis.seconds_after, replay(changed).seconds * scale, 1e-6) << analysis.fix;
  // The time after all fixes must use the same fix of the second finding.
  Program both = program;
  first.fixes.front().apply(both);
  fix->apply(both);
  EXPECT_NEAR(*analysis.seconds_after_all, replay(both).seconds * scale, 1e-6) << analysis.fix;
}

TEST(ExplainProperties, WhatWasChosenAndIsNotThereIsNotToldAsAGain) {
  ProcessExplanation analysis = explained(in_range([](SyntheticRecording& m) {
                                            const std::uint32_t s = m.stream(StreamFlag::non_blocking);
                                            m.kernel("work", 10e-3, s);
                                            m.wait(s);
                                          }),
                                          {FindingKind::pageable});
  EXPECT_EQ(explain_text::chosen_fixes_text(analysis).find("times as fast"), std::string::npos)
      << explain_text::chosen_fixes_text(analysis);
}

TEST(ExplainProperties, CopiesOfSeveralSizesAreNotToldAsOfOne) {
  const ProcessExplanation analysis = explained(in_range([](SyntheticRecording& m) {
    const std::uint32_t s = m.stream(StreamFlag::legacy);
    for (int i = 0; i < 10; ++i) {
      m.copy(CopyKind::h2d, Memory::pageable, MiB, s);
      m.copy(CopyKind::h2d, Memory::pageable, 3 * MiB, s);
    }
    m.wait(s);
  }));
  const std::string text = explain_text::answer(analysis);
  EXPECT_EQ(text.find("copies of 2 MiB"), std::string::npos) << text;
}

}  // namespace
}  // namespace xferbench::explain
