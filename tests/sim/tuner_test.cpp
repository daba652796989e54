// tune on the simulated device, with a scenario whose best case is known: each case is a copy whose length follows from
// its axes.
#include "run/tuner.hpp"

#include <array>
#include <csignal>
#include <set>

#include "app/commands.hpp"
#include "cli/command.hpp"
#include "core/interrupt.hpp"
#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

constexpr std::size_t kLargest = std::size_t{64} << 20;

/// Bytes that a case copies, which set its time. The minimum, 0.9 times `about`, is at streams=6, chunks=64,
/// strategy=b.
std::size_t bytes_of(const Case& c, std::size_t about) {
  const double streams = std::log2(static_cast<double>(c.count("streams")) / 6);
  const double chunks = std::log2(static_cast<double>(c.count("chunks")) / 64);
  const double strategy = c.word("strategy") == "b" ? 0.9 : 1;
  return static_cast<std::size_t>(static_cast<double>(about) * strategy *
                                  (1 + 0.2 * streams * streams + 0.1 * chunks * chunks)) &
         ~std::size_t{3};
}

struct Calls {
  std::size_t prepared = 0;
  std::size_t verified = 0;
  std::size_t regions = 0;
};

/// The size of the copies, and faults for each case.
struct Script {
  std::size_t bytes = 8 << 20;
  std::function<std::optional<SkipReason>(const Case&)> skip_reason = [](const Case&) { return std::nullopt; };
  std::function<void(const Case&)> prepare = [](const Case&) {};
  std::function<void(const Case&)> verify = [](const Case&) {};
  std::function<void(const Case&)> time = [](const Case&) {};
  std::function<void(const Case&)> check = [](const Case&) {};
  std::function<bool(const Case&)> apart = [](const Case&) { return false; };
};

class Copies final : public Tunable {
 public:
  Copies(Device& device, const Script& script, Calls& calls)
      : device_(device),
        script_(script),
        calls_(calls),
        memory_(device.allocate_device(kLargest)),
        host_(device.allocate_host(kLargest, HostMemory::pinned)) {}

  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c) const override { return script_.skip_reason(c); }
  /// A prediction that is 10 % wrong for each strategy, so that it prefers the wrong one, and slightly wrong for each
  /// case.
  [[nodiscard]] double predict(const Case& c) const override {
    const double wrong = c.word("strategy") == "b" ? 1.1 : 0.9;
    const double ripple = 1 + 0.02 * std::sin(static_cast<double>(c.count("streams") * c.count("chunks")));
    return static_cast<double>(bytes_of(c, script_.bytes)) / 50e9 * wrong * ripple;
  }
  [[nodiscard]] double complexity(const Case& c) const override { return static_cast<double>(c.count("chunks")); }
  [[nodiscard]] Candidate prepare(const Case& c) override {
    ++calls_.prepared;
    script_.prepare(c);
    const auto one = std::make_shared<One>(*this, c);
    return {.region = [one] { return one->region(); }, .verify = [one] { one->verify(); }, .apart = script_.apart(c)};
  }
  void describe(const Case& c, double seconds, double /*fastest*/, Result& result) const override {
    result.add("bandwidth", static_cast<double>(bytes_of(c, script_.bytes)) / seconds / 1e9, "GB/s");
  }
  [[nodiscard]] std::vector<Measurement> stages() const override {
    Measurement stage;
    stage.name = "stage";
    stage.samples = {1e-3};
    stage.min = stage.median = stage.max = 1e-3;
    return {stage};
  }

 private:
  class One {
   public:
    One(Copies& all, Case c)
        : all_(all), case_(std::move(c)), stream_(all.device_.make_stream(StreamKind::nonblocking)) {}
    [[nodiscard]] Region region() {
      ++all_.calls_.regions;
      Region r;
      r.name = "copy";
      r.clock = Clock::event_gated;
      r.streams = {stream_};
      r.submit = [this] {
        all_.script_.time(case_);
        stream_.copy({all_.memory_.data, all_.host_.data, bytes_of(case_, all_.script_.bytes), Direction::h2d});
      };
      r.check = [this] { all_.script_.check(case_); };
      return r;
    }
    void verify() {
      ++all_.calls_.verified;
      all_.script_.verify(case_);
    }

   private:
    Copies& all_;
    Case case_;
    Stream stream_;
  };

  Device& device_;
  const Script& script_;
  Calls& calls_;
  DeviceBuffer memory_;
  HostBuffer host_;
};

class Fake final : public Scenario {
 public:
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override {
    static const ScenarioDescriptor fake{
        .name = "fake",
        .summary = "made for a test",
        .axes = {{.name = "size", .kind = AxisKind::size, .defaults = "64M"},
                 {.name = "streams", .defaults = "1", .tuning = "1:8:+1"},
                 {.name = "chunks", .defaults = "8", .tuning = "4:256"},
                 {.name = "strategy",
                  .kind = AxisKind::choice,
                  .defaults = "a",
                  .tuning = "a,b",
                  .choices = {"a", "b", "c"}}},
        .metrics = {measured("copy", "a copy").as_headline().column("time", {MetricDeclaration::Companion::interval}),
                    derived("bandwidth", "GB/s", Better::higher, "payload over time").column("GB/s"),
                    measured("stage", "made up")}};
    return fake;
  }
  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities*) const override {
    if (c.count("chunks") < 1024) return std::nullopt;
    return SkipReason::impossible("too many chunks");
  }
  [[nodiscard]] MemoryNeeds needs(const Case& c) const override { return {.device = c.count("chunks") << 20}; }
  void run(const Case&, const RunContext&, Result&) const override {
    throw std::logic_error("tune does not run cases");
  }
  [[nodiscard]] std::unique_ptr<Tunable> tunable(std::span<const Case>, const RunContext& bench) const override {
    return std::make_unique<Copies>(bench.device, script, calls);
  }

  Script script;
  mutable Calls calls;
};

class TunerTest : public testing::Test {
 protected:
  cli::TuneCommand parsed(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"tune", "fake", "--simulate", "--no-verify"});
    const std::array<const Scenario*, 1> all{&fake_};
    return std::get<cli::TuneCommand>(cli::parse(arguments, all));
  }

  RunContext bench() {
    SamplingPolicy policy;
    policy.budget = 8;
    return {machine_, device_, policy, 5, true, [](const SamplingProgress&) {}};
  }

  Tuned tune(const std::vector<std::string>& arguments = {}) { return tune(parsed(arguments), bench()); }

  Tuned tune(const cli::TuneCommand& command, const RunContext& with) {
    std::vector<Case> space;
    for (const PlannedCase& c : command.cases) space.push_back(c.config);
    return xferbench::tune(fake_, space, with,
                           [&](const Case& c) {
                             return cli::command_line(command, {&fake_, c});
                           },
                           {.progress = [this](const TuneProgress& p) { progress_.push_back(p); },
                            .measured =
                                [this](const std::vector<Result>& results) {
                                  rounds_.push_back(results.size());
                                  after_round_();
                                }});
  }

  static const Finding* about(const Tuned& tuned, const std::string& what) {
    const auto found = std::ranges::find_if(tuned.findings, [&](const Finding& f) {
      return f.labels.front() == std::pair<std::string, std::string>("about", what);
    });
    return found == tuned.findings.end() ? nullptr : &*found;
  }
  static double metric(const Finding& f, const std::string& name) {
    return std::ranges::find(f.metrics, name, &Metric::name)->value;
  }
  static std::string label(const Finding& f, const std::string& name) {
    const auto found = std::ranges::find(f.labels, name, &std::pair<std::string, std::string>::first);
    return found == f.labels.end() ? "" : found->second;
  }

  /// Number of passes in all samples of search and confirmation.
  static double passes_of(const Tuned& tuned) {
    double passes = 0;
    for (const Result& r : tuned.results) {
      for (const Measurement& m : r.measurements) {
        if (m.name.starts_with("copy")) passes += static_cast<double>(m.samples.size() * m.batch);
      }
    }
    return passes;
  }

  sim::SimMachine machine_{profile("h200")};
  Device& device_ = machine_.device();
  Fake fake_;
  std::vector<TuneProgress> progress_;
  std::vector<std::size_t> rounds_;
  std::function<void()> after_round_ = [] {};
};

TEST_F(TunerTest, ACandidateThatDisturbsOthersIsSampledByItself) {
  std::vector<std::pair<std::string, unsigned>> runs;  // key of a case, and how many passes of it followed each other
  fake_.script.apart = [](const Case& c) { return c.is("strategy", "a"); };
  fake_.script.time = [&runs](const Case& c) {
    if (runs.empty() || runs.back().first != c.key()) runs.emplace_back(c.key(), 0);
    ++runs.back().second;
  };
  const Tuned tuned = tune();
  const unsigned batch = tuned.results.front().measurements.front().batch;
  constexpr unsigned kSamplesOfARound = 4;
  std::size_t of_a = 0;
  for (const auto& [key, passes] : runs) {
    if (key.find("strategy=a") == std::string::npos) continue;
    ++of_a;
    EXPECT_GE(passes, kSamplesOfARound * batch) << key;
  }
  EXPECT_GT(of_a, 1U);
  EXPECT_GT(runs.size(), 2 * tuned.results.size()) << "the others are sampled alternately";
}

TEST_F(TunerTest, FindsTheTrueBestByMeasuringAFifth) {
  const Tuned tuned = tune();
  const Finding* winner = about(tuned, "winner");
  ASSERT_NE(winner, nullptr);
  EXPECT_EQ(label(*winner, "streams") + "/" + label(*winner, "chunks") + "/" + label(*winner, "strategy"), "6/64/b");
  EXPECT_NE(winner->text.find(": streams 6, chunks 64, b: "), std::string::npos) << winner->text;
  constexpr std::size_t kSpace = 8 * 7 * 2;
  EXPECT_LE(tuned.results.size(), kSpace / 5);
  EXPECT_EQ(metric(*about(tuned, "search"), "measured"), static_cast<double>(tuned.results.size()));
  EXPECT_EQ(metric(*about(tuned, "search"), "configurations"), static_cast<double>(kSpace));
}

TEST_F(TunerTest, TakesFourSamplesOfWhatItSearchesAndEndsWithSixFinalists) {
  std::size_t finalists = 0;
  for (const Result& r : tune().results) {
    const bool confirmed = r.label("measured_in") == "confirmation";
    finalists += confirmed ? 1 : 0;
    const Measurement& searched = *r.measurement(confirmed ? "copy-search" : "copy");
    EXPECT_EQ(searched.samples.size() % 4, 0U) << r.config.key();
    EXPECT_EQ(searched.warmup_runs, 0U) << r.config.key();
    EXPECT_TRUE(searched.warmup_converged) << "it was verified just before";
  }
  EXPECT_LE(finalists, 6U);
}

TEST_F(TunerTest, SaysWhereItsTimeWent) {
  const double begun = machine_.host().now();
  const Tuned tuned = tune();
  const Finding& search = *about(tuned, "search");
  EXPECT_EQ(metric(search, "passes"), passes_of(tuned));
  const double all = metric(search, "model_seconds") + metric(search, "verification_seconds") +
                     metric(search, "search_seconds") + metric(search, "confirmation_seconds");
  EXPECT_NEAR(all, machine_.host().now() - begun, 1e-3);
  EXPECT_GT(metric(search, "confirmation_seconds"), 0);
}

/// Samples of one configuration with different numbers of passes could not be combined.
TEST_F(TunerTest, RepeatsShortPassesOfAllConfigurationsAlike) {
  const auto batches_of = [](const Tuned& tuned) {
    std::set<unsigned> batches;
    for (const Result& r : tuned.results) {
      for (const Measurement& m : r.measurements) {
        if (m.name.starts_with("copy")) batches.insert(m.batch);
      }
    }
    return batches;
  };
  EXPECT_EQ(batches_of(tune()), std::set{2U});  // 7.5 MiB take 158 us; the prediction ignores overhead
  fake_.script.bytes = 64 << 10;
  const Tuned tuned = tune();
  const auto batches = batches_of(tuned);
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_GT(*batches.begin(), 10U);
  EXPECT_EQ(metric(*about(tuned, "search"), "passes"), passes_of(tuned));
}

TEST_F(TunerTest, DoesNotTakeOneSampleForCertain) {
  RunContext hasty = bench();
  hasty.policy.min_samples = hasty.policy.max_samples = 1;
  const Tuned tuned = tune(parsed({"--streams", "5,6", "--chunks", "64", "--strategy", "b"}), hasty);
  ASSERT_EQ(tuned.results.size(), 2U);
  EXPECT_NE(about(tuned, "winner")->text.find(", tied with others"), std::string::npos) << about(tuned, "winner")->text;
}

TEST_F(TunerTest, LeavesOutWhatTheDeviceRefuses) {
  fake_.script.skip_reason = [](const Case& c) {
    return c.word("strategy") == "b" ? std::optional(SkipReason::unavailable("is too much")) : std::nullopt;
  };
  const Tuned tuned = tune();
  EXPECT_EQ(metric(*about(tuned, "search"), "configurations"), 8.0 * 7);
  for (const Result& r : tuned.results) EXPECT_EQ(r.config.word("strategy"), "a");

  fake_.script.skip_reason = [](const Case&) { return std::optional(SkipReason::unavailable("is too much")); };
  try {
    tune();
    FAIL() << "nothing was left to tune";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("is too much"), std::string::npos) << error.what();
  }
}

TEST_F(TunerTest, SaysThatItHasNotEndedWhereTheDeviceIsLostBetweenRounds) {
  bool lost = false;
  sim::SimMachine machine = machine_with<FragileDevice>(&lost);
  after_round_ = [&] { lost = true; };
  RunContext fragile = quick_bench(machine.device());
  fragile.policy.budget = 8;
  const Tuned tuned = tune(parsed({}), fragile);
  EXPECT_EQ(rounds_.size(), 1U);
  ASSERT_FALSE(tuned.results.empty());
  for (const Result& r : tuned.results) EXPECT_FALSE(ran_to_its_end(r)) << r.config.key();
}

TEST_F(TunerTest, KeepsTheHealthOfEachRoundWithWhatWasMeasuredInIt) {
  const Health well{.pcie_replays = 7};
  const Health worse{.pcie_replays = 8};
  InterceptedSim<FailingKernel> sim(std::make_unique<sim::SimMachine>(profile("h200")),
                                    std::vector<Health>{well, worse});
  RunContext ailing = quick_bench(sim.device());
  ailing.policy.budget = 8;
  const Tuned tuned = tune(parsed({}), ailing);
  std::size_t flagged = 0;
  for (const Result& r : tuned.results) {
    EXPECT_TRUE(r.health) << r.config.key();
    const Measurement& m = r.measurements.back();
    flagged += std::ranges::find(m.flags, "pcie-replays") != m.flags.end() ? 1 : 0;
  }
  EXPECT_GT(flagged, 0U) << "those of the first round";
  EXPECT_LT(flagged, tuned.results.size()) << "not those that were measured later";
}

TEST_F(TunerTest, VerifiesEveryConfigurationOnceBeforeItIsTimed) {
  std::set<std::string> verified;
  fake_.script.verify = [&](const Case& c) { EXPECT_TRUE(verified.insert(c.key()).second) << c.key(); };
  fake_.script.time = [&](const Case& c) { EXPECT_TRUE(verified.contains(c.key())) << c.key(); };
  const Tuned tuned = tune();
  EXPECT_EQ(verified.size(), tuned.results.size());
}

TEST_F(TunerTest, DoesNotVerifyIfTheUserForbidsIt) {
  RunContext careless = bench();
  careless.verify = false;
  tune(parsed({}), careless);
  EXPECT_EQ(fake_.calls.verified, 0U);
}

TEST_F(TunerTest, GivesEveryConfigurationItsMetrics) {
  const Tuned tuned = tune();
  std::size_t with_stages = 0;
  for (const Result& r : tuned.results) {
    ASSERT_EQ(r.status, Status::ok) << r.reason;
    ASSERT_NE(r.measurement("copy"), nullptr);
    EXPECT_DOUBLE_EQ(r.metric("makespan")->value, r.measurement("copy")->median);
    EXPECT_NEAR(r.metric("residual")->value, r.metric("makespan")->value / r.metric("predicted")->value - 1, 1e-12);
    EXPECT_GE(r.metric("behind_best")->value, 0) << "the simulator has no noise";
    EXPECT_NE(r.metric("bandwidth"), nullptr);
    EXPECT_EQ(r.measurement("copy-search") != nullptr, r.label("measured_in") == "confirmation");
    with_stages += r.measurement("stage") != nullptr ? 1 : 0;
  }
  EXPECT_EQ(with_stages, 1U) << "the winner's";
}

TEST_F(TunerTest, SaysHowToRunTheWinner) {
  const Tuned tuned = tune({"--size", "32M"});
  EXPECT_EQ(label(*about(tuned, "command"), "command"),
            "xferbench fake --size 32MiB --streams 6 --chunks 64 --strategy b --simulate h200");
}

TEST_F(TunerTest, NamesTheSimplestOfThoseThatAreAsFast) {
  // All cases are within 0.5 %.
  const Tuned tuned = tune({"--streams", "6", "--strategy", "b", "--chunks", "60,61,62,63,64,65"});
  const Finding* simplest = about(tuned, "simplest");
  ASSERT_NE(simplest, nullptr);
  EXPECT_EQ(label(*simplest, "chunks"), "60");
  EXPECT_EQ(metric(*about(tuned, "alike"), "alike"), 5);
}

TEST_F(TunerTest, KeepsToWhatTheUserFixed) {
  const Tuned tuned = tune({"--strategy", "a", "--streams", "2"});
  for (const Result& r : tuned.results) {
    EXPECT_EQ(r.config.word("strategy"), "a");
    EXPECT_EQ(r.config.count("streams"), 2U);
  }
  EXPECT_EQ(tuned.results.size(), 6U) << "one batch of the seven: the last could gain nothing";
}

TEST_F(TunerTest, AFailureIsThatOfOneConfigurationWhereverItHappens) {
  const auto wrong = [](const Case& c) { return c.count("streams") == 5; };
  const auto survives = [&](const std::string& reason) {
    const Tuned tuned = tune();
    EXPECT_EQ(label(*about(tuned, "winner"), "streams"), "6");
    EXPECT_GT(metric(*about(tuned, "search"), "failed"), 0);
    for (const Result& r : tuned.results) {
      EXPECT_EQ(r.reason, wrong(r.config) ? reason : "") << r.config.key();
      EXPECT_EQ(r.status == Status::failed, wrong(r.config)) << r.config.key();
      EXPECT_EQ(r.metrics.empty(), wrong(r.config)) << r.config.key();
    }
    fake_.script = {};
  };
  fake_.script.prepare = [&](const Case& c) {
    if (wrong(c)) throw DeviceError("cudaStreamCreate", "no");
  };
  survives("cudaStreamCreate: no");
  fake_.script.verify = [&](const Case& c) {
    if (wrong(c)) throw VerificationError("wrong byte");
  };
  survives("wrong byte");
  fake_.script.time = [&](const Case& c) {
    if (wrong(c)) throw MeasurementError("timing copy: the gate");
  };
  survives("timing copy: the gate");
}

TEST_F(TunerTest, SaysSoIfNothingCanBeMeasured) {
  fake_.script.verify = [](const Case&) { throw VerificationError("wrong byte"); };
  const Tuned tuned = tune();
  EXPECT_EQ(about(tuned, "winner"), nullptr);
  EXPECT_NE(about(tuned, "search"), nullptr);
  for (const Result& r : tuned.results) EXPECT_EQ(r.status, Status::failed);
}

TEST_F(TunerTest, KeepsWithinItsBudget) {
  RunContext hurried = bench();
  hurried.policy.budget = 0.05;
  const double begun = machine_.host().now();
  const Tuned tuned = tune(parsed({}), hurried);
  EXPECT_LT(machine_.host().now() - begun, 0.1) << "a round and a confirmation that were under way may end";
  EXPECT_NE(about(tuned, "winner"), nullptr);
}

TEST_F(TunerTest, TellsHowFarItIs) {
  tune();
  ASSERT_FALSE(progress_.empty());
  EXPECT_EQ(progress_.front().measured, 0U);
  EXPECT_FALSE(progress_.front().best);
  EXPECT_EQ(progress_.back().most, 22U);
  EXPECT_TRUE(progress_.back().confirming);
  EXPECT_TRUE(progress_.back().best);
  EXPECT_TRUE(std::ranges::is_sorted(rounds_));
}

/// A device that moves data in timed passes, so that they are checked.
class CheckableDevice final : public CapableDevice {
 public:
  explicit CheckableDevice(sim::SimMachine& machine) : CapableDevice(machine) {
    capabilities_.moves_data_when_timed = true;
  }
};

TEST_F(TunerTest, AFinalistWhoseTimedPassLeftWrongDataDropsOut) {
  sim::SimMachine machine = machine_with<CheckableDevice>();
  const RunContext checking{machine, machine.device(), bench().policy, 5, true, [](const SamplingProgress&) {}};
  std::set<std::string> checked;
  fake_.script.check = [&](const Case& c) { checked.insert(c.key()); };
  const auto winner_of = [](const Tuned& tuned) {
    const auto time = [](const Result& r) {
      return std::pair(r.label("measured_in") != "confirmation", r.value("makespan"));
    };
    std::vector<Result> ok;
    std::ranges::copy_if(tuned.results, std::back_inserter(ok), [](const Result& r) { return r.status == Status::ok; });
    return *std::ranges::min_element(ok, {}, time);
  };
  const Result winner = winner_of(tune(parsed({}), checking));
  EXPECT_GE(winner.measurement("copy")->checked, 1U);
  EXPECT_TRUE(checked.contains(winner.config.key()));
  EXPECT_LE(checked.size(), 6U) << "of those that were only searched none is";
  fake_.script.check = [&](const Case& c) {
    if (c.key() == winner.config.key()) throw VerificationError("wrong");
  };
  const Tuned tuned = tune(parsed({}), checking);
  const auto dropped =
      std::ranges::find(tuned.results, winner.config.key(), [](const Result& r) { return r.config.key(); });
  ASSERT_NE(dropped, tuned.results.end());
  EXPECT_EQ(dropped->status, Status::failed);
  EXPECT_TRUE(dropped->reason.starts_with("timed pass ")) << dropped->reason;
  EXPECT_EQ(winner_of(tuned).label("measured_in"), "confirmation") << "the others are measured afresh";
  EXPECT_NE(winner_of(tuned).config.key(), winner.config.key());
}

/// Number of reported configurations of an interrupted tune; 100 if one was not measured.
int reported(const Tuned& tuned) {
  const auto sampled = [](const Result& r) {
    return r.status == Status::ok && !r.measurements.front().samples.empty();
  };
  return std::ranges::all_of(tuned.results, sampled) ? static_cast<int>(tuned.results.size()) : 100;
}

/// As on a terminal: shells make background processes ignore SIGINT.
void handle_interrupts() {
  std::signal(SIGINT, SIG_DFL);
  install_interrupt_handlers(HangUp::ends);
}

// In a child process: an interrupt cannot be undone.
TEST_F(TunerTest, ReportsNothingWhenInterruptedBeforeTheFirstSamples) {
  const auto body = [this] {
    handle_interrupts();
    fake_.script.time = [](const Case&) {
      if (interrupted() == 0) std::raise(SIGINT);
    };
    std::exit(reported(tune()));
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

TEST_F(TunerTest, KeepsWhatItHasWhenInterrupted) {
  const auto body = [this] {
    handle_interrupts();
    after_round_ = [] { std::raise(SIGINT); };
    const Tuned tuned = tune();
    std::exit(about(tuned, "winner") != nullptr && progress_.size() > 1 ? reported(tuned) : 101);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(6), "");
}

TEST_F(TunerTest, DecidesNothingByAConfirmationThatHasHardlyBegun) {
  const auto body = [this] {
    handle_interrupts();
    int submitted = 0;
    int stop_at = -1;
    fake_.script.time = [&](const Case&) {
      if (progress_.back().confirming && ++submitted == stop_at) std::raise(SIGINT);
    };
    tune();
    // The last round takes ten samples of two configurations, two copies each. Stop after the first two or three
    // samples.
    stop_at = std::exchange(submitted, 0) - 30;
    progress_.clear();
    const Tuned tuned = tune();
    const auto in_search = [](const Result& r) { return r.label("measured_in") == "search"; };
    std::exit(interrupted() != 0 && std::ranges::all_of(tuned.results, in_search) && reported(tuned) > 8 ? 0 : 1);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

TEST_F(TunerTest, LeavesOutWhatIsTooLarge) {
  const cli::TuneCommand command = parsed({"--chunks", "8,16,32,1024"});
  EXPECT_EQ(feasible(command.cases, machine_, false, std::nullopt).size(), 3U * 16);
  EXPECT_EQ(feasible(command.cases, machine_, false, std::uint64_t{16} << 20).size(), 2U * 16);
  try {
    static_cast<void>(feasible(command.cases, machine_, false, 1024));
    FAIL() << "nothing is left";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "no configuration is left to tune: fake/size=64MiB/streams=1/chunks=8/strategy=a: needs 8 MiB of device "
              "memory, more than the 1 KiB of --memory-limit");
  }
}

TEST_F(TunerTest, AsADryCommandPrintsTheSpace) {
  testing::internal::CaptureStdout();
  const int code = app::perform(parsed({"--dry-run", "--chunks", "8,1024", "--strategy", "a"}));
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(
      text.starts_with("fake/size=64MiB/streams=1/chunks=8/strategy=a\n"
                       "fake/size=64MiB/streams=1/chunks=1024/strategy=a  (left out: too many chunks)\n"))
      << text;
  EXPECT_TRUE(text.ends_with("\n8 configurations, 8 left out\n")) << text;
}

}  // namespace

}  // namespace xferbench::test
