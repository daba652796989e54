// The runner: a failed case does not affect the others.

#include "device/host.hpp"
#include "run/health.hpp"
#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// A scenario whose body is given by the test.
class Scripted final : public Scenario {
 public:
  explicit Scripted(std::function<void(const RunContext&, Result&)> body) : body_(std::move(body)) {}
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override {
    static const ScenarioDescriptor scripted{.name = "scripted", .summary = "", .axes = {}, .metrics = {}};
    return scripted;
  }
  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case&, const Capabilities* can) const override {
    return can == nullptr ? anywhere_ : here_;
  }
  [[nodiscard]] MemoryNeeds needs(const Case&) const override { return needs_; }
  void run(const Case&, const RunContext& bench, Result& result) const override { body_(bench, result); }

  std::optional<SkipReason> anywhere_;
  std::optional<SkipReason> here_;
  MemoryNeeds needs_;

 private:
  std::function<void(const RunContext&, Result&)> body_;
};

class RunnerTest : public testing::Test {
 protected:
  std::vector<Result> run(std::vector<const Scenario*> list, const RunObserver& observer = {}, std::size_t turns = 1) {
    std::vector<PlannedCase> cases;
    for (const Scenario* s : list) cases.push_back({s, Case(s->descriptor().name)});
    RunContext bench = quick_bench(device_);
    bench.policy.min_samples = bench.policy.max_samples *= turns;
    return run_cases(cases, bench, observer, turns);
  }

  bool lost_ = false;
  sim::SimMachine machine_ = machine_with<FragileDevice>(&lost_);
  Device& device_ = machine_.device();
  Scripted fine_{[](const RunContext&, Result& r) { r.add("answer", 42, "1"); }};
};

TEST_F(RunnerTest, EveryKindOfFailureIsReportedAndTheNextCaseRuns) {
  const Scripted device_error(
      [](const RunContext&, Result&) { throw DeviceError("cudaMalloc (1 TiB)", "out of memory"); });
  const Scripted wrong_byte(
      [](const RunContext&, Result&) { throw VerificationError("wrong result at byte offset 7"); });
  const Scripted bad_gate([](const RunContext&, Result&) { throw MeasurementError("timing copy: the gate"); });
  const Scripted no_memory([](const RunContext&, Result&) { throw std::bad_alloc(); });
  const auto results = run({&device_error, &wrong_byte, &bad_gate, &no_memory, &fine_});
  EXPECT_EQ(results[0].reason, "cudaMalloc (1 TiB): out of memory");
  EXPECT_EQ(results[1].reason, "wrong result at byte offset 7");
  EXPECT_EQ(results[2].reason, "timing copy: the gate");
  EXPECT_NE(results[3].reason.find("out of memory"), std::string::npos);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i].status, Status::failed);
  EXPECT_EQ(results[4].status, Status::ok);
  EXPECT_EQ(results[4].metric("answer")->value, 42);
}

TEST_F(RunnerTest, WhatWasMeasuredBeforeAnErrorIsKept) {
  const Scripted late([](const RunContext&, Result& r) {
    r.add("before", 1, "1");
    throw DeviceError("cudaMemcpyAsync", "failed");
  });
  EXPECT_NE(run({&late})[0].metric("before"), nullptr);
}

TEST_F(RunnerTest, AfterALostContextCasesAreSkippedWithTheReason) {
  const Scripted breaks([this](const RunContext&, Result&) {
    lost_ = true;
    throw DeviceError("cudaStreamSynchronize", "an illegal memory access was encountered");
  });
  const auto results = run({&fine_, &breaks, &fine_});
  EXPECT_EQ(results[0].status, Status::ok);
  EXPECT_EQ(results[1].status, Status::failed);
  EXPECT_EQ(results[2].status, Status::skipped);
  EXPECT_NE(results[2].reason.find("context"), std::string::npos);
}

TEST_F(RunnerTest, CasesThatNoDeviceOrNotThisOneCanRunAreSkippedBeforeTheyRun) {
  Scripted impossible([](const RunContext&, Result&) { throw std::logic_error("must not run"); });
  impossible.anywhere_ = SkipReason::impossible("more chunks than elements");
  Scripted unavailable([](const RunContext&, Result&) { throw std::logic_error("must not run"); });
  unavailable.here_ = SkipReason::unavailable("needs two threads");
  const auto results = run({&impossible, &unavailable});
  EXPECT_EQ(results[0].status, Status::skipped);
  EXPECT_EQ(results[0].reason, "more chunks than elements");
  EXPECT_EQ(results[1].reason, "needs two threads");
}

TEST_F(RunnerTest, TooMuchMemoryIsRefusedWithBothNumbersBeforeAllocating) {
  Scripted greedy([](const RunContext&, Result&) { throw std::logic_error("must not run"); });
  const PlannedCase planned{&greedy, Case("scripted")};
  greedy.needs_ = {0, std::uint64_t{1} << 50};
  EXPECT_EQ(skip_reason(planned, machine_, true)->text,
            "needs 1024 TiB of device memory, 139.7 GiB available; choose a smaller --size");
  // The pool on the host may be what the user asks about: alloc pins one of any size.
  PlannedCase from_host = planned;
  from_host.config.set({.name = "host", .kind = AxisKind::text}, std::string("pinned"));
  EXPECT_NE(skip_reason(from_host, machine_, true)->text.find("alloc --memory register --chunk 8G"), std::string::npos);
  greedy.needs_ = {std::uint64_t{1} << 50, 0};
  EXPECT_EQ(skip_reason(planned, machine_, true)->text.find("needs 1024 TiB of host memory, "), 0U);
  {
    const MemoryFromNode from(0);
    const bool bound = available_bound_memory().has_value();
    EXPECT_EQ(skip_reason(planned, machine_, true)->text.find("--numa none") != std::string::npos, bound);
  }
  // Without verification the simulated device allocates no real memory.
  EXPECT_FALSE(skip_reason(planned, machine_, false));
}

TEST_F(RunnerTest, ObserversSeeEveryCase) {
  std::vector<std::size_t> announced;
  std::size_t seen = 0;
  run({&fine_, &fine_, &fine_},
      {.begin = [&](std::size_t i, std::size_t) { announced.push_back(i); },
       .done = [&](std::size_t, const Result& result) { seen += result.status == Status::ok ? 1 : 0; }});
  EXPECT_EQ(announced, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(seen, 3U);
}

TEST_F(RunnerTest, TurnsGoThroughAllCasesBeforeTheNext) {
  const Scripted sampled([](const RunContext& bench, Result& r) {
    const Stream stream = bench.device.make_stream(StreamKind::nonblocking);
    Region region;
    region.name = "nothing";
    region.streams = {stream};
    region.submit = [] {};
    r.measurements.push_back(bench.sample({region}).front().elapsed);
  });
  std::vector<std::pair<std::size_t, std::size_t>> order;
  std::vector<std::size_t> samples;
  std::vector<Stop> stops;
  const RunObserver observer{.begin = [&](std::size_t i, std::size_t turn) { order.emplace_back(turn, i); },
                             .done =
                                 [&](std::size_t, const Result& r) {
                                   samples.push_back(r.measurements.front().samples.size());
                                   stops.push_back(r.measurements.front().stop);
                                 }};
  const auto results = run({&sampled, &sampled}, observer, 2);
  EXPECT_EQ(order, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  EXPECT_EQ(samples, (std::vector<std::size_t>{6, 6, 12, 12}));
  EXPECT_EQ(stops[1], Stop::interrupted) << "another turn is to come";
  EXPECT_NE(stops[3], Stop::interrupted);
  EXPECT_EQ(results[1].measurements.front().samples.size(), 12U);
}

TEST_F(RunnerTest, ACaseThatFailedInOneTurnIsNotTriedInTheNext) {
  int runs = 0;
  const Scripted failing([&](const RunContext&, Result&) {
    ++runs;
    throw VerificationError("wrong");
  });
  EXPECT_EQ(run({&failing}, {}, 3).front().status, Status::failed);
  EXPECT_EQ(runs, 1);
}

TEST_F(RunnerTest, ALostContextLeavesWhatTheTurnsBeforeHaveSampled) {
  const Scripted losing([&](const RunContext&, Result& r) {
    r.add("answer", 42, "1");
    lost_ = true;
  });
  std::vector<std::size_t> warnings;
  const RunObserver observer{.begin = {},
                             .done = [&](std::size_t, const Result& r) { warnings.push_back(r.warnings.size()); }};
  const Result result = run({&losing}, observer, 3).front();
  EXPECT_EQ(warnings, (std::vector<std::size_t>{0, 1, 1})) << "files hear of it, too";
  EXPECT_EQ(result.status, Status::ok);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings.front().find("not all passes were run: an earlier error"), std::string::npos);
}

TEST_F(RunnerTest, FlagsBecomeWarningsThatSayWhatToDo) {
  const Scripted noisy([](const RunContext&, Result& r) {
    Measurement m;
    m.name = "copy";
    m.samples = {1.0};
    m.flags = {"drift"};
    r.measurements.push_back(m);
    m.name = "copy-submit";
    m.auxiliary = true;
    r.measurements.push_back(m);
  });
  const auto warnings = run({&noisy})[0].warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("drift (copy): "), std::string::npos);
  EXPECT_NE(warnings[0].find("--budget"), std::string::npos);
}

// --- Health ---------------------------------------------------------------------------------------------------------

using Xids = std::vector<std::uint64_t>;

std::vector<Result> run_while(std::vector<Health> states, const Scenario& scenario, std::size_t turns = 1) {
  InterceptedSim<FailingKernel> sim(std::make_unique<sim::SimMachine>(profile("h200")), std::move(states));
  const std::vector<PlannedCase> cases{{&scenario, Case("scripted")}};
  return run_cases(cases, quick_bench(sim.device()), {}, turns);
}

const Scripted& measuring() {
  static const Scripted scenario([](const RunContext&, Result& r) {
    Measurement m;
    m.name = "copy";
    m.samples = {1.0};
    r.measurements.push_back(m);
  });
  return scenario;
}

TEST(HealthOfACase, IsKeptAsItWasBeforeAndAfter) {
  const Health before{.ecc_corrected = 3, .pcie_replays = 7, .link_width = 16};
  const Health after{.ecc_corrected = 3, .pcie_replays = 7, .link_width = 16, .throttle = Words{"idle"}};
  const Result r = run_while({before, after}, measuring()).front();
  EXPECT_EQ(r.health, (HealthRecord{before, after}));
  EXPECT_EQ(r.measurements.front().flags, std::vector<std::string>());
  EXPECT_EQ(r.warnings, std::vector<std::string>());
}

TEST(HealthOfACase, IsAbsentWhereNothingIsKnown) {
  EXPECT_FALSE(run_while({Health{}}, measuring()).front().health);
  sim::SimMachine machine(profile("h200"));
  EXPECT_FALSE(run_on(machine.device(), {"memcpy", "--dir", "h2d", "--size", "64K"}).front().health);
}

TEST(HealthOfACase, ThatChangesIsAFlagAndAWarningWithAdvice) {
  const Health well{.ecc_corrected = 3, .ecc_uncorrected = 0, .pcie_replays = 7, .link_width = 16, .throttle = Words{}};
  const auto with = [&well](const auto& change) {
    Health health = well;
    change(health);
    return health;
  };
  const std::vector<std::pair<Health, std::string>> worse{
      {with([](Health& h) { h.ecc_corrected = 4; }), "ecc-errors"},
      {with([](Health& h) { h.ecc_uncorrected = 1; }), "ecc-errors"},
      {with([](Health& h) { h.pcie_replays = 8; }), "pcie-replays"},
      {with([](Health& h) { h.link_width = 8; }), "link-changed"},
      {with([](Health& h) { h.xids = Xids{79}; }), "xid"},
      {with([](Health& h) {
         h.throttle = Words{"idle", "power-cap"};
       }),
       "throttle-power-cap"},
      {with([](Health& h) { h.throttle = Words{"hw-slowdown"}; }), "throttle-hw-slowdown"},
      {with([](Health& h) { h.throttle = Words{"sw-thermal"}; }), "throttle-sw-thermal"},
      {with([](Health& h) { h.throttle = Words{"hw-thermal"}; }), "throttle-hw-thermal"},
      {with([](Health& h) { h.throttle = Words{"power-brake"}; }), "throttle-power-brake"},
  };
  for (const auto& [after, flag] : worse) {
    const Result r = run_while({well, after}, measuring()).front();
    EXPECT_EQ(r.measurements.front().flags, std::vector<std::string>{flag});
    ASSERT_EQ(r.warnings.size(), 1U) << flag;
    EXPECT_EQ(r.warnings.front().find(flag + ": "), 0U) << r.warnings.front();
    EXPECT_GT(r.warnings.front().size(), flag.size() + 20) << "with advice";
  }
}

TEST(HealthOfACase, IsNoChangeWhereOneSideIsNotKnown) {
  const Health known{.ecc_corrected = 3, .ecc_uncorrected = 1, .pcie_replays = 7, .link_width = 16};
  EXPECT_TRUE(health_changes({{}, known}).empty());
  EXPECT_TRUE(health_changes({known, {}}).empty());
  const Health begun_anew{.ecc_corrected = 0, .ecc_uncorrected = 0, .pcie_replays = 0, .link_width = 16};
  EXPECT_TRUE(health_changes({known, begun_anew}).empty());
}

/// The only change in the health record.
HealthChange only_change(const Health& before, const Health& after) {
  const auto changes = health_changes({before, after});
  EXPECT_EQ(changes.size(), 1U);
  return changes.empty() ? HealthChange{} : changes.front();
}

TEST(HealthOfACase, SaysInNumbersWhatChanged) {
  EXPECT_EQ(only_change({.pcie_replays = 7}, {.pcie_replays = 10}).sentence,
            "the link resent 3 packets during the case, which costs bandwidth; check the card's slot and riser");
  EXPECT_EQ(only_change({.link_width = 16}, {.link_width = 8}).sentence,
            "the link had 16 lanes before the case and 8 after it; check the card's slot and riser");
  EXPECT_EQ(
      only_change({.ecc_corrected = 1, .ecc_uncorrected = 1}, {.ecc_corrected = 2, .ecc_uncorrected = 3}).sentence,
      "GPU memory had 3 errors during the case, 2 of them uncorrected; check nvidia-smi -q -d ECC before you trust "
      "this GPU");
  const Health capped{.throttle = Words{"power-cap"}, .power = 698.4, .temperature = 61};
  EXPECT_EQ(only_change({.throttle = Words{}}, capped).sentence,
            "the power limit reduces the GPU's clocks at 698 W; check nvidia-smi -q -d POWER");
  EXPECT_FALSE(only_change({.throttle = Words{}}, capped).lasts);
  EXPECT_TRUE(only_change(capped, capped).lasts);
  const Health too_hot{.throttle = Words{"sw-thermal"}, .temperature = 85};
  EXPECT_EQ(only_change({}, too_hot).sentence,
            "the GPU is too hot at 85 degrees C, so the driver reduces its clocks; check its cooling");
}

TEST(HealthOfACase, ThatWasSoBeforeIsAWarningThatSaysIt) {
  const Health capped{.throttle = Words{"power-cap"}};
  const Result r = run_while({capped, capped}, measuring()).front();
  ASSERT_EQ(r.warnings.size(), 1U);
  EXPECT_TRUE(r.warnings.front().ends_with("(also before the case)")) << r.warnings.front();
}

TEST(HealthOfACase, TakesALinkThatTrainsDownForIllOnlyWhereTheGpuWasAwake) {
  const auto link = [](unsigned generation, std::optional<Words> reasons) {
    return Health{.link_generation = generation, .throttle = std::move(reasons)};
  };
  EXPECT_EQ(
      only_change(link(5, Words{}), link(4, Words{"application-clocks"})),
      (HealthChange{
          "link-changed",
          "the link dropped from generation 5 to 4 although the GPU was not idle; check the card's slot and riser"}));
  EXPECT_TRUE(health_changes({link(5, Words{}), link(1, Words{"idle"})}).empty());
  EXPECT_TRUE(health_changes({link(5, Words{"idle"}), link(1, Words{})}).empty());
  EXPECT_TRUE(health_changes({link(5, {}), link(1, {})}).empty()) << "whether it was idle is not known";
  EXPECT_TRUE(health_changes({link(1, Words{}), link(5, Words{})}).empty()) << "it trained up";
}

TEST(HealthOfACase, IsHotOnlyNearWhereTheChipSlowsDownAndPowerAloneIsNothing) {
  const Health cool{.power = 90, .temperature = 30, .temperature_limit = 90};
  EXPECT_TRUE(health_changes({cool, {.power = 690, .temperature = 86, .temperature_limit = 90}}).empty());
  EXPECT_TRUE(health_changes({cool, {.temperature = 99}}).empty()) << "its limit is not known";
  EXPECT_EQ(only_change(cool, {.temperature = 87, .temperature_limit = 90}),
            (HealthChange{"hot", "the GPU is at 87 degrees C and reduces its clocks at 90; check its cooling"}));
}

TEST(HealthOfACase, ThatFailsBeforeItsFirstSampleIsAWarning) {
  const Scripted failing([](const RunContext&, Result&) { throw DeviceError("cudaMemcpy", "it fell off the bus"); });
  const Result r = run_while({Health{.xids = Xids{}}, Health{.xids = Xids{79}}}, failing).front();
  EXPECT_EQ(r.status, Status::failed);
  ASSERT_EQ(r.warnings.size(), 1U);
  EXPECT_EQ(r.warnings.front().find("xid: "), 0U);
}

TEST(HealthOfACase, StaysSaidInLaterTurns) {
  const Health well{.pcie_replays = 7};
  const Health worse{.pcie_replays = 8};
  const Result r = run_while({well, worse}, measuring(), 2).front();
  EXPECT_EQ(r.measurements.front().flags, std::vector<std::string>{"pcie-replays"});
  EXPECT_EQ(r.health, (HealthRecord{worse, worse}));
}

}  // namespace

}  // namespace xferbench::test
