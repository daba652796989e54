// Every scenario's logic, on the simulated device.
#include "scenarios/scenarios.hpp"

#include "core/units.hpp"
#include "parsing.hpp"
#include "report/run/run_report.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

std::vector<PlannedCase> plan(const std::vector<std::string>& arguments) { return test::cases_of(arguments); }

/// Flips one bit of the n-th byte whenever a copy in that direction ends: what a broken link would do.
Otherwise corrupting(Direction direction, std::size_t offset) {
  return {.copy = [direction, offset](sim::SimStream& stream, const Copy& c) {
    stream.SimStream::copy(c);
    if (c.direction != direction || c.bytes <= offset) return;
    stream.device().synchronize();
    c.destination[offset] ^= std::byte{0x10};
  }};
}

/// Forgets to make streams wait: the mistake that the simulated device exists to catch.
void launch_elsewhere(sim::SimStream& stream, const Kernel& kernel) {
  const Stream elsewhere = stream.device().make_stream(StreamKind::nonblocking);
  static_cast<sim::SimStream&>(elsewhere.impl()).SimStream::launch(kernel);
}

/// Right while the host submits piece by piece, wrong when everything is queued behind a gate.
class WrongBehindAGate {
 public:
  [[nodiscard]] Otherwise how() {
    return {.copy =
                [this](sim::SimStream& stream, Copy c) {
                  if (held_ && !held_->done() && c.bytes > 1) --c.bytes;
                  stream.SimStream::copy(c);
                },
            .hold = [this](sim::SimStream& stream, double seconds) { return held_ = stream.SimStream::hold(seconds); }};
  }

 private:
  sim::OperationPtr held_;
};

class ScenariosOnSim : public testing::Test {
 protected:
  Result run_one(const std::vector<std::string>& arguments, Device& device) {
    return run_all(plan(arguments), quick_bench(device)).front();
  }
  Result run_one(const std::vector<std::string>& arguments) { return run_one(arguments, device_); }

  static double metric(const Result& r, const char* name) {
    const Metric* found = r.metric(name);
    if (found == nullptr) throw std::runtime_error(r.config.key() + " has no " + name + ": " + r.reason);
    return found->value;
  }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
};

TEST_F(ScenariosOnSim, AllCasesOfAllScenariosVerify) {
  const std::vector<std::vector<std::string>> commands{
      {"memcpy", "--size", "1,3,4097,1M"},
      {"memcpy", "--size", "1,4095,1M", "--dir", "h2d,d2h,bidirectional", "--host",
       "pageable,pageable-small,pageable-huge,pinned,portable,mapped,write-combined,registered,registered-huge"},
      {"memcpy", "--size", "1,4095,1M", "--dir", "h2d,d2h", "--host", "pinned,mapped", "--engine", "sm"},
      {"memcpy", "--size", "1,4095,1M", "--dir", "h2d,d2h,bidirectional", "--api", "sync"},
      {"overlap", "--size", "1M", "--streams", "1,3", "--chunks", "1,7", "--kernel", "fma,vector-add,sincos", "--issue",
       "depth,breadth", "--stream-kind", "nonblocking,blocking,default"},
      {"overlap", "--size", "4,28", "--chunks", "1"},
      {"overlap", "--size", "1M", "--chunks", "500", "--streams", "40"},
  };
  for (const auto& command : commands) {
    for (const Result& r : run_all(plan(command), quick_bench(device_))) {
      EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
    }
  }
}

TEST_F(ScenariosOnSim, WhatIsNotModelledIsSkippedWithTheReason) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> commands{
      {{"memcpy", "--dir", "h2d,d2h,bidirectional", "--host", "managed,managed-faults"}, "page faults"},
      {{"memcpy", "--dir", "h2d", "--touch", "cold,warm"}, "no caches"},
      {{"memcpy", "--dir", "h2d", "--host", "pageable", "--engine", "sm"}, "cannot reach ordinary host memory"},
      {{"memcpy", "--dir", "bidirectional", "--host", "pinned", "--engine", "sm"}, "one kernel at a time"},
      {{"smem", "--size", "1M"}, "cannot say which instructions copy faster"},
  };
  for (const auto& [command, reason] : commands) {
    for (const Result& r : run_all(plan(command), quick_bench(device_))) {
      EXPECT_EQ(r.status, Status::skipped) << r.config.key();
      EXPECT_NE(r.reason.find(reason), std::string::npos) << r.config.key() << ": " << r.reason;
    }
  }
}

TEST_F(ScenariosOnSim, AnIllegalCombinationThatWasAskedForIsSkippedWithTheRule) {
  const auto cases = plan({"smem", "--size", "1M", "--method", "sync", "--stages", "4", "--schedule", "dynamic"});
  const auto results = run_all(cases, quick_bench(device_));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].status, Status::skipped);
  EXPECT_EQ(results[0].reason, "sync has no second tile in shared memory; choose --stages 1");
}

TEST_F(ScenariosOnSim, PinningInPlaceIsPartOfAResultForRegisteredMemory) {
  const Result r = run_one({"memcpy", "--dir", "h2d", "--host", "registered", "--size", "64M"});
  const auto& p = profile("h200");
  const double calls = p.register_call + p.unregister_call;
  EXPECT_NEAR(metric(r, "pinning"), calls + 64e0 * MiB / p.register_rate + 64e0 * MiB / p.unregister_rate, 1e-6);
}

TEST_F(ScenariosOnSim, UnevenChunksVerify) {
  const Result r = run_one({"--size", "38797324", "--chunks", "7", "--streams", "3"});
  EXPECT_EQ(r.status, Status::ok) << r.reason;
}

TEST_F(ScenariosOnSim, MemcpyReportsTheProfilesRates) {
  EXPECT_NEAR(metric(run_one({"memcpy", "--dir", "h2d", "--host", "pinned"}), "bandwidth"), 55.5, 0.2);
  EXPECT_NEAR(metric(run_one({"memcpy", "--dir", "d2h", "--host", "pinned"}), "bandwidth"), 55.4, 0.2);
  EXPECT_NEAR(metric(run_one({"memcpy", "--dir", "h2d", "--host", "pageable"}), "bandwidth"), 8.9, 0.1);
  EXPECT_NEAR(metric(run_one({"memcpy", "--dir", "d2h", "--host", "pageable"}), "bandwidth"), 18.1, 0.1);
}

TEST_F(ScenariosOnSim, BidirectionalIsTheSumWithEachDirectionBesideIt) {
  const Result r = run_one({"memcpy", "--dir", "bidirectional", "--host", "pinned"});
  EXPECT_NEAR(metric(r, "bandwidth"), 101.4, 1);
  // H2D suffers less, and is beside the other all the time; D2H ends alone.
  EXPECT_NEAR(metric(r, "h2d_bandwidth"), profile("h200").h2d_rate * profile("h200").h2d_duplex_rate / 1e9, 0.2);
  EXPECT_NEAR(metric(r, "d2h_bandwidth"), 50.7, 0.5);
}

TEST_F(ScenariosOnSim, CopiesInsideTheGpuCountTheirTrafficTwice) {
  const Result r = run_one({"memcpy", "--dir", "d2d"});
  EXPECT_DOUBLE_EQ(metric(r, "memory_traffic"), 2 * metric(r, "bandwidth"));
  EXPECT_NEAR(metric(r, "limit"), 4814.0 / 2, 1);
}

TEST_F(ScenariosOnSim, CopiesThatFitTheCacheHaveNoMemoryLimit) {
  const Result r = run_one({"memcpy", "--dir", "d2d", "--size", "1M"});
  EXPECT_EQ(r.metric("limit"), nullptr);
  ASSERT_FALSE(r.warnings.empty());
  EXPECT_NE(r.warnings.front().find("L2"), std::string::npos);
}

TEST_F(ScenariosOnSim, PageableCopiesBlockTheHost) {
  const Result r = run_one({"memcpy", "--dir", "h2d", "--host", "pageable", "--size", "16M"});
  EXPECT_GT(metric(r, "host_blocked"), 0.9 * r.measurement("copy")->median);
  EXPECT_EQ(r.measurement("copy")->clock, Clock::event);
}

TEST_F(ScenariosOnSim, OverlapMetricsFollowFromItsMeasurements) {
  const Result r = run_one({"--size", "256M", "--streams", "3", "--chunks", "32"});
  const auto median = [&r](const char* name) { return r.measurement(name)->median; };
  const double makespan = median("pipeline");
  const double bound = std::max(median("kernel"), median("both"));
  EXPECT_NEAR(metric(r, "bound"), bound, 1e-9);
  EXPECT_DOUBLE_EQ(metric(r, "makespan"), makespan);
  EXPECT_NEAR(metric(r, "efficiency"), bound / makespan, 1e-9);
  EXPECT_NEAR(metric(r, "speedup"), median("serial") / makespan, 1e-9);
  EXPECT_NEAR(metric(r, "hidden_fraction"), (median("serial") - makespan) / (median("serial") - bound), 1e-9);
  EXPECT_NEAR(metric(r, "bandwidth"), 2 * 268.435456e6 / makespan / 1e9, 1e-6);
  EXPECT_NEAR(metric(r, "duplex_ratio"), 0.915, 0.005);
  // What one H200 gives: 5.28 ms for both copies together.
  EXPECT_NEAR(bound, 5.28e-3, 0.0528e-3);
}

TEST_F(ScenariosOnSim, OverlapHidesTransfersAndOneStreamDoesNot) {
  EXPECT_GT(metric(run_one({"--streams", "3", "--chunks", "32"}), "efficiency"), 0.9);
  EXPECT_LT(metric(run_one({"--streams", "1", "--chunks", "32"}), "speedup"), 1.05);
  EXPECT_LT(metric(run_one({"--streams", "8", "--stream-kind", "default"}), "speedup"), 1.05);
}

TEST_F(ScenariosOnSim, WithOneCopyEngineTheBoundIsBothCopiesInTurn) {
  sim::SimMachine one(profile("h200-one-engine"));
  const Result r = run_one({"--streams", "4"}, one.device());
  EXPECT_NEAR(metric(r, "bound"), r.measurement("h2d")->median + r.measurement("d2h")->median, 1e-9);
  EXPECT_LE(metric(r, "efficiency"), 1.001);
}

TEST_F(ScenariosOnSim, BalanceMakesTheKernelAsLongAsAsked) {
  for (const char* kernel : {"fma", "vector-add", "sincos"}) {
    for (const char* balance : {"0.5", "1", "4"}) {
      const Result r = run_one({"--balance", balance, "--kernel", kernel, "--size", "64M"});
      EXPECT_NEAR(metric(r, "kernel_to_h2d") / std::stod(balance), 1, 0.02) << kernel << " " << balance;
      EXPECT_GE(metric(r, "work"), 1) << kernel;
    }
  }
}

TEST_F(ScenariosOnSim, ABalanceThatCannotBeReachedIsSaid) {
  const Result r = run_one({"--balance", "0.001", "--size", "64M"});
  EXPECT_EQ(r.status, Status::ok);
  EXPECT_EQ(metric(r, "work"), 1);
  ASSERT_FALSE(r.warnings.empty());
  EXPECT_NE(r.warnings.front().find("balance"), std::string::npos);
}

TEST_F(ScenariosOnSim, ManyChunksAreTimedWithoutAGate) {
  EXPECT_EQ(run_one({"--size", "16M", "--chunks", "32"}).measurement("pipeline")->clock, Clock::event_gated);
  EXPECT_EQ(run_one({"--size", "16M", "--chunks", "128"}).measurement("pipeline")->clock, Clock::event_gated)
      << "96 operations in each of 4 streams";
  EXPECT_EQ(run_one({"--size", "16M", "--chunks", "128", "--streams", "1"}).measurement("pipeline")->clock,
            Clock::event_gated)
      << "384 in one";
  EXPECT_EQ(run_one({"--size", "16M", "--chunks", "256", "--streams", "1"}).measurement("pipeline")->clock,
            Clock::event);
}

TEST_F(ScenariosOnSim, AWrongByteFailsTheCaseWithOffsetAndBothValues) {
  sim::SimMachine machine = machine_that(corrupting(Direction::h2d, 4100));
  Device& device = machine.device();
  const Result copy = run_one({"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "64K"}, device);
  EXPECT_EQ(copy.status, Status::failed);
  EXPECT_NE(copy.reason.find("H2D copy: wrong result at byte offset 4100: expected 0x"), std::string::npos)
      << copy.reason;
  const Result pipeline = run_one({"overlap", "--size", "64K", "--chunks", "2"}, device);
  EXPECT_EQ(pipeline.status, Status::failed);
  EXPECT_NE(pipeline.reason.find("byte offset 4100"), std::string::npos) << pipeline.reason;
}

TEST_F(ScenariosOnSim, AWrongByteFailsOnlyItsOwnCase) {
  // Only copies larger than that are hit.
  sim::SimMachine machine = machine_that(corrupting(Direction::d2h, 100'000));
  const auto cases = plan({"memcpy", "--dir", "d2h", "--host", "pinned", "--size", "64K,256K,64K"});
  const auto more = plan({"memcpy", "--dir", "d2h", "--host", "pinned", "--size", "32K"});
  std::vector<PlannedCase> all = cases;
  all.insert(all.end(), more.begin(), more.end());
  const auto results = run_all(all, quick_bench(machine.device()));
  EXPECT_EQ(results[0].status, Status::ok) << results[0].reason;
  EXPECT_EQ(results[1].status, Status::failed);
  EXPECT_EQ(results[2].status, Status::ok) << results[2].reason;
}

TEST_F(ScenariosOnSim, AMissingWaitIsCaughtAsWrongData) {
  sim::SimMachine hasty = machine_that({.launch = launch_elsewhere});
  const Result r = run_one({"overlap", "--size", "1M", "--chunks", "4"}, hasty.device());
  EXPECT_EQ(r.status, Status::failed);
  EXPECT_NE(r.reason.find("wrong result"), std::string::npos) << r.reason;
}

TEST_F(ScenariosOnSim, AnErrorThatShowsOnlyAtFullSpeedIsCaught) {
  WrongBehindAGate wrong;
  sim::SimMachine machine = machine_that(wrong.how());
  Device& device = machine.device();
  const Result copy = run_one({"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "64K"}, device);
  EXPECT_EQ(copy.status, Status::failed);
  EXPECT_NE(copy.reason.find("byte offset 65535"), std::string::npos) << copy.reason;
  const Result pipeline = run_one({"overlap", "--size", "64K", "--chunks", "2"}, device);
  EXPECT_EQ(pipeline.status, Status::failed);
  EXPECT_NE(pipeline.reason.find("pipeline at full speed"), std::string::npos) << pipeline.reason;
  // What was measured before is kept, for finding out.
  EXPECT_NE(pipeline.measurement("pipeline"), nullptr);
}

TEST_F(ScenariosOnSim, ASweepThatChangesItsClockShowsIt) {
  const auto cases = plan({"--size", "16M", "--chunks", "32,1024"});
  Report report;
  report.environment = device_.capabilities().environment;
  report.results = run_all(cases, quick_bench(device_));
  const std::array views{&cases[0].scenario->descriptor()};
  EXPECT_NE(to_table(report, views, Style{}).find("event-gated"), std::string::npos);
  // One clock for all is no news.
  report.results[1] = report.results[0];
  report.results[1].config = cases[1].config;
  EXPECT_EQ(to_table(report, views, Style{}).find("event-gated"), std::string::npos);
}

TEST_F(ScenariosOnSim, WithoutVerificationNoDataIsTouchedAndTimesAreTheSame) {
  const auto cases = plan({"--size", "8M"});
  RunContext bench = quick_bench(device_);
  const double verified = metric(run_all(cases, bench).front(), "makespan");
  bench.verify = false;
  EXPECT_NEAR(metric(run_all(cases, bench).front(), "makespan"), verified, 1e-6);
}

}  // namespace

}  // namespace xferbench::test
