// Time to result on the simulated device: host time from the first call to the finished result, when the GPU begins,
// and `tune --objective wall`.

#include "kernels/delay.hpp"
#include "run/tuner.hpp"
#include "sim/sim_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench::test {

namespace {

// --- The timed region ------------------------------------------------------------------------------------------------

class WallRegion : public SimTest {
 protected:
  /// One kernel of so many seconds in each stream; the streams may end in any order.
  static Region kernels(const std::vector<std::pair<StreamView, double>>& all) {
    Region r{.name = "kernels", .clock = Clock::event_gated};
    for (const auto& one : all) r.streams.push_back(one.first);
    r.submit = [all] {
      for (const auto& [stream, seconds] : all) stream.launch(kernels::Delay(seconds));
    };
    return r;
  }
  Series sampled(const Region& region) { return sample_few(quick_bench(device_), {region}, 6).front(); }

  Stream one_ = stream();
  Stream other_ = stream();
};

TEST_F(WallRegion, LastsFromTheFirstCallToTheReturnOfTheWait) {
  const Series s = sampled(wall_region(kernels({{one_, 1e-3}})));
  const double launched = profile_.launch_call + profile_.kernel_overhead + 1e-3;
  EXPECT_EQ(s.elapsed.name, "wall");
  EXPECT_EQ(s.elapsed.clock, Clock::host);
  EXPECT_NEAR(s.elapsed.median, launched + profile_.wake_up, 1e-6);
  EXPECT_NEAR(s.part(kWallCalls).median, profile_.launch_call, 1e-9);
}

TEST_F(WallRegion, WaitsForAllStreamsWhicheverEndsLast) {
  for (const auto& [first, second] : {std::pair{1e-3, 5e-3}, std::pair{5e-3, 1e-3}}) {
    EXPECT_GE(sampled(wall_region(kernels({{one_, first}, {other_, second}}))).elapsed.median, 5e-3);
  }
}

TEST_F(WallRegion, IsOnePassForEachSampleHoweverShort) {
  const Region shortest = kernels({{one_, 1e-6}});
  EXPECT_GT(sampled(shortest).elapsed.batch, 1U);
  EXPECT_EQ(sampled(wall_region(shortest)).elapsed.batch, 1U);
}

TEST_F(WallRegion, IsCheckedAndResetAsTheRegionIs) {
  std::string log;
  Region r = kernels({{one_, 1e-3}});
  r.reset = [&log] { log += "r"; };
  r.check = [&log] { log += "c"; };
  const Region wall = wall_region(r);
  wall.reset();
  wall.check();
  EXPECT_EQ(log, "rc");
}

TEST_F(WallRegion, WaitsForNothingWhereTheCallsHaveWaited) {
  Region blocking = kernels({{one_, 1e-3}});
  blocking.submit = [this, submit = blocking.submit] {
    submit();
    one_.synchronize();
  };
  const double waited_twice = sampled(wall_region(blocking)).elapsed.median;
  blocking.waits = true;
  EXPECT_NEAR(waited_twice - sampled(wall_region(blocking)).elapsed.median, profile_.wake_up, 1e-9);
}

TEST_F(WallRegion, IsWarmAsSoonAsItsLikeIs) {
  const Region region = kernels({{one_, 1e-3}});
  RunContext bench = quick_bench(device_);
  const std::vector<Series> s = bench.sample({region, wall_region(region)});
  EXPECT_TRUE(s[0].elapsed.warmup_converged);
  EXPECT_TRUE(s[1].elapsed.warmup_converged);
  EXPECT_LT(s[1].elapsed.warmup_runs, s[0].elapsed.warmup_runs);
  bench.policy.budget = 1e-6;
  for (const Series& hurried : bench.sample({region, wall_region(region)})) {
    EXPECT_FALSE(hurried.elapsed.warmup_converged) << hurried.elapsed.name;
  }
}

// --- Results of scenarios --------------------------------------------------------------------------------------------

class WallOnSim : public OnSim {
 protected:
  WallOnSim() { verify_ = false; }  // times only: no data is moved

  /// Time to result beyond the makespan.
  static double more(const Result& r) { return metric(r, "to_result") - metric(r, "makespan"); }
  /// Host time of the call that launches a graph of strategy engines.
  static double graph_call(std::size_t chunks) {
    const sim::Profile& p = profile("h200");
    return p.graph_call + 2 * static_cast<double>(chunks) * p.graph_copy_call;
  }
};

TEST_F(WallOnSim, OfOverlapIsNoShorterThanTheWorkOnTheDevice) {
  const double behind_gate = profile("h200").gate_to_copy;  // a real program has no gate
  for (const Result& r : run({"overlap", "--size", "16M", "--chunks", "8,300", "--strategy",
                              "streams,engines,double-buffer,batch,zero-copy,graph,graph-streams"})) {
    ASSERT_EQ(r.status, Status::ok) << r.reason;
    EXPECT_EQ(metric(r, "to_result"), median(r, "wall"));
    EXPECT_EQ(r.measurement("wall")->samples.size(), r.measurement("pipeline")->samples.size()) << "in the same rounds";
    if (r.measurement("pipeline")->clock != Clock::event_gated) continue;
    EXPECT_GT(more(r), -behind_gate) << r.config.key();
  }
}

TEST_F(WallOnSim, ShowsTheCallOfAGraphThatTheGateHides) {
  const auto results = run({"overlap", "--size", "64M", "--chunks", "8,32", "--strategy", "graph"});
  ASSERT_EQ(results.size(), 2U);
  EXPECT_NEAR(median(results[0], "wall-calls"), graph_call(8), 1e-9);
  EXPECT_NEAR(median(results[1], "wall-calls"), graph_call(32), 1e-9);
  EXPECT_NEAR(more(results[1]) - more(results[0]), graph_call(32) - graph_call(8), 2e-6);
  EXPECT_LT(more(run_one({"overlap", "--size", "64M", "--chunks", "32", "--strategy", "engines"})), 10e-6)
      << "whose GPU works while the calls go on";
}

TEST_F(WallOnSim, OfSerialIsItsCallsAlone) {
  const Result r = run_one({"overlap", "--size", "16M", "--strategy", "serial"});
  EXPECT_EQ(median(r, "wall"), median(r, "wall-calls"));
}

TEST_F(WallOnSim, TellsWhenTheGpuBegins) {
  const auto& p = profile("h200");
  const auto results = run({"overlap", "--size", "64M", "--chunks", "16", "--strategy", "engines,graph"});
  const Result& engines = results[0];
  const Result& graph = results[1];
  EXPECT_NEAR(metric(engines, "gpu_begins"), p.launch_call + p.stamp_cost, 1e-8);
  EXPECT_LT(metric(engines, "gpu_begins"), metric(engines, "calls_return"));
  EXPECT_NEAR(metric(graph, "calls_return"), graph_call(16), 1e-8);
  EXPECT_NEAR(metric(graph, "gpu_begins"), graph_call(16) + p.graph_start + p.stamp_cost, 1e-8);
  EXPECT_TRUE(mentions(sentences({{engines}}).back(), "the GPU begins 5.200 us after the first call"));
  EXPECT_TRUE(mentions(sentences({{engines}}).back(), "before the last call returns"));
  EXPECT_TRUE(mentions(sentences({{graph}}).back(), "after the call returns"));
}

TEST_F(WallOnSim, SaysWhereWhoeverWaitsRanksOtherwise) {
  const auto said = sentences(run({"overlap", "--size", "16M", "--chunks", "8", "--strategy", "engines,graph"}));
  const auto found = std::ranges::find_if(
      said, [](const std::string& text) { return mentions(text, "by time to result engines is the fastest"); });
  ASSERT_NE(found, said.end());
  EXPECT_TRUE(mentions(*found, "graph, the fastest by makespan, takes"));
}

TEST_F(WallOnSim, OfMemcpyIsTheCopyWithItsCallAndTheWait) {
  const auto& p = profile("h200");
  const Result pinned = run_one({"memcpy", "--dir", "h2d", "--host", "pinned", "--size", "16M"});
  EXPECT_NEAR(metric(pinned, "to_result"), median(pinned, "copy") - p.gate_to_copy + p.copy_call + p.wake_up, 3e-6);
  const Result pageable = run_one({"memcpy", "--dir", "h2d", "--host", "pageable", "--size", "16M"});
  EXPECT_GT(median(pageable, "wall-calls"), 0.9 * median(pageable, "copy")) << "which the call carries out";
  EXPECT_NEAR(metric(pageable, "to_result"), median(pageable, "wall-calls"), p.wake_up + 1e-6) << "and so nothing else";
}

TEST_F(WallOnSim, OfACopyByTheHostsClockIsTheCopyItself) {
  const Result r = run_one({"memcpy", "--dir", "h2d", "--host", "pinned", "--api", "sync", "--size", "16M"});
  EXPECT_EQ(metric(r, "to_result"), median(r, "copy"));
  EXPECT_EQ(r.measurement("wall"), nullptr) << "it would be the same once more";
}

TEST(WallOnSeveralGpus, IsMeasuredOfAllOfThem) {
  sim::SimMachine two(profile("h200-x2"), {0, 1});
  for (const char* line : {"overlap --size 16M --strategy engines", "overlap --size 16M --strategy multipath"}) {
    const Result r = run_on_gpus(two, std::string(line)).front();
    ASSERT_EQ(r.status, Status::ok) << r.reason;
    EXPECT_GT(metric(r, "to_result"), metric(r, "makespan")) << line;
  }
  for (const Result& r : run_on_gpus(two, std::string("multipath --size 64M"))) {
    EXPECT_GT(metric(r, "to_result"), median(r, "multipath")) << r.config.key();
  }
}

// --- Tune ------------------------------------------------------------------------------------------------------------

class TuneForWall : public WallOnSim {
 protected:
  Tuned tune(const std::string& flags, Objective objective, SearchMode how = SearchMode::guided) {
    const std::vector<PlannedCase> cases = cases_of_line("tune overlap --no-verify " + flags);
    std::vector<Case> space;
    for (const PlannedCase& c : cases) space.push_back(c.config);
    RunContext bench = quick_bench(device_);
    bench.verify = false;
    bench.policy.budget = 6;
    bench.objective = objective;
    return xferbench::tune(
        *cases.front().scenario, space, bench, [](const Case&) { return std::string(); },
        {.progress = [](const TuneProgress&) {}, .measured = [](const std::vector<Result>&) {}}, how);
  }
  static Result winner_of(const Tuned& tuned) { return fastest(tuned.results).front(); }
};

TEST_F(TuneForWall, FindsAnotherWinnerWhereTheCallsDecide) {
  const std::string flags = "--size 16M --strategy engines,graph --chunks 8,16,32";
  const Result on_device = winner_of(tune(flags, Objective::device));
  const Result to_result = winner_of(tune(flags, Objective::wall));
  EXPECT_EQ(on_device.config.word("strategy"), "graph");
  EXPECT_EQ(to_result.config.word("strategy"), "engines");
  EXPECT_EQ(on_device.label("objective"), "device");
  EXPECT_EQ(to_result.label("objective"), "wall");
}

TEST_F(TuneForWall, SamplesAndShowsThatTime) {
  const Tuned tuned = tune("--size 16M --strategy engines,graph --chunks 8", Objective::wall);
  for (const Result& r : tuned.results) {
    EXPECT_EQ(r.measurement("pipeline"), nullptr) << r.config.key();
    EXPECT_EQ(metric(r, "makespan"), median(r, "wall"));
    EXPECT_EQ(metric(r, "to_result"), median(r, "wall"));
    EXPECT_GE(metric(r, "host_blocked"), 0.5 * graph_call(8)) << "the calls alone";
    EXPECT_LT(metric(r, "host_blocked"), 0.5 * metric(r, "makespan")) << "and not the wait";
  }
  EXPECT_TRUE(mentions(tuned.findings.front().text, "time to result"));
}

TEST_F(TuneForWall, IsLedByAModelOfThatTime) {
  for (const Result& r :
       tune("--size 64M --strategy streams,engines,double-buffer,graph --streams 4 --chunks 8,16,32 --growth 1",
            Objective::wall, SearchMode::exhaustive)
           .results) {
    EXPECT_LT(std::abs(metric(r, "residual")), 0.02) << r.config.key();
  }
}

TEST_F(TuneForWall, FindsTheBestOfAll) {
  const std::string flags = "--size 16M";
  const double best = metric(winner_of(tune(flags, Objective::wall, SearchMode::exhaustive)), "makespan");
  EXPECT_LE(metric(winner_of(tune(flags, Objective::wall)), "makespan"), 1.01 * best);
}

}  // namespace

}  // namespace xferbench::test
