// Scenario latency on the simulated device: results, refusals, and detection of broken devices.
#include <map>
#include <set>

#include "scenarios/common/chase.hpp"
#include "scenarios/latency/operations.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

std::vector<PlannedCase> plan(const std::string& flags) { return cases_of_line("latency " + flags); }

/// Records the wait policies that are set.
class PolicyDevice : public DeviceOverride {
 public:
  PolicyDevice(sim::SimMachine& machine, std::vector<WaitPolicy>* policies, const Override& how)
      : DeviceOverride(machine, how), policies_(policies) {}
  void set_wait_policy(WaitPolicy policy) override { policies_->push_back(policy); }

 private:
  std::vector<WaitPolicy>* policies_;
};

class LatencyOnSim : public testing::Test {
 protected:
  static Result run_one(const std::string& flags, const RunContext& bench) {
    return run_all(plan(flags), bench).front();
  }
  Result run_one(const std::string& flags) { return run_one(flags, quick_bench(device_)); }

  static void expect_failure(const Override& how, const std::string& flags, const std::string& reason) {
    sim::SimMachine machine = machine_that(how);
    const Result r = run_one(flags, quick_bench(machine.device()));
    EXPECT_EQ(r.status, Status::failed) << r.config.key();
    EXPECT_NE(r.reason.find(reason), std::string::npos) << r.config.key() << ": " << r.reason;
  }

  static const Measurement& measured(const Result& r, const char* name) {
    const Measurement* found = r.measurement(name);
    if (found == nullptr) throw std::runtime_error(r.config.key() + " did not measure " + name + ": " + r.reason);
    return *found;
  }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
};

TEST_F(LatencyOnSim, EveryModelledCaseVerifiesAndHasTheMainMeasurement) {
  for (const char* flags : {"--op copy --size 1,8,4097,64K --host pinned,pageable", "--op launch,event-wait",
                            "--op graph", "--op wait --schedule spin"}) {
    for (const Result& r : run_all(plan(flags), quick_bench(device_))) {
      EXPECT_EQ(r.status, Status::ok) << r.config.key() << ": " << r.reason;
      EXPECT_GT(r.median("latency"), 0) << r.config.key();
      EXPECT_FALSE(measured(r, "latency").auxiliary) << r.config.key();
      for (const Measurement& m : r.measurements) EXPECT_EQ(m.unit, "s") << r.config.key() << " " << m.name;
    }
  }
}

TEST_F(LatencyOnSim, WhatIsNotModelledIsSkippedWithTheReason) {
  const std::map<std::string, std::string> reasons{
      {"--op chase", "does not model memory latency"},
      {"--op wait --method stream,event --schedule yield,blocking", "supports only spin"}};
  for (const auto& [flags, reason] : reasons) {
    for (const Result& r : run_all(plan(flags), quick_bench(device_))) {
      EXPECT_EQ(r.status, Status::skipped) << r.config.key();
      EXPECT_NE(r.reason.find(reason), std::string::npos) << r.config.key() << ": " << r.reason;
    }
  }
}

TEST_F(LatencyOnSim, NoCaseHasAnAxisThatMeansNothingToIt) {
  std::set<std::string> keys;
  for (const PlannedCase& c : plan("")) keys.insert(c.config.key());
  EXPECT_TRUE(keys.contains("latency/op=launch"));
  EXPECT_TRUE(keys.contains("latency/op=event-wait"));
  EXPECT_TRUE(keys.contains("latency/op=wait/method=query")) << "a poll has no schedule";
  EXPECT_TRUE(keys.contains("latency/op=wait/method=event/schedule=blocking"));
  EXPECT_TRUE(keys.contains("latency/op=chase/memory=host"));
  EXPECT_TRUE(keys.contains("latency/op=copy/dir=d2h/size=8B"));
  EXPECT_EQ(keys.size(), 6U + 1 + 3 + 7 + 1 + 2);
}

TEST_F(LatencyOnSim, ThereAreEnoughSamplesForPercentilesUnlessFewerAreWanted) {
  RunContext bench = quick_bench(device_);
  bench.policy = SamplingPolicy{};
  const Result many = run_one("--op launch", bench);
  EXPECT_EQ(measured(many, "latency").samples.size(), 1000U);
  EXPECT_TRUE(measured(many, "latency").p99.has_value());
  EXPECT_TRUE(measured(many, "start").p99.has_value());
  bench.policy.max_samples = 50;
  const Result few = run_one("--op launch", bench);
  EXPECT_EQ(measured(few, "latency").samples.size(), 50U);
  EXPECT_TRUE(measured(few, "latency").p90.has_value());
  EXPECT_FALSE(measured(few, "latency").p99.has_value());
}

TEST_F(LatencyOnSim, LaunchesTakeWhatTheProfileSays) {
  const auto& p = profile("h200");
  const Result r = run_one("--op launch");
  EXPECT_NEAR(r.value("call"), p.launch_call, 1e-9);
  EXPECT_NEAR(r.value("start"), p.launch_call + p.stamp_cost, 2e-9);
  EXPECT_NEAR(r.median("latency"), p.launch_call + p.kernel_overhead + p.wake_up, 1e-9);
  EXPECT_EQ(measured(r, "start").clock, Clock::device);
}

TEST_F(LatencyOnSim, GraphsTakeWhatTheProfileSays) {
  const auto& p = profile("h200");
  for (const int nodes : {1, 10, 100}) {
    const Result r = run_one("--op graph --nodes " + std::to_string(nodes));
    EXPECT_NEAR(r.value("call"), p.graph_call, 1e-9);
    EXPECT_NEAR(r.median("latency"), p.graph_call + p.graph_start + nodes * p.graph_node + p.wake_up, 2e-9);
  }
}

TEST_F(LatencyOnSim, WaitsTakeWhatTheProfileSays) {
  const auto& p = profile("h200");
  const Result stream = run_one("--op wait --method stream --schedule spin");
  EXPECT_NEAR(stream.median("latency"), p.wake_up, 2e-9);
  EXPECT_EQ(measured(stream, "latency").clock, Clock::device);
  EXPECT_EQ(measured(stream, "cpu").clock, Clock::cpu);
  EXPECT_GT(stream.value("waited"), 90e-6) << "the kernel still runs when the wait begins";
  EXPECT_NEAR(stream.value("cpu_share"), 1, 1e-6) << "the simulated host spins";
  const Result event = run_one("--op wait --method event --schedule spin");
  EXPECT_NEAR(event.median("latency"), p.order_cost + p.wake_up, 2e-9);
  const Result query = run_one("--op wait --method query");
  EXPECT_LT(query.median("latency"), p.order_cost + 2 * p.query_call);
}

TEST_F(LatencyOnSim, AnotherStreamIsSlowerThanTheSame) {
  const auto& p = profile("h200");
  const Result r = run_one("--op event-wait");
  EXPECT_NEAR(r.value("one_stream"), p.stamp_cost, 2e-9);
  EXPECT_NEAR(r.median("latency"), p.stamp_cost + p.order_cost, 2e-9);
}

TEST_F(LatencyOnSim, BrokenDevicesFailTheCase) {
  const auto flip_the_last_byte = [](sim::SimStream& stream, const Copy& c) {
    stream.SimStream::copy(c);
    stream.device().synchronize();
    if (c.direction == Direction::h2d) c.destination[c.bytes - 1] ^= std::byte{1};
  };
  expect_failure({.copy = flip_the_last_byte}, "--op copy --dir h2d --size 8", "byte offset 7");
  const auto lose_every_fifth = [launched = 0](sim::SimStream& stream, const Kernel& kernel) mutable {
    if (++launched % 5 != 0) stream.SimStream::launch(kernel);
  };
  expect_failure({.launch = lose_every_fifth}, "--op launch", "launch: expected 16 kernels to run, but 13 did");
  expect_failure({.launch = lose_every_fifth}, "--op graph --nodes 10", "graph: expected 30 kernels to run, but 24");
  expect_failure({.wait = [](sim::SimStream&, EventImpl&) {}}, "--op event-wait",
                 "started before the event that it waits for");
  expect_failure({.synchronize = [](sim::SimStream&) {}}, "--op wait --method stream --schedule spin",
                 "returned before the kernel had run");
}

TEST_F(LatencyOnSim, AHostThatSubmitsTooLateIsNotTimed) {
  // The GPU is idle before the host submits the measured work, so the time would be the host's.
  sim::SimMachine early = machine_that({.stamp = [](sim::SimStream& stream, std::uint64_t* slot) {
    stream.SimStream::stamp(slot);
    stream.device().synchronize();
  }});
  for (const char* op : {"wait", "event-wait"}) {
    const Result r = run_all(plan(std::string("--op ") + op), quick_bench(early.device())).front();
    EXPECT_EQ(r.status, Status::failed) << op;
    EXPECT_NE(r.reason.find("too busy"), std::string::npos) << r.reason;
  }
}

TEST_F(LatencyOnSim, TheWaitPolicyIsRestoredWhateverHappens) {
  const std::string wait = "--op wait --method event --schedule spin";
  const Override forgets_stamps{.stamp = [](sim::SimStream&, std::uint64_t*) {}};
  for (const bool broken : {false, true}) {
    std::vector<WaitPolicy> policies;
    sim::SimMachine machine = machine_with<PolicyDevice>(&policies, broken ? forgets_stamps : Override{});
    const Result r = run_one(wait, quick_bench(machine.device()));
    EXPECT_EQ(r.status, broken ? Status::failed : Status::ok) << r.reason;
    EXPECT_EQ(r.reason.find("had run") != std::string::npos, broken) << r.reason;
    EXPECT_EQ(policies, (std::vector{WaitPolicy::spin, WaitPolicy::automatic}));
  }
}

TEST_F(LatencyOnSim, AChaseEndsWhereItShouldAndALostPointerIsSeen) {
  for (const ChaseMemory where : {ChaseMemory::device, ChaseMemory::host}) {
    PointerChase chase(device_, where, 1 * MiB, 3);
    for (int i = 0; i < 40; ++i) EXPECT_NO_THROW(chase.pass());  // more than one full cycle
    // The next pass starts where this one ended: make that place point to itself.
    auto* end = const_cast<kernels::ChaseLine*>(chase.pass().last);
    end->next = end;
    EXPECT_THROW(chase.pass(), VerificationError);
  }
}

// --- Findings --------------------------------------------------------------------------------------------------------

/// Made-up results with medians of "latency" and "cpu". Intervals are relative.
class LatencyFindings : public testing::Test {
 protected:
  void add(const std::string& flags, double latency, double other, const char* other_name) {
    const auto cases = plan(flags);
    scenario_ = cases.front().scenario;
    Result& r = results_.emplace_back(cases.front().config);
    for (const auto& [name, median] : {std::pair{"latency", latency}, std::pair{other_name, other}}) {
      Measurement m;
      m.name = name;
      m.samples = {median};
      m.median = median;
      m.ci95 = Interval{(1 - doubt_) * median, (1 + doubt_) * median};
      r.measurements.push_back(m);
    }
  }

  [[nodiscard]] std::optional<Finding> conclude(std::string_view kind) const {
    std::vector<const Result*> pointers;
    for (const Result& r : results_) pointers.push_back(&r);
    for (const Finding& f : scenario_->conclude(pointers)) {
      if (f.kind == kind) return f;
    }
    return std::nullopt;
  }

  double doubt_ = 0.001;

 private:
  std::vector<Result> results_;
  const Scenario* scenario_ = nullptr;
};

TEST_F(LatencyFindings, BlockingIsComparedWithSpinning) {
  add("--op wait --method event --schedule spin", 4e-6, 100e-6, "cpu");
  EXPECT_FALSE(conclude("waiting").has_value()) << "nothing to compare with";
  add("--op wait --method event --schedule blocking", 12e-6, 5e-6, "cpu");
  const auto found = conclude("waiting");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->text,
            "waiting for an event: blocking returns 3.0 times as late as spinning (12.00 us, 4.000 us) and uses "
            "5.0 % of the CPU time of spinning");
}

TEST_F(LatencyFindings, AFurtherNodeCostsTheSlopeBetweenGraphs) {
  add("--op graph --nodes 1", 10e-6, 3e-6, "call");
  EXPECT_FALSE(conclude("per-node").has_value()) << "one size has no slope";
  add("--op graph --nodes 101", 110e-6, 9e-6, "call");
  const auto found = conclude("per-node");
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->metrics.front().value, 1e-6, 1e-12);
  // The errors of 0.1 % of 110 us and of 10 us combine to 110.5 ns, over 100 nodes.
  EXPECT_EQ(found->text, "graph: each further kernel adds 1.000 us (998.9 ns to 1.001 us)");
}

TEST_F(LatencyFindings, NothingIsSaidOfAFurtherNodeOrOfBlockingThatIntervalsDoNotSay) {
  doubt_ = 0.3;
  add("--op graph --nodes 1", 10e-6, 3e-6, "call");
  add("--op graph --nodes 3", 12e-6, 9e-6, "call");
  EXPECT_EQ(conclude("per-node")->text,
            "graph: cost of each further kernel not decided: the largest graph is not significantly slower than the "
            "smallest");
  add("--op wait --method stream --schedule spin", 4e-6, 6e-6, "cpu");
  add("--op wait --method stream --schedule blocking", 6e-6, 5e-6, "cpu");
  EXPECT_EQ(conclude("waiting")->text,
            "waiting for a stream: blocking returns not significantly later than spinning (6.000 us, 4.000 us) and "
            "does not use significantly less CPU time");
}

}  // namespace

}  // namespace xferbench::test
