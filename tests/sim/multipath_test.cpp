// Scenario multipath on simulated machines with several GPUs.

#include "run/tuner.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// Two GPUs whose streams behave as `how` says.
sim::SimMachine two_that(const Override& how) { return machine_that(how, "h200-x2", {0, 1}); }

class MultipathOnTwo : public testing::Test {
 protected:
  sim::SimMachine machine_{profile("h200-x2"), {0, 1}};
};

TEST_F(MultipathOnTwo, NamesTargetAndHelpers) {
  EXPECT_EQ(keys_of(cases_on(machine_, Words{"multipath", "--dir", "h2d"})),
            Words{"multipath/dir=h2d/target=0/via=1/slots=4/size=256MiB"});
  EXPECT_EQ(keys_of(cases_on(machine_, Words{"multipath", "--dir", "d2h", "--target", "1"})),
            Words{"multipath/dir=d2h/target=1/via=0/slots=4/size=256MiB"});
  sim::SimMachine eight(profile("h200-x8"), {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(keys_of(cases_on(eight, Words{"multipath", "--dir", "h2d", "--via", "growing"})).size(), 7U);
  EXPECT_EQ(keys_of(cases_on(eight, Words{"multipath", "--dir", "h2d", "--target", "2", "--via", "1+3"})),
            Words{"multipath/dir=h2d/target=2/via=1+3/slots=4/size=256MiB"});
}

TEST_F(MultipathOnTwo, IsAlmostTwiceAsFastAsOneLink) {
  const auto results = run_on_gpus(machine_, Words{"multipath", "--size", "64M,256M"});
  expect_all(results, Status::ok, "", 4);
  for (const Result& r : results) {
    EXPECT_GT(metric(r, "times_direct"), 1.9) << r.config.key();
    EXPECT_GT(metric(r, "of_own_links"), 0.97) << r.config.key();
    EXPECT_LT(metric(r, "of_own_links"), 1.001) << r.config.key();
    EXPECT_EQ(r.gpus, (std::vector{0, 1}));
  }
}

TEST_F(MultipathOnTwo, MovesEveryByteOfOddSizes) {
  expect_all(run_on_gpus(machine_, Words{"multipath", "--size", "1,4097,1000001B,5M,16777217B", "--share", "0,37,100"}),
             Status::ok, "", 2U * 5 * 3);
}

TEST_F(MultipathOnTwo, OfLittleGoesDirectly) {
  const auto results = run_on_gpus(machine_, Words{"multipath", "--size", "64K"});
  expect_all(results, Status::ok, "", 2);
  for (const Result& r : results) {
    EXPECT_EQ(metric(r, "relayed"), 0) << r.config.key();
    EXPECT_NEAR(metric(r, "times_direct"), 1, 0.05) << r.config.key();
  }
}

TEST_F(MultipathOnTwo, TakesTheShareThatIsAskedFor) {
  const auto results = run_on_gpus(machine_, Words{"multipath", "--size", "64M", "--share", "25", "--chunk", "4M"});
  expect_all(results, Status::ok, "", 2);
  for (const Result& r : results) {
    EXPECT_NEAR(metric(r, "relayed"), 0.25, 0.002);
    EXPECT_EQ(metric(r, "chunk"), 4);
    EXPECT_EQ(metric(r, "helper_memory"), 4 + 4 + 4 + 2) << "short chunks need short slots";
  }
}

TEST(Multipath, ByAllOfEightReachesMoreThanByTwo) {
  sim::SimMachine eight(profile("h200-x8"), {0, 1, 2, 3, 4, 5, 6, 7});
  const auto results = run_on_gpus(eight, Words{"multipath", "--dir", "h2d", "--via", "1,4,all", "--size", "64M"});
  ASSERT_EQ(results.size(), 3U);
  expect_all(results, Status::ok);
  EXPECT_GT(metric(results[2], "bandwidth"), 1.15 * metric(results[0], "bandwidth")) << "the socket's memory is next";
  EXPECT_GT(metric(results[0], "times_direct"), 1.8) << "of the target's own socket";
  EXPECT_GT(metric(results[1], "times_direct"), 1.3) << "of the other one";
}

TEST(Multipath, NeedsASecondGpu) {
  sim::SimMachine one(profile("h200"));
  expect_all(run_on_gpus(one, Words{"multipath"}), Status::skipped, "this run has one", 2);
}

TEST_F(MultipathOnTwo, RefusesWhatMakesNoSense) {
  const std::pair<const char*, const char*> kRefused[]{{"--target 1 --via 1", "cannot be its own helper"},
                                                       {"--target 0+1", "the number of a GPU"},
                                                       {"--via 1+1", "numbers of different GPUs"},
                                                       {"--share 101", "--share"}};
  for (const auto& [flags, why] : kRefused) {
    expect_refused(std::string("multipath --dir h2d ") + flags, why);
  }
  expect_all(run_on_gpus(machine_, Words{"multipath", "--via", "7"}), Status::skipped, "GPUs 0, 1 only", 2);
}

TEST(Multipath, WithoutPeerAccessIsSkipped) {
  sim::SimMachine machine = strangers();
  expect_all(run_on_gpus(machine, Words{"multipath"}), Status::skipped, "GPU 1 cannot access the memory of GPU 0", 2);
}

TEST_F(MultipathOnTwo, TakesNoMoreMemoryThanItSays) {
  for (const char* flags : {"--size 4M", "--size 8M --share 50 --chunk 1M", "--size 8M --share 10 --chunk 8M",
                            "--size 8000001B --share 100 --slots 9 --chunk 3M", "--size 1M --share 100 --slots 9"}) {
    for (const PlannedCase& c : cases_on(machine_, std::string("multipath ") + flags)) {
      const std::uint64_t most = most_device_memory(c);
      const std::uint64_t said = c.scenario->needs(c.config).device;
      EXPECT_LE(most, said) << c.config.key();
      EXPECT_GE(2 * most, said) << c.config.key();
    }
  }
}

/// The helper GPU does not wait for a chunk to arrive before it relays it.
TEST(Multipath, ForgottenWaitIsCaught) {
  const auto hasty = [](sim::SimStream& stream, EventImpl& event) {
    if (stream.device().number() == 0) stream.SimStream::wait(event);
  };
  for (const char* direction : {"h2d", "d2h"}) {
    sim::SimMachine machine = two_that({.wait = hasty});
    expect_all(run_on_gpus(machine, Words{"multipath", "--dir", direction, "--size", "64M", "--share", "50"}),
               Status::failed, "over several links: wrong result", 1);
  }
}

TEST(Multipath, CorruptedCopyBetweenGpusIsCaught) {
  const auto elsewhere = [](sim::SimStream& stream, const Copy& c) {
    Copy wrong = c;
    if (c.direction == Direction::p2p && c.bytes > 4096) wrong.bytes -= 4096;
    stream.SimStream::copy(wrong);
  };
  sim::SimMachine machine = two_that({.copy = elsewhere});
  expect_all(run_on_gpus(machine, Words{"multipath", "--size", "16M", "--share", "50"}), Status::failed, "wrong result",
             2);
}

TEST_F(MultipathOnTwo, TuneTriesTheModelsChoice) {
  const Words keys = keys_of(cases_on(machine_, Words{"tune", "multipath"}));
  EXPECT_EQ(keys.size(), 32U * 5 * 3);
  EXPECT_EQ(std::ranges::count(keys, "multipath/dir=h2d/target=0/via=1/slots=4/size=256MiB"), 1);
  for (const std::string& key : keys_of(cases_on(machine_, Words{"tune", "multipath", "--share", "50"}))) {
    EXPECT_NE(key.find("/share=50/"), std::string::npos) << key;
  }
}

/// All candidates must be timed by the same clock, or their times would not compare.
TEST_F(MultipathOnTwo, TuneTimesAllByOneClock) {
  for (const auto& [chunk, clock] : {std::pair{"64K", Clock::event}, std::pair{"8M", Clock::event_gated}}) {
    std::vector<Case> space;
    const auto cases = cases_on(machine_, Words{"tune", "multipath", "--size", "32M", "--share", "50", "--slots", "4",
                                                "--chunk", fmt::format("{},16M", chunk)});
    for (const PlannedCase& c : cases) space.push_back(c.config);
    RunContext bench = quick_bench(machine_.device());
    const auto tunable = cases.front().scenario->tunable(space, bench);
    EXPECT_EQ(tunable->stages().front().clock, clock) << chunk;
    for (const Case& c : space) EXPECT_EQ(tunable->prepare(c).region().clock, clock) << c.key();
  }
}

TEST_F(MultipathOnTwo, TuneFindsWhatAnExhaustiveSearchFinds) {
  const auto cases = cases_on(machine_, Words{"tune", "multipath", "--size", "64M"});
  std::vector<Case> space;
  for (const PlannedCase& c : cases) space.push_back(c.config);
  RunContext bench = quick_bench(machine_.device(), false);
  bench.policy = {.budget = 6};
  const TuneObserver nobody{.progress = [](const TuneProgress&) {}, .measured = [](const std::vector<Result>&) {}};
  const auto command_of = [](const Case& c) { return c.key(); };
  const auto best_of = [&](SearchMode how) {
    const Tuned tuned = tune(*cases.front().scenario, space, bench, command_of, nobody, how);
    double best = 0;
    for (const Result& r : tuned.results) best = std::max(best, r.value("bandwidth"));
    return best;
  };
  EXPECT_GT(best_of(SearchMode::guided), 0.99 * best_of(SearchMode::exhaustive));
}

TEST(Multipath, SaysHowManyHelpersAreEnough) {
  sim::SimMachine eight(profile("h200-x8"), {0, 1, 2, 3, 4, 5, 6, 7});
  const auto results =
      run_on_gpus(eight, Words{"multipath", "--dir", "h2d", "--via", "growing", "--size", "64M"}, false);
  expect_all(results, Status::ok, "", 7);
  const Words all = sentences(results);
  ASSERT_EQ(all.size(), 8U);
  EXPECT_EQ(all.back().find("GPUs 1,2 are enough, at "), 0U) << all.back();
  EXPECT_NE(all.back().find("7 helpers reach "), std::string::npos) << all.back();
  EXPECT_NE(all.back().find("--via 1+2"), std::string::npos) << all.back();
}

TEST_F(MultipathOnTwo, SaysWhatItGainsAndWhatItCosts) {
  const auto results = run_on_gpus(machine_, Words{"multipath", "--dir", "h2d", "--size", "256M"});
  const Words all = sentences(results);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NE(all.front().find("2.0 times as fast"), std::string::npos) << all.front();
  EXPECT_NE(all.front().find("meanwhile GPU 1 is busy"), std::string::npos) << all.front();
  EXPECT_NE(all.front().find("data reaches GPU 0"), std::string::npos) << all.front();
}

}  // namespace

}  // namespace xferbench::test
