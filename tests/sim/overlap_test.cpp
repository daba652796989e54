// Scenario overlap on the simulated device: the model against simulated times, and the metrics of each axis.

#include <cmath>
#include <csignal>
#include <cstdlib>

#include "core/interrupt.hpp"
#include "model/bounds.hpp"
#include "run/tuner.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

class OverlapOnSim : public testing::Test {
 protected:
  /// Without moving data: modelled times do not depend on it.
  [[nodiscard]] RunContext timed_only(std::size_t samples = 2) {
    RunContext bench = quick_bench(device_);
    bench.verify = false;
    bench.policy.min_samples = bench.policy.max_samples = samples;
    return bench;
  }
  std::vector<Result> run(const std::string& flags) { return run_all(cases_of_line("overlap " + flags), timed_only()); }
  Result run_one(const std::string& flags) { return run(flags).front(); }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
};

// --- Interrupts ---

TEST_F(OverlapOnSim, WhatWasSampledIsKeptWhereItIsInterruptedBehindIt) {
  // In a child process: an interrupt cannot be undone.
  const auto body = [this] {
    std::signal(SIGINT, SIG_DFL);
    install_interrupt_handlers(HangUp::ends);
    constexpr std::size_t kSamples = 7;  // no other sampling of this case has this number
    RunContext bench = timed_only(kSamples);
    bench.observe = [](const SamplingProgress& progress) {
      if (progress.samples == kSamples) std::raise(SIGINT);
    };
    const Result r = run_all(cases_of_line("overlap --size 16M"), bench).front();
    const bool kept = r.measurement("pipeline") != nullptr && r.measurement("pipeline")->samples.size() == kSamples;
    const bool early = r.metric("efficiency") != nullptr && r.metric("efficiency_low") == nullptr;
    std::exit(r.status == Status::ok && kept && early ? 0 : 1);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

// --- The model against simulated times -------------------------------------------------------------------------------

struct Predicted {
  const char* what;
  const char* flags;
};

class ModelOnSim : public OverlapOnSim, public testing::WithParamInterface<Predicted> {
 protected:
  void expect_predicted() {
    for (const Result& r : run(GetParam().flags)) {
      EXPECT_LT(std::abs(metric(r, "residual")), 0.02) << r.config.key() << " " << metric(r, "residual");
      EXPECT_DOUBLE_EQ(metric(r, "residual"), metric(r, "makespan") / metric(r, "modelled") - 1);
    }
  }
};
using ModelOnSimLong = ModelOnSim;

TEST_P(ModelOnSim, PredictsWhatIsMeasured) { expect_predicted(); }
TEST_P(ModelOnSimLong, PredictsWhatIsMeasured) { expect_predicted(); }

INSTANTIATE_TEST_SUITE_P(
    Of, ModelOnSimLong,
    testing::Values(Predicted{"Streams", "--streams 1,2,3,4,8,16 --chunks 1,2,3,4,8,16,32,64,128,256"},
                    Predicted{"StreamsOfSmallPayloads", "--size 1M,16M --streams 1,2,4,8 --chunks 1,4,32,128,256"},
                    Predicted{"DoubleBuffers",
                              "--strategy double-buffer --chunks 1,2,3,4,8,16,32,64,128 --slots 2,3,4"},
                    Predicted{"Batches", "--strategy batch --chunks 4,8,16,32,64,128,256 --batch 1,2,4,8"}),
    [](const auto& tested) { return std::string(tested.param.what); });

INSTANTIATE_TEST_SUITE_P(
    Of, ModelOnSim,
    testing::Values(
        Predicted{"Streams", "--streams 1,2,3,8,16 --chunks 1,2,3,8,32,256"},
        // Small payloads: the host is slower than the GPU, or enqueueing takes a part of the time.
        Predicted{"StreamsOfSmallPayloads", "--size 1M,16M --streams 1,2,8 --chunks 1,4,32,256"},
        Predicted{"StreamsByBreadth", "--streams 2,4,8 --chunks 4,32,128 --issue breadth"},
        Predicted{"StreamsOfOtherKinds", "--streams 4 --chunks 4,32 --stream-kind blocking,default"},
        Predicted{"Engines", "--strategy engines --chunks 1,2,3,4,8,16,32,64,128,256"},
        Predicted{"EnginesWithSlots", "--strategy engines --chunks 4,32,128 --slots 1,2,3,8"},
        Predicted{"EnginesOfSmallPayloadsBehindAGate", "--size 4M,16M --strategy engines --chunks 1,4,32,64"},
        Predicted{"DoubleBuffers", "--strategy double-buffer --chunks 1,2,3,8,32,128 --slots 2,3"},
        // Without a gate, the cost of every call is in the time.
        Predicted{"ManyKernelsWithoutAGate", "--strategy engines --chunks 64 --kernels-per-chunk 16 --work 1"},
        Predicted{"ManyChunksWithoutAGate", "--strategy double-buffer --chunks 256"},
        Predicted{"Batches", "--strategy batch --chunks 4,16,64,256 --batch 1,2,8"},
        Predicted{"BatchesWithSlots", "--strategy batch --chunks 32,64 --batch 4 --slots 8,12"},
        Predicted{"BatchesLargerThanAll", "--strategy batch --chunks 8 --batch 64"},
        Predicted{"Graphs", "--strategy graph --chunks 1,4,32,128,256"},
        Predicted{"GraphsOfDoubleBuffers", "--strategy graph-double-buffer --chunks 1,4,32,64"},
        Predicted{"GraphsOfStreams", "--strategy graph-streams --streams 4 --chunks 1,4,32,128,256"},
        Predicted{"GraphsOfOneStream", "--strategy graph-streams --streams 1 --chunks 1,4,32,128"},
        Predicted{"InPlace", "--strategy engines,double-buffer --chunks 4,32 --slots 2,3 --in-place"},
        Predicted{"Growth", "--strategy streams,engines --chunks 16,64 --growth 0.97,1.03,1.1"},
        Predicted{"Rounds", "--strategy streams,double-buffer --chunks 16 --rounds 3"},
        Predicted{"HeavyKernels", "--strategy streams,double-buffer --chunks 16 --work 1,2000,6000"},
        Predicted{"SeveralKernels", "--chunks 16 --kernels-per-chunk 4"}, Predicted{"Serial", "--strategy serial"},
        Predicted{"SerialOfFewBlocks", "--strategy serial --blocks 8"}),
    [](const auto& tested) { return std::string(tested.param.what); });

TEST_F(OverlapOnSim, WhatIsTooMuchForAGateIsTimedWithItsSubmission) {
  EXPECT_EQ(run_one("--size 1M --streams 1 --chunks 256").measurement("pipeline")->clock, Clock::event);
}

TEST_F(OverlapOnSim, TimesThatAreComparedAreByOneClock) {
  const auto clocks = [this](const std::string& flags, const char* one, const char* other) {
    const Result r = run_one(flags + " --size 4M --work 1");
    ASSERT_EQ(r.status, Status::ok) << r.reason;
    EXPECT_EQ(r.measurement(one)->clock, r.measurement(other)->clock) << flags;
  };
  for (const std::string n : {"8", "120", "170", "250"}) {
    clocks("--streams " + n + " --chunks " + n + " --rounds 4", "pipeline", "one-round");
    clocks("--streams " + n + " --chunks " + n + " --blocks 8", "kernels", "kernels-in-turn");
    clocks("--streams 1 --chunks " + n + " --blocks 8", "kernels", "kernels-in-turn");
  }
}

TEST_F(OverlapOnSim, TheFastestIsNamedEvenWhereItHasNoDiagnosis) {
  std::vector<Result> results = run("--size 64K --strategy serial,streams --chunks 16");
  for (Result& r : results) {
    for (Measurement& m : r.measurements) m.ci95 = Interval{m.min, m.max};  // too few samples for an interval
  }
  std::vector<const Result*> ok;
  for (const Result& r : results) ok.push_back(&r);
  const std::vector<Finding> findings = scenarios().front()->conclude(ok);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[1].kind, "to-result");
  EXPECT_EQ(findings[0].kind, "fastest");
  EXPECT_EQ(findings[0].text.find("serial is the fastest: "), 0U) << findings[0].text;
  EXPECT_NE(findings[0].text.find("no measured pipeline beats plain serial"), std::string::npos);
}

// Graph nodes follow each other faster than launches and events, whose costs the model uses. With many chunks in few
// slots its prediction is therefore too long, never too short.
TEST_F(OverlapOnSim, TheModelIsTooCarefulWithGraphsOfManyChunksInFewPlaces) {
  for (const char* flags :
       {"--strategy graph-double-buffer --chunks 128,256", "--strategy graph-streams --streams 1 --chunks 256"}) {
    for (const Result& r : run(flags)) {
      EXPECT_LT(metric(r, "residual"), 0) << r.config.key();
      EXPECT_GT(metric(r, "residual"), -0.06) << r.config.key();
    }
  }
}

TEST_F(OverlapOnSim, TheLossesAddUpToTheMakespan) {
  for (const Result& r : run("--strategy streams,engines,double-buffer,batch,graph --chunks 4,64")) {
    double sum = metric(r, "bound");
    for (const char* part : {"time_fill_drain", "time_overhead", "time_slots", "time_submission"}) {
      EXPECT_GE(metric(r, part), 0) << r.config.key() << " " << part;
      sum += metric(r, part);
    }
    EXPECT_NEAR(sum + metric(r, "time_unexplained"), metric(r, "makespan"), 1e-12) << r.config.key();
    EXPECT_LE(metric(r, "time_contention"), metric(r, "bound")) << r.config.key();
  }
}

TEST_F(OverlapOnSim, TheCostsAreThoseOfTheProfile) {
  const auto& p = profile("h200");
  const Result r = run_one("--strategy engines");
  EXPECT_NEAR(metric(r, "h2d_per_operation"), p.h2d_overhead, 0.05e-6);
  EXPECT_NEAR(metric(r, "kernel_per_operation"), p.kernel_overhead, 0.05e-6);
  EXPECT_NEAR(metric(r, "d2h_per_operation"), p.d2h_overhead, 0.05e-6);
  EXPECT_NEAR(metric(r, "h2d_duplex_rate"), p.h2d_duplex_rate, 0.002);
  EXPECT_NEAR(metric(r, "d2h_duplex_rate"), p.d2h_duplex_rate, 0.002);
  EXPECT_NEAR(metric(r, "h2d_duplex_overhead"), p.h2d_duplex_overhead, 0.1);
  EXPECT_NEAR(metric(r, "d2h_duplex_overhead"), p.d2h_duplex_overhead, 0.1);
  EXPECT_NEAR(metric(r, "hand_over_at_kernel"), (p.copy_to_kernel + p.kernel_to_copy) / 2, 0.15e-6);
  EXPECT_NEAR(metric(r, "hand_over_between_copies"), p.copy_to_copy, 0.1e-6);
  const double mean = (p.copy_to_kernel + p.kernel_to_copy + p.copy_to_copy) / 3;
  EXPECT_NEAR(metric(r, "hand_over"), mean, 0.1e-6);
  EXPECT_NEAR(metric(r, "event_hand_over"), mean + p.order_cost, 0.1e-6);
  EXPECT_NEAR(metric(r, "stream_switch"), p.stream_switch, 0.1e-6);
  EXPECT_NEAR(metric(r, "pass_overhead"), p.gate_to_copy + p.event_cost, 0.1e-6);
}

// --- Axes ------------------------------------------------------------------------------------------------------------

TEST_F(OverlapOnSim, SmallKernelsOfSeveralStreamsRunAtOnce) {
  const std::string heavy = "--streams 4 --work 2000 ";
  const auto at_once = [&](const char* more) { return metric(run_one(heavy + more), "kernels_at_once"); };
  EXPECT_GT(at_once("--blocks 66"), 1.5);
  EXPECT_LE(at_once("--blocks 66"), 4.01);
  EXPECT_NEAR(at_once("--kernels-per-chunk 2"), 1, 0.02) << "each fills the GPU";
  EXPECT_NEAR(at_once("--blocks 10000"), 1, 0.02);
  EXPECT_EQ(run_one(heavy).metric("kernels_at_once"), nullptr) << "nobody asked";
}

TEST_F(OverlapOnSim, OneStreamRunsOneKernelAtATime) {
  EXPECT_NEAR(metric(run_one("--streams 1 --blocks 66"), "kernels_at_once"), 1, 0.02);
}

TEST_F(OverlapOnSim, RoundsFillAndDrainOnce) {
  const Result r = run_one("--rounds 10 --chunks 8");
  EXPECT_GT(metric(r, "steady_bandwidth"), 1.005 * metric(r, "bandwidth"));
  EXPECT_NEAR(metric(r, "round_time"), metric(r, "makespan") / 10, 1e-12);
  const double one = r.measurement("one-round")->median;
  EXPECT_NEAR(metric(r, "steady_round_time"), (metric(r, "makespan") - one) / 9, 1e-12);
  EXPECT_LT(metric(r, "steady_round_time"), one);
  EXPECT_EQ(run_one("").metric("steady_bandwidth"), nullptr);
}

TEST_F(OverlapOnSim, AFewSlotsAreEnough) {
  const double all = metric(run_one("--strategy engines"), "makespan");
  EXPECT_NEAR(metric(run_one("--strategy engines --slots 8"), "makespan"), all, 0.01 * all);
  // With one slot that a chunk holds until its D2H copy ends, nothing overlaps.
  const Result one = run_one("--strategy engines --slots 1 --in-place");
  EXPECT_GT(metric(one, "makespan"), one.measurement("serial")->median);
}

TEST(NoisyOverlap, HasItsEfficiencyWithinItsInterval) {
  sim::Profile noisy = profile("h200");
  noisy.varies = {.noise = 0.02, .seed = 3};
  sim::SimMachine machine(noisy);
  RunContext bench = quick_bench(machine.device());
  bench.policy.min_samples = bench.policy.max_samples = 60;
  const Result r = run_all(cases_of_line("overlap --no-verify --size 16M --chunks 8"), bench).front();
  EXPECT_LT(r.value("efficiency_low"), r.value("efficiency"));
  EXPECT_GT(r.value("efficiency_high"), r.value("efficiency"));
  EXPECT_LT(r.value("efficiency_high") - r.value("efficiency_low"), 0.04);
}

/// Otherwise the noise would make each turn choose another number of passes per sample.
TEST(NoisyOverlap, RepeatsPassesInEachTurnAsInTheFirst) {
  sim::Profile noisy = profile("h200");
  noisy.varies = {.noise = 0.1, .seed = 3};
  sim::SimMachine machine(noisy);
  RunContext bench = quick_bench(machine.device());
  bench.verify = false;
  bench.policy.min_samples = bench.policy.max_samples = 2;
  bench.history = std::make_shared<SampleHistory>(0.01);
  const PlannedCase planned = cases_of_line("overlap --size 4M --strategy engines --chunks 4,8").front();
  for (std::size_t turn = 1; turn <= 5; ++turn) {
    bench.history->begin_turn();
    Result r(planned.config);
    planned.scenario->run(planned.config, bench, r);
    EXPECT_EQ(r.needed_measurement("pipeline").samples.size(), 2 * turn);
  }
}

// --- Small payloads, with several passes in a sample -----------------------------------------------------------------

TEST_F(OverlapOnSim, WhatIsSaidOfStagesDoesNotDependOnChunks) {
  const auto all = run("--size 1M --strategy engines --chunks 1,8,32,128");
  for (const char* name : {"h2d_bandwidth", "d2h_bandwidth", "both_bandwidth", "duplex_ratio", "kernel_to_h2d"}) {
    for (const Result& r : all) {
      EXPECT_NEAR(metric(r, name) / metric(all.front(), name), 1, 1e-6) << name << " of " << r.config.key();
    }
  }
}

TEST_F(OverlapOnSim, TheLimitHasWhatAPassTakesAsTheMakespanHas) {
  const Result r = run_all(cases_of_line("overlap --size 1M --strategy engines --chunks 16"), timed_only(6)).front();
  const unsigned batch = r.needed_measurement("pipeline").batch;
  for (const std::string stage : {"h2d", "kernel", "d2h", "both"}) {
    const Measurement& own = r.needed_measurement(stage);
    const Measurement& alike = r.needed_measurement(stage + "-alike");
    EXPECT_GT(own.batch, batch) << stage;
    EXPECT_EQ(alike.batch, batch) << stage;
    EXPECT_GT(alike.median, own.median) << stage << " has more of what a pass takes";
  }
  const auto time = [&](const std::string& stage) {
    const Measurement* alike = r.measurement(stage + "-alike");
    return alike != nullptr ? alike->median : r.needed_measurement(stage).median;
  };
  const model::Stages alike{time("h2d"), time("kernel"), time("d2h"), time("both"), time("both-chunked")};
  EXPECT_EQ(r.measurement("both-at-rates"), nullptr) << "of passes in a row nobody knows when each direction ends";
  EXPECT_DOUBLE_EQ(metric(r, "bound"), model::lower_bound(alike, 2).seconds);
  EXPECT_DOUBLE_EQ(metric(r, "efficiency"), metric(r, "bound") / metric(r, "makespan"));
  EXPECT_NEAR(metric(r, "efficiency_low"), metric(r, "efficiency"), 1e-9) << "of the same series, without noise";
  EXPECT_NEAR(metric(r, "efficiency_high"), metric(r, "efficiency"), 1e-9);
}

TEST_F(OverlapOnSim, LargePayloadsHaveNothingMore) {
  for (const Result& r : run("--size 64M --rounds 1,2 --chunks 8 --work 1000")) {
    for (const Measurement& m : r.measurements) EXPECT_FALSE(m.name.ends_with("-alike")) << m.name;
  }
  for (const Measurement& m : run_one("--size 64M --chunks 8 --work 64").measurements) {
    EXPECT_EQ(m.name.ends_with("-alike"), m.name == "kernel-alike") << m.name << ": that one is short";
  }
}

TEST_F(OverlapOnSim, FurtherRoundsAreHeldAgainstOneThatIsRepeatedAlike) {
  const Result r = run_one("--size 1M --chunks 2 --rounds 2");
  const Measurement& alike = r.needed_measurement("one-round-alike");
  EXPECT_EQ(alike.batch, r.needed_measurement("pipeline").batch);
  EXPECT_DOUBLE_EQ(metric(r, "steady_round_time"), metric(r, "makespan") - alike.median);
}

TEST_F(OverlapOnSim, BalanceIsHitHoweverSmallThePayload) {
  for (const Result& r : run("--size 1M --strategy engines --chunks 4,64 --balance 1.5")) {
    for (const std::string& warning : r.warnings) EXPECT_FALSE(warning.starts_with("balance")) << warning;
    EXPECT_NEAR(metric(r, "kernel_to_h2d"), 1.5, 0.05) << r.config.key();
  }
}

TEST(SmallOverlapOnSeveralGpus, HoldsTheLimitAgainstPassesThatAreNotRepeated) {
  sim::SimMachine two(profile("h200-x2"), {0, 1});
  const Result each = run_on_gpus(two, std::string("overlap --size 1M --chunks 4")).front();
  ASSERT_EQ(each.status, Status::ok) << each.reason;
  EXPECT_EQ(each.measurement("kernel-alike"), nullptr) << "no pass on several GPUs is repeated";
  const Result helped = run_on_gpus(two, std::string("overlap --size 1M --chunks 4 --strategy multipath")).front();
  ASSERT_EQ(helped.status, Status::ok) << helped.reason;
  EXPECT_GT(helped.needed_measurement("kernel").batch, 1U) << "on one GPU";
  EXPECT_EQ(helped.needed_measurement("kernel-alike").batch, 1U);
  EXPECT_GT(helped.needed_measurement("one-gpu").batch, 1U);
  EXPECT_EQ(helped.measurement("one-gpu-alike"), nullptr);
}

// --- Tune ------------------------------------------------------------------------------------------------------------

TEST_F(OverlapOnSim, TuneFindsTheBestOfTheWholeSpaceInAFifthOfIt) {
  const Words words{"tune", "overlap", "--size", "256M", "--no-verify"};
  const auto command = std::get<cli::TuneCommand>(cli::parse(words, scenarios()));
  const std::vector<PlannedCase>& cases = command.cases;
  std::vector<Case> space;
  for (const PlannedCase& c : cases) space.push_back(c.config);
  ASSERT_GT(space.size(), 100U);
  const Scenario& scenario = *cases.front().scenario;
  RunContext bench = timed_only();

  double best = 1;
  std::string best_key;
  const std::unique_ptr<Tunable> tunable = scenario.tunable(space, bench);
  for (const Case& c : space) {
    const Candidate candidate = tunable->prepare(c);
    const double median = bench.sample({candidate.region()}).front().elapsed.median;
    if (median < best) best = median, best_key = c.key();
  }

  bench.policy.budget = command.measuring.policy.budget;
  const Tuned tuned = tune(scenario, space, bench, [](const Case&) { return std::string(); },
                           {.progress = [](const TuneProgress&) {}, .measured = [](const std::vector<Result>&) {}});
  EXPECT_LE(5 * tuned.results.size(), space.size());
  double found = 1;
  for (const Finding& f : tuned.findings) {
    for (const Metric& m : f.metrics) {
      if (f.labels.front().second == "winner" && m.name == "makespan") found = m.value;
    }
  }
  EXPECT_LE(found, 1.01 * best) << "the best is " << best_key;
}

TEST_F(OverlapOnSim, TuneRepeatsPassesOfAllConfigurationsAndStagesAlike) {
  std::vector<Case> space;
  const auto cases = cases_of_line(
      "tune overlap --no-verify --size 1M --strategy streams,engines,graph,zero-copy --chunks 4,8 --growth 1");
  for (const PlannedCase& c : cases) space.push_back(c.config);
  RunContext bench = timed_only(10);
  bench.policy.budget = 6;
  const Tuned tuned = tune(
      *cases.front().scenario, space, bench, [](const Case&) { return std::string(); },
      {.progress = [](const TuneProgress&) {}, .measured = [](const std::vector<Result>&) {}}, SearchMode::exhaustive);
  ASSERT_EQ(tuned.results.size(), space.size());
  const unsigned batch = tuned.results.front().needed_measurement("pipeline").batch;
  EXPECT_GT(batch, 1U);
  for (const Result& r : tuned.results) {
    for (const Measurement& m : r.measurements) EXPECT_EQ(m.batch, batch) << m.name << " of " << r.config.key();
    const double most = r.config.word("strategy") == "graph" ? 0.06 : 0.02;  // graphs: predictions are too long
    EXPECT_LT(std::abs(metric(r, "residual")), most) << r.config.key();
  }
}

}  // namespace

}  // namespace xferbench::test
