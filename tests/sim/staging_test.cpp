// staging: pinned slots are not used again before the link is done with them, and more threads carry more.
#include "parsing.hpp"
#include "scenarios/scenarios.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

Result run_one(Device& device, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "staging");
  return run_all(test::cases_of(arguments), quick_bench(device)).front();
}

double metric(const Result& r, const char* name) {
  EXPECT_EQ(r.status, Status::ok) << r.reason;
  const Metric* m = r.metric(name);
  return m == nullptr ? 0 : m->value;
}

class StagingTest : public testing::Test {
 protected:
  Result run(const std::vector<std::string>& arguments) { return run_one(device_, arguments); }
  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
};

TEST_F(StagingTest, DirectIsTheProfilesPageableCopy) {
  const Result r = run({"--method", "direct", "--dir", "h2d", "--size", "64M"});
  EXPECT_NEAR(metric(r, "bandwidth"), 8.9, 0.1);
  EXPECT_EQ(metric(r, "speedup"), 1);
}

TEST_F(StagingTest, RegisteringCopiesAtTheRateOfPinnedMemoryAndPaysForIt) {
  const auto& p = profile("h200");
  const Result r = run({"--method", "register", "--dir", "h2d", "--size", "64M"});
  const double bytes = 64e0 * 1024 * 1024;
  const double expected = bytes / p.register_rate + bytes / p.h2d_rate + bytes / p.unregister_rate;
  EXPECT_NEAR(bytes / metric(r, "bandwidth") / 1e9, expected, 0.02 * expected);
  EXPECT_NEAR(r.measurement("register")->median, p.register_call + bytes / p.register_rate, 1e-6);
}

class StagingBothWays : public StagingTest, public testing::WithParamInterface<const char*> {};

TEST_P(StagingBothWays, ThreadsCarryMoreUntilTheLinkIsFull) {
  const auto rate = [&](const char* threads) {
    return metric(run({"--method", "threads", "--dir", GetParam(), "--size", "128M", "--threads", threads}),
                  "bandwidth");
  };
  const double one = rate("1");
  EXPECT_NEAR(one, 10, 1);  // the host's own copy sets the pace
  EXPECT_NEAR(rate("3"), 3 * one, 0.3 * one);
  const double eight = rate("8");
  EXPECT_GT(eight, 42);
  EXPECT_LT(eight, 55.5);
}

TEST_P(StagingBothWays, ASlotUsedAgainTooEarlyIsCaughtAsWrongData) {
  const std::vector<std::string> command{"--method",  "threads", "--dir",  GetParam(), "--size",  "16M",
                                         "--threads", "12",      "--slot", "1M",       "--slots", "1"};
  EXPECT_EQ(run(command).status, Status::ok);
  sim::SimMachine hasty = machine_that({.synchronize_event = [] {}});
  const Result r = run_one(hasty.device(), command);
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_NE(r.reason.find("wrong result"), std::string::npos) << r.reason;
}

INSTANTIATE_TEST_SUITE_P(Direction, StagingBothWays, testing::Values("h2d", "d2h"),
                         [](const auto& tested) { return tested.param; });

TEST_F(StagingTest, OddSizesAndSlotsVerify) {
  const std::vector<std::vector<std::string>> commands{
      {"staging", "--method", "threads", "--size", "1,4095,1048580", "--threads", "1,3", "--slot", "4K", "--slots",
       "1,2"},
      {"staging", "--method", "threads", "--size", "1,38797324", "--threads", "3,20", "--slots", "1,2"}};
  for (const auto& command : commands) {
    for (const Result& r : run_all(test::cases_of(command), quick_bench(device_))) {
      EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
    }
  }
}

TEST_F(StagingTest, TellsTheFastestMethodOfEachSize) {
  const auto cases = test::cases_of({"staging", "--size", "64K,64M", "--dir", "h2d", "--threads", "8"});
  const auto results = run_all(cases, quick_bench(device_));
  std::vector<const Result*> pointers;
  for (const Result& r : results) pointers.push_back(&r);
  const auto findings = cases.front().scenario->conclude(pointers);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].labels.at(3).second, "direct") << "small copies are not worth any trouble";
  EXPECT_EQ(findings[1].labels.at(3).second, "8 threads, 3 slots of 2 MiB");
}

}  // namespace

}  // namespace xferbench::test
