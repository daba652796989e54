// The sampling loop on the simulated device: when it stops, the order of samples, failed gates.
#include "measure/sampler.hpp"

#include <csignal>
#include <random>

#include "core/interrupt.hpp"
#include "measure/statistics.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

/// A machine with a settable clock rate, whose gates fail a given number of times.
class MoodyMachine : public sim::SimMachine {
 public:
  MoodyMachine()
      : SimMachine(test::profile("h200"), {0},
                   [this](SimMachine& m, std::size_t) { return std::make_unique<MoodyDevice>(m, &clock); }) {}
  [[nodiscard]] Gate make_gate(double timeout) override {
    return owned<GateView>(std::make_unique<MoodyGate>(*this, timeout, &bad_gates));
  }
  int bad_gates = 0;
  double clock = 1.98e9;

 private:
  class MoodyDevice final : public sim::SimDevice {
   public:
    MoodyDevice(sim::SimMachine& machine, const double* clock) : SimDevice(machine), clock_(clock) {}
    [[nodiscard]] std::optional<double> sm_clock_hz() override { return *clock_; }

   private:
    const double* clock_;
  };
  class MoodyGate final : public sim::SimGate {
   public:
    MoodyGate(sim::SimMachine& machine, double timeout, int* bad) : SimGate(machine.simulation(), timeout), bad_(bad) {}
    [[nodiscard]] bool timed_out() const override { return *bad_ > 0 && (*bad_)-- > 0; }

   private:
    int* bad_;
  };
};

class SamplerTest : public testing::Test {
 protected:
  /// A region on one stream that occupies the GPU for `microseconds`, evaluated for each pass.
  Region region(std::string name, std::function<double()> microseconds, Clock clock = Clock::event_gated) {
    Region r;
    r.name = std::move(name);
    r.clock = clock;
    r.streams = {stream_};
    r.batchable = false;
    r.submit = [this, name = r.name, microseconds = std::move(microseconds)] {
      log_ += name;
      const auto bytes = static_cast<std::size_t>(microseconds() * 1e-6 * profile("h200").h2d_rate);
      stream_.copy({on_gpu_.data, host_.data, bytes, Direction::h2d});
    };
    return r;
  }

  std::vector<Series> run(std::vector<Region> regions) {
    return sample(machine_, std::move(regions), policy_, [this](const SamplingProgress& p) { progress_.push_back(p); });
  }

  Series steady() {
    return run({region("a", [] { return 500.0; })}).front();
  }

  /// Runs a region whose sample n (from 0) takes microseconds(n), after a steady warm-up.
  Series scripted(std::function<double(std::size_t)> microseconds) {
    log_.clear();
    const std::size_t sampled = steady().elapsed.samples.size();
    const std::size_t before = log_.size() - sampled;
    std::size_t pass = 0;
    return run({region("a", [&] { return pass++ < before ? 500.0 : microseconds(pass - 1 - before); })}).front();
  }

  /// Every other pass takes nearly twice as long.
  static std::function<double()> unsteady() {
    return [i = 0]() mutable { return i++ % 2 == 0 ? 500.0 : 900.0; };
  }

  static bool flagged(const Series& s, const char* flag) {
    return std::ranges::find(s.elapsed.flags, flag) != s.elapsed.flags.end();
  }

  MoodyMachine machine_;
  Device& device_ = machine_.device();
  HostBuffer host_ = device_.allocate_host(256U << 20, HostMemory::pinned);
  DeviceBuffer on_gpu_ = device_.allocate_device(256U << 20);
  Stream stream_ = device_.make_stream(StreamKind::nonblocking);
  SamplingPolicy policy_;
  std::vector<SamplingProgress> progress_;
  std::string log_;
};

TEST_F(SamplerTest, SteadyTimesStopAtTheFirstLook) {
  const Series s = steady();
  EXPECT_EQ(s.elapsed.samples.size(), 10U);
  EXPECT_EQ(s.elapsed.stop, Stop::ci);
  EXPECT_TRUE(s.elapsed.warmup_converged);
  EXPECT_NEAR(s.elapsed.median, 500e-6, 10e-6);
  EXPECT_EQ(s.elapsed.name, "a");
  EXPECT_EQ(s.submit.name, "a-submit");
  EXPECT_EQ(s.submit.clock, Clock::host);
}

TEST_F(SamplerTest, NoisyTimesGoOnUntilTheBudgetIsSpentWhereThatCanDo) {
  policy_.budget = 0.2;
  const auto sampled = [this](double ci) {
    policy_.ci = ci;
    std::mt19937 random(1);
    std::uniform_real_distribution<double> time(400, 600);
    return run({region("a", [&] { return time(random); })}).front();
  };
  const double width = *statistics::half_width(sampled(0).elapsed.samples);  // with the whole budget
  EXPECT_EQ(to_text(sampled(2 * width).elapsed.stop), "ci");
  const Series too_little = sampled(width / 3);
  EXPECT_EQ(to_text(too_little.elapsed.stop), "out-of-reach");
  EXPECT_LT(too_little.elapsed.samples.size(), 50U);
}

TEST_F(SamplerTest, WhatWasSlowAtFirstOrDriftsIsNotSettledHoweverWideItMayBe) {
  policy_.ci = 0.5;
  policy_.min_samples = 30;
  policy_.max_samples = 32;
  const auto expect_unsettled = [this](const Series& s, const char* flag, std::size_t samples, Stop stop) {
    EXPECT_TRUE(flagged(s, flag));
    EXPECT_LE(*relative_half_width(s.elapsed), policy_.ci) << flag << ": narrow enough";
    EXPECT_EQ(s.elapsed.samples.size(), samples) << flag;
    EXPECT_EQ(to_text(s.elapsed.stop), to_text(stop)) << flag;
  };
  // A slow first sample stays in the data, so more samples do not help.
  expect_unsettled(scripted([](std::size_t n) { return n == 0 ? 900.0 : 500.0; }), "slow-first", 30,
                   Stop::out_of_reach);
  expect_unsettled(scripted([](std::size_t n) { return n < 21 || n >= 30 ? 500.0 : 520.0; }), "drift", 32,
                   Stop::max_samples);
}

TEST_F(SamplerTest, MaxSamplesEndsBeforeTheBudget) {
  policy_.max_samples = 25;
  policy_.budget = 1e9;
  const Series s = run({region("a", unsteady())}).front();
  EXPECT_EQ(s.elapsed.stop, Stop::max_samples);
  EXPECT_EQ(s.elapsed.samples.size(), 25U);
}

TEST_F(SamplerTest, MinSamplesAreTakenEvenBeyondTheBudget) {
  policy_.budget = 1e-3;
  policy_.min_samples = 17;
  const Series s = run({region("a", [] { return 2000.0; })}).front();
  EXPECT_EQ(s.elapsed.samples.size(), 17U);
}

TEST_F(SamplerTest, RoundsAlternateTheirOrder) {
  policy_.min_samples = policy_.max_samples = 6;
  policy_.budget = 1e-9;  // no time for an adaptive warm-up
  log_.clear();
  run({region("a", [] { return 300.0; }), region("b", [] { return 300.0; })});
  ASSERT_GE(log_.size(), 12U);
  EXPECT_EQ(log_.substr(log_.size() - 12), "abbaabbaabba");
}

TEST_F(SamplerTest, OneNoisyRegionKeepsAllSampling) {
  policy_.budget = 0.1;
  const auto series = run({region("steady", [] { return 300.0; }), region("noisy", unsteady())});
  EXPECT_EQ(series[0].elapsed.samples.size(), series[1].elapsed.samples.size());
  EXPECT_EQ(series[0].elapsed.stop, Stop::ci);
  EXPECT_EQ(series[1].elapsed.stop, Stop::out_of_reach);
}

TEST_F(SamplerTest, ShortRegionsAreRepeatedAndTheirMeanReported) {
  Region r = region("a", [] { return 10.0; });
  r.batchable = true;
  const Series s = run({r}).front();
  EXPECT_GT(s.elapsed.batch, 10U);
  EXPECT_NEAR(s.elapsed.median, 12.5e-6, 1e-6);  // payload of 10 us and the engine's overhead
}

TEST_F(SamplerTest, RegionsThatAreComparedAreRepeatedAlike) {
  const auto lasting = [this](std::string name, double microseconds, bool alike) {
    Region r = region(std::move(name), [microseconds] { return microseconds; });
    r.batchable = true;
    r.same_batch = alike;
    return r;
  };
  const auto series = run({lasting("longer", 60.0, true), lasting("short", 10.0, true), lasting("other", 10.0, false)});
  ASSERT_EQ(series.size(), 4U);
  EXPECT_GT(series[0].elapsed.batch, 1U);
  EXPECT_GT(series[1].elapsed.batch, series[0].elapsed.batch) << "as if nothing were compared with it";
  EXPECT_EQ(series[2].elapsed.batch, series[1].elapsed.batch);
  EXPECT_EQ(series[3].elapsed.name, "short-alike");
  EXPECT_EQ(series[3].elapsed.batch, series[0].elapsed.batch);
  EXPECT_EQ(series[3].elapsed.samples.size(), series[0].elapsed.samples.size());
  EXPECT_TRUE(series[3].elapsed.auxiliary);
  EXPECT_FALSE(series[1].elapsed.auxiliary);
  EXPECT_EQ(run({lasting("long", 500.0, true), lasting("as long", 400.0, true)}).size(), 2U);
}

/// Later turns of a case rely on this to repeat passes as in the first turn.
TEST_F(SamplerTest, AFixedBatchHoldsAlsoWhereNothingIsSampled) {
  Region r = region("a", [] { return 10.0; });
  r.batchable = true;
  r.batch = 7;
  const auto body = [&] {  // in a child process: an interrupt cannot be undone
    std::signal(SIGINT, SIG_DFL);
    install_interrupt_handlers(HangUp::ends);
    std::raise(SIGINT);
    const Series s = run({r}).front();
    std::exit(s.elapsed.samples.empty() ? static_cast<int>(s.elapsed.batch) : 100);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(7), "");
}

TEST_F(SamplerTest, AFixedBatchIsNeitherLongerNorShorter) {
  for (const double us : {10.0, 500.0}) {
    Region r = region("a", [us] { return us; });
    r.batchable = true;
    r.batch = 7;
    const Series s = run({r}).front();
    EXPECT_EQ(s.elapsed.batch, 7U);
    EXPECT_NEAR(s.elapsed.median, (us + 2.5) * 1e-6, 1e-6);
  }
}

TEST_F(SamplerTest, TooManyOperationsForAGateAreTimedWithoutOne) {
  Region r = region("a", [] { return 500.0; });
  r.operations = RegionTimer::kGateLimit + 1;
  EXPECT_EQ(run({r}).front().elapsed.clock, Clock::event);
}

TEST_F(SamplerTest, ABadGateFailsTheSampleAndNotTheRun) {
  machine_.bad_gates = 3;
  const Series s = steady();
  EXPECT_EQ(s.elapsed.samples.size(), 10U);
  EXPECT_GT(s.elapsed.gate_timeouts, 0U);
  EXPECT_TRUE(flagged(s, "gate-timeout"));
}

TEST_F(SamplerTest, AGateThatNeverWorksIsAnError) {
  machine_.bad_gates = 1'000'000;
  EXPECT_THROW(steady(), MeasurementError);
}

TEST_F(SamplerTest, ASlowClockIsFlagged) {
  machine_.clock = 1.2e9;
  EXPECT_TRUE(flagged(steady(), "throttled"));
}

TEST_F(SamplerTest, ProgressTellsOfTheInterval) {
  steady();
  ASSERT_FALSE(progress_.empty());
  EXPECT_EQ(progress_.front().samples, 0U);  // still warming up
  EXPECT_EQ(progress_.back().samples, 10U);
  EXPECT_TRUE(progress_.back().widest_half_width.has_value());
}

TEST_F(SamplerTest, HostClockSeesTheWholeCall) {
  Region r;
  r.name = "a";
  r.clock = Clock::host;
  r.submit = [this] { machine_.host().work({.seconds = 500e-6}, [] {}); };
  const Series s = run({r}).front();
  EXPECT_NEAR(s.elapsed.median, 500e-6, 1e-9);
  EXPECT_EQ(s.elapsed.clock, Clock::host);
  EXPECT_EQ(s.elapsed.batch, 1U);
}

TEST_F(SamplerTest, StepsTimeTheirParts) {
  const auto work = [this](double seconds) { machine_.host().work({.seconds = seconds}, [] {}); };
  Region r;
  r.name = "a";
  r.clock = Clock::host;
  r.parts = {{.name = "first"}, {.name = "burnt", .clock = Clock::cpu}};
  r.steps = [&](LapTimer& laps) {
    work(3e-6);
    laps.lap(0);
    work(100e-6);
    laps.restart();
    work(2e-6);
    laps.lap(0);
    laps.add(1, 42);
  };
  const Series s = run({r}).front();
  EXPECT_NEAR(s.elapsed.median, 105e-6, 1e-9);
  EXPECT_EQ(s.elapsed.batch, 1U) << "a pass of steps is one sample";
  const Measurement& first = s.part("first");
  ASSERT_EQ(first.samples.size(), 2 * s.elapsed.samples.size());
  EXPECT_NEAR(first.samples[0], 3e-6, 1e-9);
  EXPECT_NEAR(first.samples[1], 2e-6, 1e-9);
  EXPECT_EQ(first.clock, Clock::host);
  EXPECT_EQ(s.part("burnt").clock, Clock::cpu);
  EXPECT_EQ(s.part("burnt").median, 42);
  EXPECT_THROW(static_cast<void>(s.part("second")), std::logic_error);
}

TEST_F(SamplerTest, APartThatDecidesMustBeKnownWellEnough) {
  const auto samples = [this](bool decides) {
    Region r;
    r.name = "a";
    r.clock = Clock::host;
    r.parts = {{.name = "noisy", .decides = decides}};
    std::size_t pass = 0;
    r.steps = [this, pass](LapTimer& laps) mutable {
      machine_.host().work({.seconds = 1e-3}, [] {});
      laps.add(0, 1.0 + 0.01 * static_cast<double>(pass++ * 7 % 11));
    };
    const Series s = run({r}).front();
    EXPECT_EQ(s.elapsed.stop, Stop::ci);
    return s.part("noisy").samples.size();
  };
  EXPECT_EQ(samples(false), 10U);
  EXPECT_GT(samples(true), 10U);
}

TEST_F(SamplerTest, WhatElseItsPassesSayIsSettledByItself) {
  const Stream back = device_.make_stream(StreamKind::nonblocking);
  Region r = region("both", [] { return 500.0; });
  r.streams = {stream_, back};
  r.per_stream = true;
  r.submit = [&, forth = r.submit, pass = 0]() mutable {
    forth();
    const std::size_t bytes = ++pass % 2 == 0 ? 64 * KiB : 128 * KiB;
    back.copy({host_.data, on_gpu_.data, bytes, Direction::d2h});
  };
  const Series s = run({r}).front();
  const auto stream = [&s](std::size_t which) {
    std::vector<double> samples;
    for (const auto& times : s.stream_times) samples.push_back(times[which]);
    return series_of_same_passes(s, "one", std::move(samples));
  };
  EXPECT_EQ(s.elapsed.stop, Stop::ci);
  EXPECT_EQ(stream(0).stop, Stop::ci);
  EXPECT_EQ(stream(1).stop, Stop::others);
  EXPECT_EQ(stream(1).name, "one");
  EXPECT_EQ(stream(1).samples.size(), 10U);
}

TEST_F(SamplerTest, AResetRunsBeforeEveryPassAndIsNotTimed) {
  std::size_t resets = 0;
  std::size_t passes = 0;
  Region r;
  r.name = "a";
  r.clock = Clock::host;
  r.reset = [&] {
    ++resets;
    machine_.host().work({.seconds = 1e-3}, [] {});
  };
  r.submit = [&] {
    EXPECT_EQ(++passes, resets);
    machine_.host().work({.seconds = 20e-6}, [] {});
  };
  const Series s = run({r}).front();
  EXPECT_GT(passes, s.elapsed.samples.size());
  EXPECT_NEAR(s.elapsed.median, 20e-6, 1e-9);
  EXPECT_EQ(s.elapsed.batch, 1U) << "a second repetition would not be made ready";
}

TEST_F(SamplerTest, TimedPassesCarryNoDataAndOthersDoAgainAfterwards) {
  pattern::fill_bytes({host_.data, 4096}, 1);
  steady();
  EXPECT_EQ(on_gpu_.data[0], std::byte{0});
  device_.copy_blocking({on_gpu_.data, host_.data, 4096, Direction::h2d});
  EXPECT_FALSE(pattern::check_bytes({on_gpu_.data, 4096}, 1).has_value());
}

}  // namespace

}  // namespace xferbench::test
