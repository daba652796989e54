// Scenario staging: a pinned slot is reused only after its copy, and more threads give more bandwidth.
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

class StagingTest : public OnSim {
 protected:
  std::vector<Result> run(Words flags) {
    flags.insert(flags.begin(), "staging");
    return OnSim::run(flags);
  }
  Result run_one(const Words& flags) { return run(flags).front(); }
  /// On a device that claims to be real, so that no case is skipped as not modelled.
  static std::vector<Result> run_willingly(Words flags) {
    flags.insert(flags.begin(), "staging");
    return run_on(capable_machine()->device(), flags);
  }
};

TEST_F(StagingTest, DirectIsTheProfilesPageableCopy) {
  const Result r = run_one({"--method", "direct", "--dir", "h2d", "--size", "64M"});
  EXPECT_NEAR(metric(r, "bandwidth"), 8.9, 0.1);
  EXPECT_EQ(metric(r, "speedup"), 1);
}

TEST_F(StagingTest, RegisteringCopiesAtTheRateOfPinnedMemoryAndPaysForIt) {
  const auto& p = profile("h200");
  const Result r = run_one({"--method", "register", "--dir", "h2d", "--size", "64M"});
  const double bytes = 64e0 * 1024 * 1024;
  const double expected = bytes / p.register_rate + bytes / p.h2d_rate + bytes / p.unregister_rate;
  EXPECT_NEAR(bytes / metric(r, "bandwidth") / 1e9, expected, 0.02 * expected);
  EXPECT_NEAR(median(r, "register"), p.register_call + bytes / p.register_rate, 1e-6);
}

class StagingBothWays : public StagingTest, public testing::WithParamInterface<const char*> {};

TEST_P(StagingBothWays, ThreadsCarryMoreUntilTheLinkIsFull) {
  verify_ = false;  // times only: no data is moved
  const auto rate = [&](const char* threads) {
    return metric(run_one({"--method", "threads", "--dir", GetParam(), "--size", "128M", "--threads", threads}),
                  "bandwidth");
  };
  const double one = rate("1");
  EXPECT_NEAR(one, 10, 1);  // limited by the host's copies
  EXPECT_NEAR(rate("3"), 3 * one, 0.3 * one);
  const double eight = rate("8");
  EXPECT_GT(eight, 42);
  EXPECT_LT(eight, 55.5);
}

TEST_P(StagingBothWays, ASlotUsedAgainTooEarlyIsCaughtAsWrongData) {
  for (const char* crew : {"apart", "one-stream", "together"}) {
    const Words command{"staging", "--method", "threads", "--dir",   GetParam(), "--size", "16M", "--threads",
                        "12",      "--slot",   "1M",      "--slots", "1",        "--crew", crew};
    expect_all(OnSim::run(command), Status::ok);
    sim::SimMachine hasty = machine_that({.synchronize_event = [] {}});
    expect_all(run_on(hasty.device(), command), Status::failed, "wrong result");
  }
}

TEST_P(StagingBothWays, OneStreamSparesTheSwitches) {
  verify_ = false;  // times only: no data is moved
  const auto time = [&](const char* crew) {
    return median(
        run_one({"--method", "threads", "--dir", GetParam(), "--size", "128M", "--threads", "8", "--crew", crew}),
        "staging");
  };
  EXPECT_LT(time("one-stream"), 0.97 * time("apart"));
}

TEST_P(StagingBothWays, SmallChunksSpareTheWaitForTheFirstOneOrTheLast) {
  verify_ = false;  // times only: no data is moved
  const auto time = [&](std::string_view sizes) {
    return median(run_one({"--method", "threads", "--dir", GetParam(), "--size", "128M", "--threads", "8", "--slot",
                           "4M", "--crew", "one-stream", "--chunk-sizes", std::string(sizes)}),
                  "staging");
  };
  const bool to_device = std::string_view(GetParam()) == "h2d";
  EXPECT_LT(time(to_device ? "growing" : "shrinking"), 0.96 * time("equal"));
}

TEST_P(StagingBothWays, TogetherTheyComeCloseToPinnedMemoryWithFewSlots) {
  verify_ = false;  // times only: no data is moved
  const Result r = run_one({"--method", "threads", "--dir", GetParam(), "--threads", "8", "--slot", "8M", "--slots",
                            "3", "--crew", "together", "--chunk-sizes", "tapered"});
  EXPECT_GT(metric(r, "of_pinned"), 0.95);
  EXPECT_LT(metric(r, "of_pinned"), 1);
}

TEST_P(StagingBothWays, ChunksThatAreRegisteredArePinnedWhileOthersCross) {
  verify_ = false;  // times only: no data is moved
  const auto rate = [&](const Words& method) {
    Words words{"--dir", GetParam(), "--size", "128M", "--method"};
    words.insert(words.end(), method.begin(), method.end());
    return metric(run_one(words), "bandwidth");
  };
  EXPECT_GT(rate({"register-chunks", "--threads", "2"}), 1.3 * rate({"register"}));
}

INSTANTIATE_TEST_SUITE_P(Direction, StagingBothWays, testing::Values("h2d", "d2h"),
                         [](const auto& tested) { return tested.param; });

TEST_F(StagingTest, OddSizesAndSlotsVerify) {
  expect_all(
      run({"--method", "threads", "--size", "1,4095,1048580", "--threads", "1,3", "--slot", "4K", "--slots", "1,2"}),
      Status::ok);
  expect_all(run({"--method", "threads", "--size", "1,4718604", "--threads", "3,20", "--slots", "1,2"}), Status::ok);
}

TEST_F(StagingTest, EveryWayToCarryVerifies) {
  expect_all(run({"--method", "threads", "--size", "1,4300001", "--threads", "5", "--slots", "1,2", "--slot", "256K",
                  "--crew", "all", "--chunk-sizes", "equal,tapered"}),
             Status::ok);
  expect_all(run_willingly({"--method", "threads", "--size", "4095,3M", "--threads", "3", "--stores", "all",
                            "--slot-memory", "pinned,registered-huge", "--idle", "all"}),
             Status::ok, "", 2 * 2 * 2 * 2 * 2);
  expect_all(run({"--method", "register-chunks", "--size", "1,4300001", "--threads", "3", "--slot", "64K,256K",
                  "--slots", "2", "--chunk-sizes", "equal,tapered"}),
             Status::ok);
}

TEST_F(StagingTest, WhatIsNotModelledIsSkippedWhereItIsSimulated) {
  const auto skipped = [this](const char* flag, const char* value, const char* why) {
    expect_all(run({"--method", "threads", "--size", "1M", "--dir", "h2d", "--threads", "2", flag, value}),
               Status::skipped, why, 1);
  };
  skipped("--stores", "streaming", "the simulator does not model CPU caches; use --stores cached");
  skipped("--slot-memory", "registered-huge", "the simulator does not distinguish kinds of pinned memory");
  skipped("--slot-memory", "write-combined", "the simulator does not distinguish kinds of pinned memory");
  skipped("--idle", "poll", "the simulator does not model the time to wake threads; use --idle sleep");
  expect_all(run({"--method", "threads", "--size", "1M", "--threads", "2", "--stores", "cached", "--slot-memory",
                  "pinned", "--idle", "sleep"}),
             Status::ok);
}

TEST_F(StagingTest, WriteCombinedSlotsAreForTheWayToTheDevice) {
  const Words slots{"--method", "threads", "--threads", "2", "--size", "1M", "--slot-memory", "write-combined"};
  const auto both = run_willingly(slots);
  ASSERT_EQ(both.size(), 1U) << "d2h only came out of the product";
  EXPECT_EQ(both.front().config.word("dir"), "h2d");
  EXPECT_EQ(both.front().status, Status::ok);
}

TEST_F(StagingTest, OldCasesHaveTheirKeys) {
  EXPECT_EQ(run({"--size", "1M", "--dir", "h2d", "--method", "threads", "--threads", "2"}).front().config.key(),
            "staging/dir=h2d/host=pageable/size=1MiB/method=threads/threads=2/slot=2MiB/slots=3");
}

TEST_F(StagingTest, SaysHowTheFastestCarried) {
  const auto findings =
      conclude(scenarios(), run_willingly({"--size", "64M", "--dir", "h2d", "--method", "direct,threads", "--threads",
                                           "8", "--crew", "together", "--chunk-sizes", "tapered", "--stores",
                                           "streaming", "--slot-memory", "registered-huge"}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].labels.at(3).second,
            "8 threads, 3 slots of 2 MiB together, tapered, registered-huge, streaming stores");
}

TEST_F(StagingTest, TellsTheFastestMethodOfEachSize) {
  const auto findings = conclude(scenarios(), run({"--size", "64K,64M", "--dir", "h2d", "--threads", "8"}));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].labels.at(3).second, "direct") << "small copies are not worth any trouble";
  EXPECT_EQ(findings[1].labels.at(3).second, "8 threads, 3 slots of 2 MiB");
}

}  // namespace

}  // namespace xferbench::test
