// `xferbench expect`: limits derived from good runs. Tests which runs are used, how much slack a limit gets, and the
// promised rate of false alarms.
#include "check/derive.hpp"

#include <cmath>
#include <random>

#include "check/check.hpp"
#include "core/error.hpp"
#include "report/check/check_report.hpp"
#include "unit/support.hpp"

namespace xferbench::check {
namespace {

using test::mentions;
using test::message_of;

/// One case with headline "copy" in seconds; for scenario "counting" it is "units", where more is better.
Result measured_case(const std::string& scenario, std::uint64_t size, double median) {
  Case c(scenario);
  c.set({.name = "size", .kind = AxisKind::size}, size);
  Result r(c);
  Measurement m;
  m.name = scenario == "counting" ? "units" : "copy";
  m.unit = scenario == "counting" ? "units" : "s";
  m.samples = {median, median, median, median, median, median};
  m.min = m.median = m.max = median;
  m.ci95 = Interval{median * 0.99, median * 1.01};
  r.measurements = {m};
  return r;
}

NamedReport good_run(const std::string& name, std::vector<Result> results) {
  NamedReport run{name, {}};
  run.report.complete = true;
  run.report.started_at = "2026-11-21T10:00:00Z";
  run.report.environment.backend = "cuda";
  run.report.environment.gpu.name = "NVIDIA H200";
  run.report.metrics_declared = {{"copying", {measured("copy", "a copy").as_headline()}},
                                 {"counting", {measured("units", "work").in("units", Better::higher).as_headline()}}};
  run.report.results = std::move(results);
  return run;
}

/// Makes every number worse by this factor: times longer, counts smaller.
NamedReport slower(NamedReport run, double factor) {
  for (Result& result : run.report.results) {
    Measurement& m = result.measurements.front();
    const double by = m.unit == "s" ? factor : 1 / factor;
    for (double* number : {&m.min, &m.median, &m.max}) *number *= by;
  }
  return run;
}

std::vector<NamedReport> three_runs() {
  std::vector<NamedReport> runs;
  for (const double factor : {1.0, 1.004, 0.995}) {
    runs.push_back(
        good_run("run-" + std::to_string(runs.size() + 1) + ".json",
                 {measured_case("copying", 4096, 5e-6 * factor), measured_case("copying", 1 << 20, 0.019e-3 * factor),
                  measured_case("counting", 4096, 250 / factor)}));
  }
  return runs;
}

bool holds(const Report& report, const Expectations& expectations) {
  return check(report, "r.json", expectations).all_hold();
}

/// Writes the expectations and reads them back.
Expectations through_a_file(const Expectations& expectations) {
  return parse_expectations(to_expect_json(expectations), "mine.json");
}

TEST(Derive, GoodRunsKeepTheirLimitsAndOneThatIsAFifthSlowerDoesNot) {
  const std::vector<NamedReport> runs = three_runs();
  for (const std::size_t n : {1U, 2U, 3U}) {
    const std::span<const NamedReport> some = std::span(runs).first(n);
    const Expectations mine = through_a_file(derive(some, {}).expectations);
    ASSERT_EQ(mine.all.size(), 3U);
    for (const NamedReport& run : some) EXPECT_TRUE(holds(run.report, mine)) << n;
    const Checked slow = check(slower(runs[0], 1.2).report, "slow.json", mine);
    EXPECT_EQ(slow.count(Verdict::fails), 3U) << n << " runs: every case is found";
    EXPECT_EQ(mine.gpu, "NVIDIA H200");
  }
}

TEST(Derive, MarginsComeFromTheSpreadBetweenRuns) {
  const std::vector<NamedReport> three = three_runs();
  const Derived one = derive(std::span(three).first(1), {});
  EXPECT_GT(one.least_margin, 0.05) << "2 % is assumed of a single run";
  EXPECT_TRUE(mentions(one.expectations.description, "1 good run (run-1.json of 2026-11-21T10:00:00Z)"));
  EXPECT_TRUE(mentions(one.expectations.description, "assumed spread between runs 2.0 %"));
  const Derived closer = derive(std::span(three).first(1), {.assumed_spread = 0.005});
  EXPECT_NEAR(closer.least_margin, one.least_margin / 4, 0.002);
  const Derived all = derive(three, {});
  EXPECT_LT(all.most_margin, 0.1);
  EXPECT_GT(all.least_margin, 0.005);
  EXPECT_TRUE(mentions(all.expectations.description, "3 good runs"));
  EXPECT_TRUE(mentions(all.expectations.description, "95 of 100 such runs meet all 3 limits"));
}

TEST(Derive, LimitsGoTheWayThatIsDeclaredAndAreWrittenAsPeopleReadThem) {
  const Derived derived = derive(three_runs(), {});
  const Expectation& time = derived.expectations.all[1];
  EXPECT_EQ(time.name, "copying/size=1MiB");
  EXPECT_EQ(time.cases, "copying/size=1MiB");
  EXPECT_TRUE(time.is_measurement);
  EXPECT_EQ(time.number, "copy");
  ASSERT_TRUE(time.at_most && !time.at_least);
  EXPECT_EQ(time.at_most->amount.written, "us");
  EXPECT_GT(time.at_most->amount.value, 0.019e-3 * 1.004);
  const Expectation& units = derived.expectations.all[2];
  ASSERT_TRUE(units.at_least && !units.at_most);
  EXPECT_LT(units.at_least->amount.value, 250 / 1.004);
  EXPECT_EQ(units.at_least->amount.unit, "units");
}

TEST(Derive, ACaseThatNotEveryRunHasMayBeMissing) {
  std::vector<NamedReport> runs = three_runs();
  runs[2].report.results.pop_back();
  const Expectations mine = through_a_file(derive(runs, {}).expectations);
  EXPECT_FALSE(mine.all[0].optional);
  EXPECT_TRUE(mine.all[2].optional);
  for (const NamedReport& run : runs) EXPECT_TRUE(holds(run.report, mine));
  runs[0].report.results.erase(runs[0].report.results.begin());
  EXPECT_FALSE(holds(runs[0].report, mine)) << "one that every run had must be there";
}

TEST(Derive, TakesGoodRunsOfOneMachineOnly) {
  const auto refusal = [](const auto& change, const DeriveOptions& options = {}) {
    std::vector<NamedReport> runs = three_runs();
    change(runs[1]);
    return message_of<UsageError>([&] { static_cast<void>(derive(runs, options)); });
  };
  const auto simulate = [](NamedReport& run) {
    run.report.environment.backend = "simulated";
    run.report.environment.profile = "h200";
  };
  const DeriveOptions all{.allow_simulated = true, .allow_doubtful = true};
  EXPECT_TRUE(mentions(refusal(simulate, all), "run-1.json is real, but run-2.json is simulated (profile h200)"));
  EXPECT_TRUE(
      mentions(refusal([](NamedReport& r) { r.report.environment.gpu.name = "NVIDIA A100"; }, all), "'NVIDIA A100'"));
  EXPECT_TRUE(mentions(refusal(
                           [](NamedReport& r) {
                             r.report.environment.variables = {{kInjectVariable, "x"}};
                           },
                           all),
                       "has an injected fault"));
  const auto cut = [](NamedReport& r) { r.report.complete = false; };
  const auto failed = [](NamedReport& r) { r.report.results[0].status = Status::failed; };
  const auto unverified = [](NamedReport& r) { r.report.verified = false; };
  EXPECT_TRUE(mentions(refusal(cut), "run-2.json was interrupted or is still running"));
  EXPECT_TRUE(mentions(refusal(failed), "run-2.json has 1 failed case; "));
  EXPECT_TRUE(mentions(refusal(unverified), "--allow-doubtful"));
  std::vector<NamedReport> runs = three_runs();
  cut(runs[0]);
  failed(runs[1]);
  const Derived told = derive(runs, {.allow_doubtful = true});
  EXPECT_EQ(told.warnings.size(), 2U);
  EXPECT_TRUE(mentions(told.expectations.description, "doubtful: run-1.json was interrupted"));
  for (NamedReport& run : runs) simulate(run);
  EXPECT_TRUE(mentions(message_of<UsageError>([&] { static_cast<void>(derive(runs, {.allow_doubtful = true})); }),
                       "--allow-simulated"));
  EXPECT_TRUE(derive(runs, all).expectations.description.starts_with("SIMULATED by profile h200; "));
  for (NamedReport& run : runs) run.report.results.clear();
  EXPECT_THROW(static_cast<void>(derive(runs, all)), UsageError) << "there is nothing to expect";
}

TEST(Derive, SaysWhichCasesHaveNoLimit) {
  std::vector<NamedReport> runs = three_runs();
  runs.resize(1);
  runs[0].report.metrics_declared["counting"][0].better = Better::neither;
  const Derived derived = derive(runs, {});
  EXPECT_EQ(derived.expectations.all.size(), 2U);
  ASSERT_EQ(derived.warnings.size(), 1U);
  EXPECT_TRUE(mentions(derived.warnings[0], "counting/size=4KiB gets no limit"));
}

/// Simulated error rates: the share of new runs with any of 29 cases beyond its limit, and the share of cases found
/// that became slower by `slowdown`. Runs spread by `spread` (relative) in half of the cases, by a tenth of it in the
/// others.
struct Rates {
  double false_alarms = 0;
  double found = 0;
};
Rates rates_of(std::size_t runs, double spread, double slowdown) {
  constexpr std::size_t kCases = 29;
  constexpr int kTrials = 400;
  std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): the same in every run of this test
  std::normal_distribution<double> normal;
  Rates rates;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<LogsOfCase> cases;
    const auto spread_of = [spread](std::size_t i) { return i % 2 == 0 ? spread : spread / 10; };
    for (std::size_t i = 0; i < kCases; ++i) {
      LogsOfCase& logs = cases.emplace_back();
      for (std::size_t run = 0; run < runs; ++run) logs.push_back(spread_of(i) * normal(random));
    }
    const std::vector<double> limits = log_limits(cases, 0.02);
    bool alarm = false;
    for (std::size_t i = 0; i < kCases; ++i) {
      const double next = spread_of(i) * normal(random);
      alarm = alarm || next > limits[i];
      if (next + std::log(slowdown) > limits[i]) rates.found += 1.0 / (kTrials * kCases);
    }
    rates.false_alarms += alarm ? 1.0 / kTrials : 0;
  }
  return rates;
}

TEST(LogLimits, AreKeptBy95Of100RunsAsGoodAndBrokenByOneAFifthSlower) {
  struct Setting {
    std::size_t runs;
    double spread;
  };
  constexpr double kAllowed = 0.05 + 2 * 0.011;  // plus two standard errors of 400 trials
  for (const auto& [runs, spread] : {Setting{1, 0.005}, Setting{1, 0.015}, Setting{2, 0.005}, Setting{2, 0.03},
                                     Setting{3, 0.005}, Setting{3, 0.03}, Setting{7, 0.015}, Setting{7, 0.03}}) {
    const Rates rates = rates_of(runs, spread, 1.2);
    EXPECT_LE(rates.false_alarms, kAllowed) << runs << " runs, " << spread;
    EXPECT_GE(rates.found, spread > 0.02 ? 0.8 : 0.99) << runs << " runs, " << spread;
  }
}

TEST(LogLimits, OfASingleRunAreWhatTheNormalDistributionSays) {
  // One case: t = 1.6449 standard deviations of the difference of two runs.
  EXPECT_NEAR(log_limits(std::vector<LogsOfCase>{{0.0}}, 0.02)[0], 1.6449 * std::sqrt(2.0) * 0.02, 1e-5);
  // Two identical runs: the prior of 2 % has weight 4 of 5 degrees of freedom. t(0.95, 5) = 2.0150.
  const double spread = 0.02 * 4 / 5;
  EXPECT_NEAR(log_limits(std::vector<LogsOfCase>{{0.0, 0.0}}, 0.02)[0], 2.0150 * spread * std::sqrt(1.5), 1e-5);
  // Three identical runs: t(0.95, 6) = 1.9432.
  EXPECT_NEAR(log_limits(std::vector<LogsOfCase>{{0.0, 0.0, 0.0}}, 0.02)[0],
              1.9432 * (0.02 * 4 / 6) * std::sqrt(4.0 / 3), 1e-5);
}

TEST(ExpectJson, IsReadBackAsItWas) {
  const std::string text =
      R"({"schema": "xferbench-expect/1", "description": "d \"q\"", "gpu": "NVIDIA*", "expect": [
          {"name": "n", "case": "a/b=c", "measurement": "copy", "at_least": "1 us", "at_most": "10 us",
           "optional": true},
          {"name": "m", "case": "a/b=d", "measurement": "rate", "at_least": "50 GB/s"}]})";
  const Expectations before = parse_expectations(text, "e.json");
  const Expectations after = parse_expectations(to_expect_json(before), "e.json");
  EXPECT_EQ(to_expect_json(after), to_expect_json(before));
  EXPECT_EQ(after.description, before.description);
  EXPECT_EQ(after.gpu, before.gpu);
  ASSERT_EQ(after.all.size(), 2U);
  EXPECT_EQ(after.all[0].cases, "a/b=c");
  EXPECT_EQ(after.all[1].number, "rate");
  EXPECT_DOUBLE_EQ(after.all[0].at_most->amount.value, 1e-5);
  EXPECT_TRUE(after.all[0].optional && !after.all[1].optional);
}

}  // namespace
}  // namespace xferbench::check
