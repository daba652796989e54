// Checks of timed passes: which passes are checked, what checks cost, and that they find every corruption in any
// scenario.
#include "measure/sampler.hpp"

#include <csignal>
#include <limits>
#include <set>

#include "core/interrupt.hpp"
#include "kernels/dynpar/device_sort.hpp"
#include "measure/statistics.hpp"
#include "scenarios/dynpar/sort.hpp"
#include "scenarios/overlap/pipelines.hpp"
#include "sim/faulty_device.hpp"
#include "sim/sim_fixture.hpp"

namespace xferbench::test {

namespace {

// --- Choice of passes ------------------------------------------------------------------------------------------------

std::vector<std::size_t> chosen_of(std::uint64_t seed, std::size_t region, std::size_t passes) {
  const PassChecks checks{.wanted = true, .seed = seed};
  std::vector<std::size_t> chosen;
  for (std::size_t pass = 1; pass <= passes; ++pass) {
    if (checks.chosen(region, pass)) chosen.push_back(pass);
  }
  return chosen;
}

TEST(PassChecks, AreOneInAHundredSpreadOverTheRun) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<std::size_t> chosen = chosen_of(seed, 0, 10'000);
    ASSERT_EQ(chosen.size(), 100U) << seed;
    for (std::size_t i = 0; i < chosen.size(); ++i) EXPECT_EQ((chosen[i] - 1) / 100, i) << seed;
  }
}

TEST(PassChecks, FollowFromTheSeedAndDifferBetweenRegionsAndHundreds) {
  EXPECT_EQ(chosen_of(7, 2, 1000), chosen_of(7, 2, 1000));
  EXPECT_NE(chosen_of(7, 2, 1000), chosen_of(7, 3, 1000));
  EXPECT_NE(chosen_of(7, 2, 1000), chosen_of(8, 2, 1000));
  std::set<std::size_t> places;
  for (const std::size_t pass : chosen_of(7, 2, 10'000)) places.insert(pass % 100);
  EXPECT_GT(places.size(), 40U) << "in step with something";
}

TEST(PassChecks, AreNoneUnlessWanted) {
  for (std::size_t pass = 1; pass <= 1000; ++pass) EXPECT_FALSE(PassChecks().chosen(0, pass));
}

// --- Checks in the sampling loop -------------------------------------------------------------------------------------

/// Regions that log each pass as a lower-case letter and each check as its capital.
class CheckedSampling : public testing::Test {
 protected:
  Region region(char name, double seconds = 1e-3) {
    return {.name = std::string(1, name),
            .clock = Clock::host,
            .submit =
                [this, name, seconds] {
                  log_ += name;
                  machine_.host().work({.seconds = seconds}, [] {});
                },
            .batchable = false,
            .check =
                [this, name] {
                  log_ += static_cast<char>(name - 'a' + 'A');
                  machine_.host().work({.seconds = check_seconds_}, [] {});
                  on_check_();
                }};
  }
  std::vector<Series> run(std::vector<Region> regions, bool wanted = true) {
    log_.clear();
    return sample(machine_, std::move(regions), policy_, observe_, {.wanted = wanted, .seed = 3});
  }
  /// Pass 11, the one after the first look at the samples, is 10 % slower than all others.
  Region slow_behind_the_first_look() {
    observe_ = [this](const SamplingProgress& progress) { slow_ = progress.samples == 10; };
    Region late = region('a');
    late.submit = [this, submit = late.submit] {
      submit();
      if (std::exchange(slow_, false)) machine_.host().work({.seconds = 0.1e-3}, [] {});
    };
    return late;
  }
  [[nodiscard]] std::size_t count(char c) const { return static_cast<std::size_t>(std::ranges::count(log_, c)); }

  sim::SimMachine machine_{profile("h200")};
  SamplingPolicy policy_;
  double check_seconds_ = 0;
  std::function<void()> on_check_ = [] {};
  SamplingObserver observe_ = [](const SamplingProgress&) {};
  std::string log_;
  bool slow_ = false;
};

TEST_F(CheckedSampling, TheLastPassOfEveryRegionIsCheckedRightBehindIt) {
  policy_.min_samples = policy_.max_samples = 6;
  const std::vector<Series> series = run({region('a'), region('b'), region('c')});
  EXPECT_TRUE(log_.ends_with("cCcbBbaA")) << log_;
  for (const Series& s : series) EXPECT_EQ(s.elapsed.samples.size(), 6U);
}

TEST_F(CheckedSampling, OneMoreRoundIsCheckedWhereTheLastWasNotKnownToBe) {
  const std::vector<Series> series = run({region('a'), region('b')});
  EXPECT_TRUE(log_.ends_with("aAabB")) << log_;
  for (const Series& s : series) {
    EXPECT_EQ(s.elapsed.samples.size(), 11U) << "a checked pass is a sample like others";
    EXPECT_EQ(s.elapsed.stop, Stop::ci);
  }
}

TEST_F(CheckedSampling, GoesOnWhereThatRoundWidensTheInterval) {
  const Region late = slow_behind_the_first_look();
  const Series s = run({late, region('b')}).front();
  ASSERT_NEAR(s.elapsed.samples[10], 1.1e-3, 1e-6);
  ASSERT_FALSE(statistics::settled(std::span(s.elapsed.samples).first(11), policy_.ci));
  EXPECT_EQ(s.elapsed.samples.size(), 21U) << "until the next look, and a round behind it";
  EXPECT_EQ(s.elapsed.stop, Stop::ci);
  EXPECT_TRUE(statistics::settled(s.elapsed.samples, policy_.ci)) << "what is said holds for what is reported";
  EXPECT_EQ(s.elapsed.checked, 2U);
  EXPECT_TRUE(log_.ends_with("aAabB")) << log_;
}

TEST_F(CheckedSampling, EndsWithTheMostSamplesWhereThatRoundIsTheLastOne) {
  policy_.max_samples = 11;
  const Region late = slow_behind_the_first_look();
  const Series s = run({late}).front();
  EXPECT_EQ(s.elapsed.samples.size(), 11U);
  EXPECT_EQ(s.elapsed.stop, Stop::max_samples);
}

TEST_F(CheckedSampling, OnePassInAHundredIsCheckedAndCounted) {
  policy_.min_samples = policy_.max_samples = 1000;
  policy_.budget = 1e9;
  const std::vector<Series> series = run({region('a'), region('b')});
  for (const std::size_t i : {0U, 1U}) {
    const auto chosen = chosen_of(3, i, 1000);
    const std::size_t expected = chosen.size() + (chosen.back() == 1000 ? 0 : 1);
    EXPECT_EQ(series[i].elapsed.checked, expected);
    EXPECT_EQ(series[i].submit.checked, expected);
    EXPECT_EQ(count(i == 0 ? 'A' : 'B'), expected);
    EXPECT_EQ(series[i].elapsed.samples.size(), 1000U);
  }
}

TEST_F(CheckedSampling, APassThatNobodyTimesFollowsEachCheckButTheLast) {
  policy_.min_samples = policy_.max_samples = 1000;
  policy_.budget = 1e9;
  const Series s = run({region('a')}).front();
  EXPECT_EQ(s.elapsed.batch, 1U);
  constexpr std::size_t kToChooseTheBatch = 1;
  EXPECT_EQ(count('a'), s.elapsed.samples.size() + s.elapsed.warmup_runs + kToChooseTheBatch + *s.elapsed.checked - 1);
}

TEST_F(CheckedSampling, ChecksAreInNoSampleAndNotInTheBudget) {
  policy_.budget = 1;
  policy_.ci = 0;
  policy_.max_samples = 100'000;
  const auto unsteady = [this] {  // so unsteady that only the budget ends it
    Region r = region('a', 0);
    r.submit = [this, submit = r.submit] {
      submit();
      machine_.host().work({.seconds = log_.size() % 2 == 0 ? 1e-3 : 1.9e-3}, [] {});
    };
    return r;
  };
  const std::size_t without = run({unsteady()}, false).front().elapsed.samples.size();
  check_seconds_ = 0.4;
  const Series s = run({unsteady()}).front();
  EXPECT_EQ(s.elapsed.stop, Stop::budget);
  EXPECT_GT(*s.elapsed.checked, 5U);
  EXPECT_NEAR(static_cast<double>(s.elapsed.samples.size()), static_cast<double>(without), 10);
  EXPECT_NEAR(s.elapsed.max, 1.9e-3, 1e-6);
  EXPECT_NEAR(s.checking, 0.4 * static_cast<double>(*s.elapsed.checked), 0.05);
}

TEST_F(CheckedSampling, NothingIsCheckedUnlessWanted) {
  const Series s = run({region('a')}, false).front();
  EXPECT_EQ(count('A'), 0U);
  EXPECT_EQ(s.elapsed.checked, std::nullopt);
  EXPECT_EQ(s.elapsed.samples.size(), 10U);
}

TEST_F(CheckedSampling, ARegionWithoutACheckSaysSoByNoNumber) {
  Region plain = region('b');
  plain.check = nullptr;
  const std::vector<Series> series = run({region('a'), plain});
  EXPECT_EQ(series[0].elapsed.checked, 1U);
  EXPECT_EQ(series[1].elapsed.checked, std::nullopt);
}

TEST_F(CheckedSampling, AWrongOutputEndsItAndKeepsWhatWasSampled) {
  policy_.min_samples = policy_.max_samples = 6;
  on_check_ = [this] {
    if (log_.back() == 'B') throw VerificationError("wrong result at byte offset 42");
  };
  try {
    run({region('a'), region('b'), region('c')});
    FAIL() << "nobody noticed";
  } catch (const FailedCheck& failed) {
    EXPECT_STREQ(failed.what(), "timed pass 6 of b: wrong result at byte offset 42");
    EXPECT_EQ(failed.region, 1U);
    ASSERT_EQ(failed.sampled.size(), 3U);
    EXPECT_EQ(failed.sampled[0].elapsed.samples.size(), 5U);
    EXPECT_EQ(failed.sampled[1].elapsed.samples.size(), 6U);
    EXPECT_EQ(failed.sampled[2].elapsed.checked, 1U);
    EXPECT_NEAR(failed.sampled[1].elapsed.median, 1e-3, 1e-6) << "its statistics are made";
  }
}

TEST_F(CheckedSampling, NothingIsCheckedAfterCtrlC) {
  // In a child process: an interrupt cannot be undone.
  const auto body = [this] {
    std::signal(SIGINT, SIG_DFL);
    install_interrupt_handlers(HangUp::ends);
    Region stops = region('a');
    stops.submit = [this, submit = stops.submit] {
      submit();
      if (count('a') == 30) std::raise(SIGINT);
    };
    policy_.ci = 0;
    const Series s = run({stops}).front();
    std::exit(count('A') == *s.elapsed.checked && log_.ends_with('a') ? 0 : 1);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "");
}

// --- A machine whose timed passes move data and can be corrupted -----------------------------------------------------

/// An H200 with such overheads that a sample has a single pass, so each pass writes its output once.
const sim::Profile& sluggish() {
  static const sim::Profile slow = [] {
    sim::Profile p = profile("h200");
    p.l2_bytes = 64 * KiB;  // flushing the cache then takes no time
    p.h2d_overhead = p.d2h_overhead = p.copy_overhead = p.kernel_overhead = p.pageable_overhead = 300e-6;
    return p;
  }();
  return slow;
}

using What = CorruptingObserver::What;
using Which = CorruptingObserver::Which;

/// Counts operations and corrupts none.
constexpr Which kNothing{.what = What::both, .nth = 0};
/// Corrupts a byte in the output of operation `index`, counted from 0.
Which one_of(std::size_t index, std::uint64_t offset) {
  return {.what = What::both, .nth = index + 1, .offset = static_cast<std::size_t>(offset)};
}

/// Records which operations belong to checked timed passes, from the ranges that the program marks for profilers.
class CheckedPasses final : public Tracer {
 public:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  CheckedPasses(Tracer& real, const CorruptingObserver& counter) : real_(real), counter_(counter) {}
  void start() override { real_.start(); }
  [[nodiscard]] Trace stop() override { return real_.stop(); }
  void begin_range(const char* name) override {
    open_.push_back({name, counter_.seen()});
    if (open_.back().first == "check") ranges.push_back(last_);
  }
  void end_range() override {
    if (open_.back().first == "sample") last_ = {open_.back().second, counter_.seen()};
    open_.pop_back();
  }

  std::vector<Range> ranges;

 private:
  Tracer& real_;
  const CorruptingObserver& counter_;
  std::vector<std::pair<std::string, std::size_t>> open_;
  Range last_;
};

/// A machine with CheckedPasses as its tracer.
class MarkedMachine final : public sim::SimMachine {
 public:
  explicit MarkedMachine(const CorruptingObserver& counter)
      : SimMachine(sluggish(), {0}, [](sim::SimMachine& m, std::size_t) { return std::make_unique<CapableDevice>(m); }),
        passes_(SimMachine::tracer(), counter) {}
  [[nodiscard]] Tracer& tracer() override { return passes_; }
  [[nodiscard]] const CheckedPasses& passes() const { return passes_; }

 private:
  CheckedPasses passes_;
};

/// A machine that moves data in timed passes, as a real GPU does, and corrupts one operation.
class MovingMachine {
 public:
  explicit MovingMachine(const Which& which = kNothing) : observer_(which) {
    auto marked = std::make_unique<MarkedMachine>(observer_);
    passes_ = &marked->passes();
    machine_ = intercept(std::move(marked), observer_);
  }

  [[nodiscard]] Machine& machine() { return *machine_; }
  [[nodiscard]] Device& device() { return machine_->device(); }
  [[nodiscard]] const std::vector<CheckedPasses::Range>& checked() const { return passes_->ranges; }

 private:
  CorruptingObserver observer_;
  std::unique_ptr<Machine> machine_;
  const CheckedPasses* passes_ = nullptr;  // owned by machine_
};

struct Outcome {
  Result result;
  std::vector<CheckedPasses::Range> checked;
};

/// Runs the case on a new machine, so that each run makes the same sequence of operations.
Outcome run_once_on(const PlannedCase& planned, const Which& which = kNothing, std::size_t samples = 6) {
  MovingMachine machine(which);
  RunContext bench = quick_bench(machine.device());
  bench.policy.min_samples = bench.policy.max_samples = samples;
  std::vector<Result> results = run_all(std::span(&planned, 1), bench);
  return {std::move(results.front()), machine.checked()};
}

/// One case for each way to move data. In all of them each byte of each operation in a pass is part of its output.
const char* const kMoving[] = {
    "memcpy --size 64K --dir h2d,d2h --host pinned,pageable",
    "memcpy --size 64K --dir h2d,d2h --host registered --api sync",
    "memcpy --size 64K --dir h2d,d2h --host mapped --engine sm",
    "memcpy --size 64K --dir d2d --engine ce,sm",
    "memcpy --size 64K --dir bidirectional --host pageable",
    "async --size 64K",
    "alloc --memory pinned,register,register-huge,write-combined --size 2M",
    "staging --size 256K --slot 64K --threads 1,3",
    "staging --size 256K --slot 64K --threads 3 --method threads --crew one-stream,together --stores streaming",
    "staging --size 256K --slot 64K --threads 3 --method register-chunks",
    "scatter --size 256K --piece 4K --way calls,batch",
    "scatter --size 256K --piece 4K --way kernel,staged,packed --threads 2 --list resident",  // no kernel reads it here
    "callback --size 64K --chunks 4 --work 2",
    "overlap --size 64K --chunks 4 --work 2 --strategy streams,engines,double-buffer,batch,zero-copy,serial",
    "overlap --size 64K --chunks 4 --work 2 --kernel vector-add --rounds 2 --strategy streams,engines",
    "dynpar --task children --children 16 --launch host,fire-and-forget,tail",
    "latency --op copy --size 64K",
};

std::vector<PlannedCase> moving_cases() {
  std::vector<PlannedCase> all;
  for (const char* line : kMoving) {
    for (PlannedCase& c : cases_of_line(line)) all.push_back(std::move(c));
  }
  return all;
}

/// Number of operations in all ranges.
std::size_t operations_in(const std::vector<CheckedPasses::Range>& ranges) {
  std::size_t n = 0;
  for (const auto& r : ranges) n += r.end - r.begin;
  return n;
}
std::size_t operation(const std::vector<CheckedPasses::Range>& ranges, std::size_t index) {
  for (const auto& r : ranges) {
    if (index < r.end - r.begin) return r.begin + index;
    index -= r.end - r.begin;
  }
  return std::numeric_limits<std::size_t>::max();
}

/// The documentation promises 99 %. Here, where nothing else goes wrong, all corruptions must be found.
void expect_to_find_injections(std::size_t count) {
  const std::vector<PlannedCase> cases = moving_cases();
  std::size_t injected = 0;
  std::size_t found = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Outcome clean = run_once_on(cases[i]);
    ASSERT_EQ(clean.result.status, Status::ok) << clean.result.config.key() << ": " << clean.result.reason;
    const std::size_t operations = operations_in(clean.checked);
    ASSERT_GT(operations, 0U) << clean.result.config.key() << ": no pass was checked";
    for (std::size_t n = 0; n < (count + cases.size() - 1) / cases.size(); ++n) {
      const Which one =
          one_of(operation(clean.checked, pattern::noise(i, n) % operations), pattern::noise(i + 1000, n));
      const Result spoiled = run_once_on(cases[i], one).result;
      ++injected;
      const bool noticed = spoiled.status == Status::failed && spoiled.reason.starts_with("timed pass ");
      found += noticed ? 1 : 0;
      EXPECT_TRUE(noticed) << spoiled.config.key() << ", operation " << one.nth << ", byte " << one.offset << ": "
                           << spoiled.reason;
      EXPECT_FALSE(spoiled.measurements.empty()) << "what was sampled is kept";
    }
  }
  EXPECT_GE(injected, count);
  EXPECT_GE(100 * found, 99 * injected) << found << " of " << injected;
  testing::Test::RecordProperty("injected", static_cast<int>(injected));
  testing::Test::RecordProperty("found", static_cast<int>(found));
}

TEST(PassChecksOnSim, FindWhateverGoesWrongInAPassThatIsChecked) { expect_to_find_injections(40); }
TEST(PassChecksOnSimLong, FindWhateverGoesWrongInAPassThatIsChecked) { expect_to_find_injections(300); }

/// While one direction is timed, the other's payload is copied twice. A corruption in the first of these copies is
/// overwritten and cannot be found.
TEST(PassChecksOnSim, FindWhateverGoesWrongBothWaysAndIsNotCopiedOver) {
  const PlannedCase planned = cases_of_line("memcpy --size 64K --dir bidirectional --host pinned").front();
  const Outcome clean = run_once_on(planned);
  ASSERT_EQ(clean.result.status, Status::ok) << clean.result.reason;
  std::size_t twice = 0;
  for (const CheckedPasses::Range& pass : clean.checked) {
    const bool beside = pass.end - pass.begin == 3;
    twice += beside ? 1 : 0;
    for (std::size_t n = pass.begin; n < pass.end; ++n) {
      const Result spoiled = run_once_on(planned, one_of(n, pattern::noise(7, n))).result;
      const bool noticed = spoiled.status == Status::failed && spoiled.reason.starts_with("timed pass ");
      EXPECT_EQ(noticed, !(beside && n == pass.begin)) << "operation " << n - pass.begin << ": " << spoiled.reason;
    }
  }
  EXPECT_GE(twice, 2U);
}

/// Corrupts only the pass's own kernel, the last operation: an earlier one may read other memory to flush the cache.
TEST(PassChecksOnSim, FindWhatATileKernelOrItsRivalsWriteWrong) {
  std::size_t checked = 0;
  for (const PlannedCase& planned :
       cases_of_line("smem --size 64K --method sync --op copy,scale,read --intensity 0,2")) {
    const Outcome clean = run_once_on(planned);
    if (clean.result.status == Status::skipped) continue;
    ASSERT_EQ(clean.result.status, Status::ok) << clean.result.config.key() << ": " << clean.result.reason;
    for (std::size_t i = 0; i < clean.checked.size(); ++i) {
      const Which one = one_of(clean.checked[i].end - 1, pattern::noise(5, ++checked));
      const Result spoiled = run_once_on(planned, one).result;
      EXPECT_TRUE(spoiled.reason.starts_with("timed pass ")) << planned.config.key() << ": " << spoiled.reason;
    }
  }
  EXPECT_GT(checked, 15U);
}

/// Only the sort driven by the device: the one driven by the host needs a GPU, and both share one check.
TEST(PassChecksOnSim, FindAKeyThatIsWrong) {
  for (const bool spoils : {false, true}) {
    MovingMachine machine({.what = What::kernels,
                           .passes = CorruptingObserver::Passes::timed,
                           .nth = spoils ? 1U : 0U,
                           .offset = 1234,
                           .and_all_after = true});
    Sorter sorter(machine.device(), 5000, SortKeys::random, 3);
    const Region region = sorter.by_device("makespan");
    const SamplingPolicy few{.min_samples = 6, .max_samples = 6};
    const auto run = [&] {
      sample(machine.machine(), {region}, few, [](const SamplingProgress&) {}, {.wanted = true});
    };
    if (spoils) {
      EXPECT_THROW(run(), FailedCheck);
    } else {
      EXPECT_NO_THROW(run());
    }
  }
}

/// Correct outputs must pass, whatever ran before: in place, with few slots, in several pieces, with partly moved
/// payloads, and with checks in between.
TEST(PassChecksOnSim, AcceptWhateverIsRight) {
  const auto expect_right = [](const PlannedCase& planned, std::size_t samples) {
    const Outcome clean = run_once_on(planned, kNothing, samples);
    EXPECT_EQ(clean.result.status, Status::ok) << planned.config.key() << ": " << clean.result.reason;
    EXPECT_FALSE(clean.checked.empty()) << planned.config.key();
  };
  for (const char* line : {
           "overlap --size 100004 --chunks 7 --rounds 1,3 --in-place=no,yes --strategy streams,graph-streams",
           "overlap --size 100004 --chunks 7 --rounds 1,3 --in-place=no,yes --strategy engines,graph --slots 2,3",
           "overlap --size 4,28 --chunks 1 --in-place=no,yes",
           "memcpy --size 1,4095 --dir h2d,d2h,d2d,bidirectional",
           "latency --op copy --size 1,4095",
           "dynpar --task children --children 16 --launch graph",
           "smem --size 65472 --access strided --columns 33 --method sync --op copy,scale,read --intensity 0,2",
       }) {
    std::size_t samples = 6;
    for (const PlannedCase& planned : cases_of_line(line)) {
      expect_right(planned, samples);
      samples = 13 - samples;  // alternate, as the order of the last round differs
    }
  }
  for (const char* line : {
           "overlap --size 4718604 --chunks 7 --in-place=no,yes --kernel vector-add",
           "memcpy --size 4718604 --dir h2d,d2d --host pinned",
           "staging --size 4718604 --method threads --threads 2",
           "callback --size 4718604 --chunks 7 --method poll",
           "async --size 4718604 --kernel-time 10 --in-flight other-stream --host pinned --api async --dir h2d",
       }) {
    for (const PlannedCase& planned : cases_of_line(line)) expect_right(planned, 6);
  }
  for (const char* line : kMoving) expect_right(cases_of_line(line).front(), 101);
}

/// Every region with a known output reports how many of its passes were checked.
TEST(PassChecksOnSim, EveryRegionSaysHowManyOfItsPassesWereChecked) {
  const auto checked = [](const std::string& line, const char* measurement) {
    const Result r = run_once_on(cases_of_line(line).front()).result;
    const Measurement* m = r.measurement(measurement);
    return m == nullptr ? std::nullopt : m->checked;
  };
  for (const char* name : {"pipeline", "wall", "h2d", "kernel", "d2h", "both", "serial"}) {
    EXPECT_GE(checked("overlap --size 64K --chunks 4 --streams 2", name), 1U) << name;
  }
  EXPECT_EQ(checked("overlap --size 64K --chunks 4 --streams 2 --in-place", "d2h"), std::nullopt)
      << "what is there to be copied depends on what ran before";
  EXPECT_EQ(checked("overlap --size 64K --chunks 4 --streams 2", "fork-join"), std::nullopt);
  for (const char* name : {"pipeline", "notification", "no-cpu-stage", "cpu-stage", "naive"}) {
    EXPECT_GE(checked("callback --size 64K --chunks 4 --method host-func", name), 1U) << name;
  }
  for (const char* name : {"staging", "pinned", "direct"}) {
    EXPECT_GE(checked("staging --size 256K --dir d2h --method threads --threads 2", name), 1U) << name;
  }
  for (const char* name : {"completion", "submit", "beside-work"}) EXPECT_GE(checked("async --size 64K", name), 1U);
  EXPECT_EQ(checked("async --size 64K", "unit"), std::nullopt);
  EXPECT_GE(checked("memcpy --size 64K --dir bidirectional --host pinned", "h2d"), 1U);
  EXPECT_GE(checked("memcpy --size 64K --dir h2d --host pinned", "wall"), 1U);
  EXPECT_EQ(checked("latency --op launch", "latency"), std::nullopt);
  EXPECT_GE(checked("dynpar --task children --children 16 --launch tail", "by-host"), 1U);
  EXPECT_EQ(checked("dynpar --task children --children 16 --launch tail", "childless"), std::nullopt);
}

TEST(PassChecksOnSim, AMachineThatOnlyModelsTimesChecksNoTimedPass) {
  sim::SimMachine machine(profile("h200"));
  const Result r = run_on(machine.device(), {"memcpy", "--size", "64K", "--dir", "h2d"}).front();
  EXPECT_EQ(r.status, Status::ok);
  EXPECT_EQ(r.measurement("copy")->checked, std::nullopt);
}

TEST(PassChecksOnSim, NothingIsCheckedWithoutVerification) {
  MovingMachine machine;
  RunContext bench = quick_bench(machine.device());
  bench.verify = false;
  const Result r = run_all(cases_of_line("memcpy --size 64K --dir h2d --host pinned"), bench).front();
  EXPECT_EQ(r.status, Status::ok);
  EXPECT_EQ(r.measurement("copy")->checked, std::nullopt);
  EXPECT_TRUE(machine.checked().empty());
}

TEST(PassChecksOnSim, TurnsAddUpWhatTheyChecked) {
  MovingMachine machine;
  const auto cases = cases_of_line("memcpy --size 64K --dir h2d --host pinned");
  const Result r = run_cases(cases, quick_bench(machine.device()), {}, 3).front();
  EXPECT_EQ(r.status, Status::ok) << r.reason;
  EXPECT_GE(r.measurement("copy")->checked, 3U);
}

TEST(PassChecksOnSim, AFailureInALaterTurnKeepsTheSamplesOfTheEarlier) {
  const auto cases = cases_of_line("memcpy --size 64K --dir h2d --host pinned");
  const auto run = [&](const Which& which, std::vector<CheckedPasses::Range>* checked) {
    MovingMachine machine(which);
    Result r = run_cases(cases, quick_bench(machine.device()), {}, 3).front();
    if (checked != nullptr) *checked = machine.checked();
    return r;
  };
  std::vector<CheckedPasses::Range> checked;
  const std::size_t all = run(kNothing, &checked).measurement("copy")->samples.size();
  const Result spoiled = run(one_of(checked.back().begin, 0), nullptr);
  EXPECT_EQ(spoiled.status, Status::failed);
  EXPECT_EQ(spoiled.measurement("copy")->samples.size(), all);
}

}  // namespace

}  // namespace xferbench::test
