// multipath, and overlap on several GPUs, on simulated machines.
#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "run/tuner.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// The cases of a command on that machine.
std::vector<PlannedCase> on_gpus(Machine& machine, const Words& command) {
  return expanded(cases_of(command), {machine.device().capabilities().environment, true});
}

std::vector<Result> run_on_gpus(Machine& machine, const Words& command) {
  return run_all(on_gpus(machine, command), quick_bench(machine.device()));
}

Words keys_on(Machine& machine, const Words& command) {
  Words keys;
  for (const PlannedCase& c : on_gpus(machine, command)) keys.push_back(c.config.key());
  return keys;
}

/// Two GPUs whose streams do something otherwise.
sim::SimMachine two_that(const Otherwise& how) { return machine_that(how, "h200-x2", {0, 1}); }

class OnTwo : public testing::Test {
 protected:
  sim::SimMachine machine_{profile("h200-x2"), {0, 1}};
};

using MultipathOnTwo = OnTwo;
using OverlapOnTwo = OnTwo;

// --- multipath ------------------------------------------------------------------------------------------------------

TEST_F(MultipathOnTwo, NamesTargetAndHelpers) {
  EXPECT_EQ(keys_on(machine_, {"multipath", "--dir", "h2d"}),
            Words{"multipath/dir=h2d/target=0/via=1/slots=4/size=256MiB"});
  EXPECT_EQ(keys_on(machine_, {"multipath", "--dir", "d2h", "--target", "1"}),
            Words{"multipath/dir=d2h/target=1/via=0/slots=4/size=256MiB"});
  sim::SimMachine eight(profile("h200-x8"), {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(keys_on(eight, {"multipath", "--dir", "h2d", "--via", "growing"}).size(), 7U);
  EXPECT_EQ(keys_on(eight, {"multipath", "--dir", "h2d", "--target", "2", "--via", "1+3"}),
            Words{"multipath/dir=h2d/target=2/via=1+3/slots=4/size=256MiB"});
}

TEST_F(MultipathOnTwo, IsAlmostTwiceAsFastAsOneLink) {
  for (const Result& r : run_on_gpus(machine_, {"multipath", "--size", "64M,256M"})) {
    EXPECT_EQ(r.status, Status::ok) << r.reason;
    EXPECT_GT(metric(r, "times_direct"), 1.9) << r.config.key();
    EXPECT_GT(metric(r, "of_own_links"), 0.97) << r.config.key();
    EXPECT_LT(metric(r, "of_own_links"), 1.001) << r.config.key();
    EXPECT_EQ(r.gpus, (std::vector{0, 1}));
  }
}

TEST_F(MultipathOnTwo, MovesEveryByteOfOddSizes) {
  expect_all(run_on_gpus(machine_, {"multipath", "--size", "1,4097,1000001B,5M,16777217B", "--share", "0,37,100"}),
             Status::ok, "", 2U * 5 * 3);
}

TEST_F(MultipathOnTwo, OfLittleGoesDirectly) {
  for (const Result& r : run_on_gpus(machine_, {"multipath", "--size", "64K"})) {
    EXPECT_EQ(metric(r, "relayed"), 0) << r.config.key();
    EXPECT_NEAR(metric(r, "times_direct"), 1, 0.05) << r.config.key();
  }
}

TEST_F(MultipathOnTwo, TakesTheShareThatIsAskedFor) {
  for (const Result& r : run_on_gpus(machine_, {"multipath", "--size", "64M", "--share", "25", "--chunk", "4M"})) {
    EXPECT_NEAR(metric(r, "relayed"), 0.25, 0.002);
    EXPECT_EQ(metric(r, "chunk"), 4);
    EXPECT_EQ(metric(r, "helper_memory"), 16);
  }
}

TEST(Multipath, ByAllOfEightReachesMoreThanByTwo) {
  sim::SimMachine eight(profile("h200-x8"), {0, 1, 2, 3, 4, 5, 6, 7});
  const auto results = run_on_gpus(eight, {"multipath", "--dir", "h2d", "--via", "1,4,all", "--size", "64M"});
  ASSERT_EQ(results.size(), 3U);
  expect_all(results, Status::ok);
  EXPECT_GT(metric(results[2], "bandwidth"), 1.15 * metric(results[0], "bandwidth")) << "the socket's memory is next";
  EXPECT_GT(metric(results[0], "times_direct"), 1.8) << "of the target's own socket";
  EXPECT_GT(metric(results[1], "times_direct"), 1.3) << "of the other one";
}

TEST(Multipath, NeedsASecondGpu) {
  sim::SimMachine one(profile("h200"));
  expect_all(run_on_gpus(one, {"multipath"}), Status::skipped, "this run has one", 2);
}

TEST_F(MultipathOnTwo, RefusesWhatMakesNoSense) {
  const auto reason = [](const Words& flags) {
    Words command{"multipath", "--dir", "h2d"};
    command.insert(command.end(), flags.begin(), flags.end());
    cases_of(command);
  };
  EXPECT_THROW(reason({"--target", "1", "--via", "1"}), UsageError);
  EXPECT_THROW(reason({"--target", "0+1"}), UsageError);
  EXPECT_THROW(reason({"--via", "1+1"}), UsageError);
  EXPECT_THROW(reason({"--share", "101"}), UsageError);
  expect_all(run_on_gpus(machine_, {"multipath", "--via", "7"}), Status::skipped, "GPUs 0, 1 only", 2);
}

TEST(Multipath, WithoutPeerAccessIsSkipped) {
  sim::Profile strangers = profile("h200-x2");
  strangers.nvlinks = 0;
  sim::SimMachine machine(strangers, {0, 1});
  expect_all(run_on_gpus(machine, {"multipath"}), Status::skipped, "cannot reach", 2);
}

/// A helper that passes on what has not arrived yet.
TEST(Multipath, ForgottenWaitIsCaught) {
  const auto hasty = [](sim::SimStream& stream, EventImpl& event) {
    if (stream.device().number() == 0) stream.SimStream::wait(event);
  };
  for (const char* direction : {"h2d", "d2h"}) {
    sim::SimMachine machine = two_that({.wait = hasty});
    expect_all(run_on_gpus(machine, {"multipath", "--dir", direction, "--size", "64M", "--share", "50"}),
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
  expect_all(run_on_gpus(machine, {"multipath", "--size", "16M", "--share", "50"}), Status::failed, "wrong result", 2);
}

TEST_F(MultipathOnTwo, TuneFindsWhatAnExhaustiveSearchFinds) {
  const auto cases = on_gpus(machine_, {"tune", "multipath", "--size", "64M"});
  std::vector<Case> space;
  for (const PlannedCase& c : cases) space.push_back(c.config);
  RunContext bench = quick_bench(machine_.device());
  bench.policy = {.budget = 6};
  const TuneObserver nobody{.progress = [](const TuneProgress&) {}, .measured = [](const std::vector<Result>&) {}};
  const auto command_of = [](const Case& c) { return c.key(); };
  const auto best_of = [&](Thoroughness how) {
    const Tuned tuned = tune(*cases.front().scenario, space, bench, command_of, nobody, how);
    double best = 0;
    for (const Result& r : tuned.results) best = std::max(best, r.value("bandwidth"));
    return best;
  };
  EXPECT_GT(best_of(Thoroughness::guided), 0.99 * best_of(Thoroughness::exhaustive));
}

TEST_F(MultipathOnTwo, SaysWhatItGainsAndWhatItCosts) {
  const auto results = run_on_gpus(machine_, {"multipath", "--dir", "h2d", "--size", "256M"});
  const Words all = sentences(results);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NE(all.front().find("2.0 times as fast"), std::string::npos) << all.front();
  EXPECT_NE(all.front().find("meanwhile GPU 1 is busy"), std::string::npos) << all.front();
  EXPECT_NE(all.front().find("data reaches GPU 0"), std::string::npos) << all.front();
}

// --- overlap --------------------------------------------------------------------------------------------------------

TEST_F(OverlapOnTwo, KeysSayOnHowManyGpus) {
  EXPECT_TRUE(keys_on(machine_, {"overlap"}).front().ends_with("/split=each/gpus=0+1"));
  EXPECT_TRUE(keys_on(machine_, {"overlap", "--split", "shared"}).front().ends_with("/split=shared/gpus=0+1"));
  sim::SimMachine one(profile("h200"));
  EXPECT_EQ(keys_on(one, {"overlap"}).front().find("split"), std::string::npos);
  expect_all(run_on_gpus(one, {"overlap", "--split", "each"}), Status::skipped, "this run has one", 1);
}

TEST_F(OverlapOnTwo, IsAsFastAsBothTogetherCanBe) {
  for (const char* split : {"each", "shared"}) {
    const auto results = run_on_gpus(
        machine_, {"overlap", "--size", "64M", "--split", split, "--strategy", "streams,engines,double-buffer,graph"});
    expect_all(results, Status::ok, "", 4);
    for (const Result& r : results) {
      EXPECT_GT(metric(r, "efficiency"), 0.8) << r.config.key();
      EXPECT_LT(metric(r, "efficiency"), 1.005) << r.config.key();
      EXPECT_GT(metric(r, "of_one_gpu"), 1.3) << r.config.key();
      EXPECT_LT(metric(r, "of_one_gpu"), 2) << r.config.key();
      EXPECT_EQ(std::ranges::count(r.metrics, "gpu_bandwidth", &Metric::name), 2) << r.config.key();
      EXPECT_NEAR(metric(r, "modelled") / median(r, "pipeline"), 1, 0.1) << r.config.key();
    }
  }
}

TEST_F(OverlapOnTwo, SharesOddPayloadsOut) {
  expect_all(run_on_gpus(machine_, {"overlap", "--size", "1000004B,4194308B", "--split", "shared", "--chunks", "3"}),
             Status::ok, "", 2);
}

TEST_F(OverlapOnTwo, RefusesWhatCannotBe) {
  EXPECT_THROW(cases_of({"overlap", "--strategy", "serial", "--split", "each"}), UsageError);
  EXPECT_THROW(cases_of({"overlap", "--balance", "1", "--split", "each"}), UsageError);
  expect_all(run_on_gpus(machine_, {"overlap", "--strategy", "serial", "--size", "1M"}), Status::skipped,
             "--strategy serial", 1);
}

/// The kernels of one of the GPUs run where nothing waits for them, and they for nothing.
TEST(OverlapOnSeveral, KernelsOfOneGpuThatNobodyWaitsForAreCaught) {
  std::vector<Stream> elsewhere;
  const auto launch = [&](sim::SimStream& stream, const Kernel& kernel) {
    if (stream.device().number() == 0) return stream.SimStream::launch(kernel);
    elsewhere.push_back(stream.device().make_stream(StreamKind::nonblocking));
    static_cast<sim::SimStream&>(elsewhere.back().impl()).SimStream::launch(kernel);
  };
  sim::SimMachine machine = two_that({.launch = launch});
  expect_all(run_on_gpus(machine, {"overlap", "--size", "16M", "--strategy", "engines", "--split", "each"}),
             Status::failed, "wrong result", 1);
  elsewhere.clear();
}

}  // namespace

}  // namespace xferbench::test
