// Verdicts of compare for each case, and their error rates.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "unit/compare_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench::compare {
namespace {

using test::compare_one;
using test::mentions;
using test::named;
using test::noisy;
using test::not_ok;
using test::refusal;
using test::says;
using test::stored;
using test::ten_around;
using test::worse;

Verdict verdict_of(std::vector<double> base, std::vector<double> new_side, const Options& options = {}) {
  return compare_one(named("a", {stored("k", std::move(base))}), named("b", {stored("k", std::move(new_side))}),
                     options)
      .rows.front()
      .verdict;
}

// --- Verdicts -------------------------------------------------------------------------------------------------------

TEST(Verdicts, NeedTheWholeIntervalBeyondTheThreshold) {
  EXPECT_EQ(verdict_of(ten_around(1), ten_around(1.05)), Verdict::regressed);
  EXPECT_EQ(verdict_of(ten_around(1), ten_around(0.95)), Verdict::improved);
  EXPECT_EQ(verdict_of(ten_around(1), ten_around(1.02)), Verdict::same);
  EXPECT_EQ(verdict_of(ten_around(1), ten_around(1.03)), Verdict::inconclusive);
  EXPECT_EQ(verdict_of(ten_around(1), ten_around(1.02), {.threshold = 0.01}), Verdict::regressed);
  EXPECT_EQ(verdict_of(ten_around(1), ten_around(1)), Verdict::same);
  EXPECT_EQ(verdict_of({1, 1.1, 1.2}, {2, 2.1, 2.2}), Verdict::inconclusive);  // 3 against 3: p is 0.1 at least
}

TEST(Verdicts, TheBootstrapCanDecideToo) {
  EXPECT_EQ(verdict_of(ten_around(1), ten_around(1.05), {.bootstrap = true}), Verdict::regressed);
  EXPECT_EQ(verdict_of(ten_around(1), ten_around(1.01), {.bootstrap = true}), Verdict::same);
}

TEST(Verdicts, AreOfAllGpusTogether) {
  const auto with_gpus = [](double factor) {
    Result r = stored("k", ten_around(1));
    Result own = stored("k", ten_around(factor));
    for (const int gpu : {0, 1}) {
      own.measurements.front().gpu = gpu;
      r.measurements.insert(r.measurements.begin(), own.measurements.front());
    }
    r.add("bandwidth", 100, "GB/s");
    r.metrics.insert(r.metrics.begin(), {"bandwidth", 100 * factor, "GB/s", 0});
    return r;
  };
  for (const Options& options : {Options{}, Options{.metric = "copy"}, Options{.metric = "bandwidth"}}) {
    const auto row = compare_one(named("a", {with_gpus(1)}), named("b", {with_gpus(2)}), options).rows.front();
    EXPECT_EQ(row.ratio, 1) << options.metric.value_or("");
  }
}

TEST(Verdicts, MoreIsBetterForRates) {
  std::vector<NamedReport> base;
  std::vector<NamedReport> new_side;
  for (const double x : ten_around(100)) {
    Result a = stored("k", {1});
    Result b = a;
    a.metrics = {{"bandwidth", x, "GB/s"}, {"modelled", x, "s"}, {"residual", x, "1"}};
    b.metrics = {{"bandwidth", x * 1.1, "GB/s"}, {"modelled", x * 1.1, "s"}, {"residual", x * 1.1, "1"}};
    base.push_back(named("a", {a}));
    new_side.push_back(named("b", {b}));
  }
  EXPECT_EQ(compare::compare(base, new_side, {.metric = "bandwidth"}).rows[0].verdict, Verdict::improved);
  EXPECT_EQ(compare::compare(new_side, base, {.metric = "bandwidth"}).rows[0].verdict, Verdict::regressed);
  EXPECT_EQ(compare::compare(base, new_side, {.metric = "modelled"}).rows[0].verdict, Verdict::regressed);
  const Comparison unknown = compare::compare(base, new_side, {.metric = "residual"});
  EXPECT_EQ(unknown.rows[0].verdict, Verdict::changed);
  EXPECT_EQ(unknown.outcome.code, ExitCode::ok);
  EXPECT_EQ(compare::compare(base, new_side, {.metric = "residual", .strict = true}).outcome.code, ExitCode::undecided);
}

TEST(Verdicts, ADerivedMetricOfOneFileASideHasARatioAndNoTest) {
  Result a = stored("k", {1});
  Result b = a;
  a.metrics = {{"bandwidth", 100, "GB/s"}};
  b.metrics = {{"bandwidth", 50, "GB/s"}};
  const Comparison c = compare_one(named("a", {a}), named("b", {b}), {.metric = "bandwidth"});
  EXPECT_EQ(c.rows[0].verdict, Verdict::inconclusive);
  EXPECT_EQ(c.rows[0].ratio, 0.5);
  EXPECT_FALSE(c.rows[0].p.has_value());
  EXPECT_TRUE(mentions(c.rows[0].reason, "one number per file"));
  EXPECT_EQ(c.outcome.code, ExitCode::undecided);
}

TEST(Verdicts, ACaseThatFailsNowIsMissingAndWorseThoughBaseHadNoNumberEither) {
  const NamedReport base =
      named("a", {stored("fails", {1, 2}), stored("skipped", {1, 2}), stored("gone", {1, 2}),
                  not_ok("never", Status::skipped, "no memory"), not_ok("always", Status::failed, "wrong byte")});
  const NamedReport new_side =
      named("b", {not_ok("fails", Status::failed, "wrong byte"), not_ok("skipped", Status::skipped, "no memory"),
                  not_ok("never", Status::failed, "wrong byte"), not_ok("always", Status::failed, "wrong byte"),
                  stored("added", {1}), not_ok("begins", Status::failed, "timeout")});
  const Comparison c = compare_one(base, new_side);
  std::string told;
  for (const Row& row : c.rows) {
    told += fmt::format("{} {}{}: {}\n", row.key, to_text(row.verdict), row.failed ? ", fails" : "", row.reason);
  }
  EXPECT_EQ(told,
            "fails missing, fails: in new failed: wrong byte\n"
            "skipped missing: in new skipped: no memory\n"
            "gone missing: not in new\n"
            "never missing, fails: in base skipped: no memory, in new failed: wrong byte\n"
            "added new: not in base\n"
            "begins missing, fails: in new failed: timeout\n");
  EXPECT_EQ(c.not_compared, 1U) << "what failed already";
  EXPECT_TRUE(worse(c));
  EXPECT_EQ(c.outcome.because, "3 cases failed: the first with wrong byte");
  EXPECT_TRUE(says(c.warnings, "5 cases have no number in new: fails (in new failed: wrong byte)"));
  EXPECT_TRUE(mentions(refusal([&] { compare_one(base, new_side, {.metric = "nothing"}); }), "--metric nothing"));
}

TEST(Verdicts, AMetricThatNoFileHasIsAnsweredWithThoseThatTheyHave) {
  Result a = test::stored("a", {1, 2, 3});
  a.metrics = {{"bandwidth", 100, "GB/s"}, {"efficiency", 0.5, "1"}};
  const std::string said = refusal([&] { compare_one(named("a", {a}), named("b", {a}), {.metric = "bandwith"}); });
  EXPECT_TRUE(mentions(said, "; did you mean 'bandwidth'?; available: bandwidth, "));
  EXPECT_TRUE(mentions(said, ", efficiency"));
}

TEST(Verdicts, ACaseThatFailedBeforeIsNotWorse) {
  const NamedReport good = named("a", {stored("k", ten_around(1))});
  const NamedReport bad = named("b", {not_ok("k", Status::failed, "wrong byte")});
  const std::vector<NamedReport> mixed{good, bad};
  const Comparison before = compare::compare(mixed, mixed, {});
  EXPECT_EQ(before.rows[0].verdict, Verdict::missing);
  EXPECT_FALSE(worse(before));
  EXPECT_TRUE(worse(compare::compare(std::vector{good, good}, mixed, {})));
  const NamedReport both = named("a", {stored("j", ten_around(1)), not_ok("k", Status::failed, "wrong byte")});
  const Comparison still = compare_one(both, both, {.strict = true});
  EXPECT_TRUE(says(still.warnings, "1 case fails on both sides: k (failed: wrong byte)"));
  EXPECT_EQ(still.outcome.code, ExitCode::undecided);
  EXPECT_TRUE(mentions(still.outcome.because, "1 case failing on both sides"));
  EXPECT_EQ(compare_one(both, both).outcome.code, ExitCode::ok);
  const Comparison first = compare_one(named("a", {not_ok("k", Status::skipped, "no")}), bad);
  EXPECT_TRUE(worse(first));
}

TEST(Verdicts, WhatHasNoNumberOnEitherSideIsOnlyCounted) {
  const NamedReport base = named("a", {not_ok("k", Status::skipped, "no"), stored("l", ten_around(1))});
  const Comparison c = compare_one(base, base);
  EXPECT_EQ(c.rows.size(), 1U);
  EXPECT_EQ(c.not_compared, 1U);
  EXPECT_EQ(c.outcome.code, ExitCode::ok);
  EXPECT_EQ(compare_one(base, base, {.strict = true}).outcome.code, ExitCode::ok);
}

TEST(Verdicts, AreOfWhatTheFilesOrElseTheProgramSayTheCaseIsAbout) {
  const auto with_copy_alone = [](double pipeline) {
    Result r = stored("k", ten_around(1));
    r.measurements.push_back(stored("k", ten_around(pipeline)).measurements.front());
    r.measurements.back().name = "pipeline";
    return named("a", {r});
  };
  NamedReport base = with_copy_alone(1);
  const NamedReport new_side = with_copy_alone(1.2);
  EXPECT_EQ(compare_one(base, new_side).rows[0].verdict, Verdict::same);
  const Options program{
      .metrics_declared = {{"copy", {measured("absent", "").as_headline(), measured("pipeline", "").as_headline()}}}};
  EXPECT_EQ(compare_one(base, new_side, program).rows[0].verdict, Verdict::regressed);
  EXPECT_EQ(compare_one(base, new_side, program).rows[0].measured, "pipeline");
  base.report.metrics_declared = {{"copy", {measured("copy", "").as_headline()}}};
  EXPECT_EQ(compare_one(base, new_side, program).rows[0].measured, "copy");
}

/// Five files with one case each, whose metric `name` is close to `value`.
std::vector<NamedReport> with_ratio(const std::string& name, double value, const MetricsDeclared& declared) {
  std::vector<NamedReport> files;
  for (int i = 0; i < 5; ++i) {
    Result r = stored("k", ten_around(1));
    r.metrics = {{name, value * (1 + 0.0001 * i), "1"}};
    files.push_back(named("f", {r}));
    files.back().report.metrics_declared = declared;
  }
  return files;
}

TEST(Verdicts, WhichWayIsBetterIsWhatTheFilesDeclareAndElseTheProgram) {
  const auto declared = [](Better better) { return MetricsDeclared{{"copy", {derived("share", "1", better, "")}}}; };
  const auto verdict = [](const MetricsDeclared& base, const MetricsDeclared& new_side,
                          const MetricsDeclared& program) {
    return compare::compare(with_ratio("share", 1, base), with_ratio("share", 0.5, new_side),
                            {.metrics_declared = program, .metric = "share"})
        .rows.front()
        .verdict;
  };
  EXPECT_EQ(verdict({}, {}, {}), Verdict::changed);
  EXPECT_EQ(verdict({}, {}, declared(Better::higher)), Verdict::regressed);
  EXPECT_EQ(verdict({}, declared(Better::lower), declared(Better::higher)), Verdict::improved);
  EXPECT_EQ(verdict(declared(Better::neither), declared(Better::lower), declared(Better::higher)), Verdict::changed);
}

TEST(Verdicts, OfSeveralFilesTheMediansAreTheSamples) {
  std::mt19937_64 random(1);
  std::vector<NamedReport> base;
  std::vector<NamedReport> new_side;
  for (int i = 0; i < 5; ++i) base.push_back(named("a", {stored("k", noisy(30, 1, 0.002, random))}));
  for (int i = 0; i < 5; ++i) new_side.push_back(named("b", {stored("k", noisy(30, 1.1, 0.002, random))}));
  const Comparison c = compare::compare(base, new_side, {});
  EXPECT_EQ(c.rows[0].base->n, 5U);
  EXPECT_EQ(c.rows[0].verdict, Verdict::regressed);
  EXPECT_NEAR(*c.rows[0].p, 2.0 / 252, 1e-12);
}

TEST(Verdicts, NotesWhatIsDoubtful) {
  Result a = stored("k", ten_around(1));
  Result b = a;
  a.measurements[0].flags = {"drift"};
  b.measurements[0].flags = {"drift", "throttled"};
  b.measurements[0].clock = Clock::host;
  const Comparison c = compare_one(named("a", {a}), named("b", {b}));
  EXPECT_TRUE(says(c.rows[0].notes, "drift in both"));
  EXPECT_TRUE(says(c.rows[0].notes, "throttled in new"));
  EXPECT_TRUE(says(c.rows[0].notes, "clock event in base and host in new"));
}

// --- Choosing cases -------------------------------------------------------------------------------------------------

TEST(Patterns, ChooseCasesBeforeTheyAreJudgedTogether) {
  const NamedReport base = named("a", {stored("copy/x", ten_around(1)), stored("other/x", ten_around(1))});
  EXPECT_EQ(compare_one(base, base, {.only = {"copy/*"}}).rows.size(), 1U);
  EXPECT_EQ(compare_one(base, base, {.only = {"copy/*", "other/*"}}).rows.size(), 2U);
  EXPECT_EQ(refusal([&] { compare_one(base, base, {.only = {"nothing*"}}); }),
            "--only nothing*: no case matches; the first case of a is copy/x");
}

TEST(Refusals, OfAMedianThatIsNotThatOfItsSamples) {
  const NamedReport good = named("a.json", {stored("k", ten_around(1))});
  NamedReport changed = good;
  changed.name = "b.json";
  changed.report.results[0].measurements[0].median *= 1.001;
  const auto refuses = [](const auto& action) { return test::message_of<InputError>(action); };
  EXPECT_TRUE(mentions(refuses([&] { compare_one(good, changed); }), "b.json: k: the file gives a median of 'copy'"));
  EXPECT_TRUE(mentions(refuses([&] { across(std::vector{good, changed}, {}); }), "b.json"));
}

TEST(Refusals, OfWhatCannotBeCompared) {
  const NamedReport real = named("a", {stored("k", ten_around(1))});
  NamedReport simulated = real;
  simulated.name = "b";
  simulated.report.environment.backend = "simulated";
  simulated.report.environment.profile = "h200";
  NamedReport other = simulated;
  other.report.environment.profile = "pcie4";
  EXPECT_TRUE(mentions(refusal([&] { compare_one(real, simulated); }), "--allow-simulated"));
  EXPECT_TRUE(mentions(refusal([&] { compare_one(simulated, other); }), "simulated by profile pcie4"));
  EXPECT_EQ(compare_one(simulated, simulated).simulated, "h200");
  EXPECT_EQ(compare_one(real, simulated, {.allow_simulated = true}).simulated, "h200");
  EXPECT_TRUE(mentions(refusal([&] { compare_one(real, named("b", {stored("l", {1})})); }), "no case in common"));
  EXPECT_TRUE(mentions(refusal([&] { compare_one(named("a", {}), named("b", {})); }), "have no cases"));
  EXPECT_TRUE(mentions(refusal([&] { compare_one(real, real, {.metric = "nothing"}); }), "--metric nothing"));
  EXPECT_TRUE(mentions(refusal([&] { across(std::vector{real}, {.metric = "nothing"}); }), "--metric nothing"));
}

// --- Differences between the machines -------------------------------------------------------------------------------

TEST(Differences, NamesWhatCouldExplainAChange) {
  const NamedReport base = named("a", {stored("k", ten_around(1))});
  EXPECT_TRUE(differences({&base, 1}, {&base, 1}).empty());
  NamedReport new_side = base;
  Environment& e = new_side.report.environment;
  e.driver = "590.2";
  e.gpu.pcie = {4, 16, "nvml", 5, 16, false};
  e.gpu.ecc = true;
  e.host.numa_node = 1;
  e.variables = {{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}};
  new_side.report.tool.type = "Debug";
  new_side.report.tool.git = "abc-dirty";
  new_side.report.command = {"xferbench", "copy", "--seed", "3", "--no-verify", "--turns=4", "--suite", "fleet"};
  new_side.report.complete = false;
  std::vector<std::string> named_facts;
  for (const Difference& d : differences({&base, 1}, {&new_side, 1})) named_facts.push_back(d.what);
  EXPECT_EQ(named_facts, (std::vector<std::string>{"driver", "ECC", "link", "link below its maximum", "NUMA node",
                                                   "commit", "build type", "--seed", "--passes", "--suite",
                                                   "--no-verify", "CUDA_DEVICE_MAX_CONNECTIONS"}));
  EXPECT_EQ(doubts(base).size(), 0U);
  EXPECT_EQ(doubts(new_side).size(), 4U);
}

TEST(Differences, LookAtEachOfSeveralGpus) {
  NamedReport base = named("a", {stored("k", ten_around(1))});
  base.report.environment.gpus.resize(2, base.report.environment.gpu);
  NamedReport new_side = base;
  new_side.report.environment.gpus[1].pcie = {5, 8, "nvml", 5, 16, true};
  std::vector<std::string> named_facts;
  for (const Difference& d : differences({&base, 1}, {&new_side, 1})) named_facts.push_back(d.what);
  EXPECT_EQ(named_facts, std::vector<std::string>{"GPU 1"});
  EXPECT_TRUE(doubts(base).empty());
  ASSERT_EQ(doubts(new_side).size(), 1U);
  EXPECT_TRUE(mentions(doubts(new_side).front(), "the link of GPU 1 runs at Gen5 x8"));
  new_side.report.environment.gpus.clear();
  named_facts.clear();
  for (const Difference& d : differences({&base, 1}, {&new_side, 1})) named_facts.push_back(d.what);
  EXPECT_EQ(named_facts, (std::vector<std::string>{"GPUs", "GPU 0", "GPU 1"}));
}

TEST(Across, MarksTheBestAndWhatCannotBeToldFromIt) {
  const NamedReport a = named("x/a.json", {stored("k", ten_around(1)), stored("only", {1})});
  const NamedReport b = named("b.json", {stored("k", ten_around(1.0001))});
  NamedReport c = named("c.json", {stored("k", ten_around(2))});
  c.report.environment.gpu.name = "NVIDIA A100";
  const std::vector<NamedReport> reports{a, b, c, b};
  const Across table = across(reports, {});
  EXPECT_EQ(table.columns,
            (std::vector<std::string>{"NVIDIA H200 (a)", "NVIDIA H200 (b)", "NVIDIA A100", "NVIDIA H200 (b) #2"}));
  EXPECT_TRUE(table.rows[0].cells[0]->best);
  EXPECT_TRUE(table.rows[0].cells[1]->best);
  EXPECT_FALSE(table.rows[0].cells[2]->best);
  EXPECT_FALSE(table.rows[1].cells[1].has_value());
  EXPECT_FALSE(table.rows[1].cells[0]->best);  // nothing to compare with
}

// --- Error rates ----------------------------------------------------------------------------------------------------

struct Trials {
  double slowdown = 1;
  std::size_t samples = 30;
  int trials = 60;
  bool bootstrap = false;
};

/// The share of cases called regressed or improved. Each trial compares two processes with 20 cases and normal noise of
/// 1 %; no spread between processes is assumed.
double share_called(const Trials& t) {
  constexpr int kCases = 20;
  std::mt19937_64 random(42);
  std::size_t called = 0;
  for (int trial = 0; trial < t.trials; ++trial) {
    NamedReport base = named("a", {});
    NamedReport new_side = named("b", {});
    for (int i = 0; i < kCases; ++i) {
      const std::string key = std::to_string(i);
      base.report.results.push_back(stored(key, noisy(t.samples, 1e-3, 0.01, random)));
      new_side.report.results.push_back(stored(key, noisy(t.samples, 1e-3 * t.slowdown, 0.01, random)));
    }
    const Comparison c = compare_one(base, new_side, {.bootstrap = t.bootstrap});
    called += c.count(Verdict::regressed) + c.count(Verdict::improved);
  }
  const double share = static_cast<double>(called) / (t.trials * kCases);
  ::testing::Test::RecordProperty("share", std::to_string(share));
  return share;
}

TEST(Trial, OfTheSameThingCallsLessThanOneCaseInAHundred) {
  EXPECT_LT(share_called({.samples = 10}), 0.01);
  EXPECT_LT(share_called({}), 0.01);
}

TEST(Trial, OfSlowDownsOfFivePercentCallsNearlyAll) {
  EXPECT_GE(share_called({.slowdown = 1.05, .trials = 60}), 0.9);
  EXPECT_GE(share_called({.slowdown = 1.05, .trials = 3, .bootstrap = true}), 0.9);
}

TEST(Trial, IdenticalFilesAreTheSame) {
  std::mt19937_64 random(9);
  std::vector<Result> results;
  for (int i = 0; i < 50; ++i) results.push_back(stored(std::to_string(i), noisy(30, 1, 0.02, random)));
  const Comparison c = compare_one(named("a", results), named("a", results));
  EXPECT_EQ(c.count(Verdict::same), 50U);
}

}  // namespace
}  // namespace xferbench::compare
