// Reasons and the outcome of a comparison: detectable slow-downs with so many processes, reasons of verdicts, exit
// codes.
#include "compare/judgement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compare/spreads.hpp"
#include "unit/compare_fixture.hpp"
#include "unit/support.hpp"

namespace xferbench::compare {
namespace {

using test::compare_one;
using test::mentions;
using test::named;
using test::not_ok;
using test::refusal;
using test::says;
using test::stored;
using test::ten_around;

// --- Processes ------------------------------------------------------------------------------------------------------

/// One file per process with the same cases. All times of a process are multiplied by its factor; case 0 also by
/// `slowdown`.
std::vector<NamedReport> processes(std::initializer_list<double> factors, std::size_t cases, double slowdown = 1) {
  std::vector<NamedReport> files;
  for (const double factor : factors) {
    std::vector<Result> results;
    for (std::size_t i = 0; i < cases; ++i) {
      results.push_back(stored(fmt::format("copy/case={}", i), ten_around(factor * (i == 0 ? slowdown : 1))));
    }
    files.push_back(named(fmt::format("{}-{}.json", slowdown, files.size()), std::move(results)));
    files.back().report.started_at = fmt::format("{} {}", slowdown, factor);
  }
  return files;
}

class TenTimesSlower : public testing::TestWithParam<std::size_t> {};

TEST_P(TenTimesSlower, IsFoundWhateverTheNumberOfProcesses) {
  const std::vector<NamedReport> base = processes({1, 1.01, 0.992, 1.004, 0.99, 1.008, 1.002}, 29);
  const std::vector<NamedReport> new_side = processes({1.003, 0.99, 1.006, 1.01, 0.995, 1, 0.998}, 29, 10);
  const std::span<const NamedReport> a(base);
  const std::span<const NamedReport> b(new_side);
  const Comparison c = compare::compare(a.first(GetParam()), b.first(GetParam()), {});
  EXPECT_EQ(c.outcome.code, ExitCode::failed);
  EXPECT_EQ(c.outcome.because, "1 case regressed");
  EXPECT_EQ(c.count(Verdict::regressed), 1U);
  EXPECT_TRUE(mentions(c.rows[0].reason, "worse by at least"));
}

INSTANTIATE_TEST_SUITE_P(Processes, TenTimesSlower, testing::Values(1, 2, 3, 4, 5, 6, 7));

TEST(Processes, ThatCouldNotHaveFoundTwiceTheThresholdAreNoSuccess) {
  const auto outcome = [](std::initializer_list<double> a, std::initializer_list<double> b) {
    return compare::compare(processes(a, 29), processes(b, 29), {}).outcome;
  };
  for (const Outcome& blind : {outcome({1}, {1.001}), outcome({1, 1.02}, {1.001, 0.99})}) {
    EXPECT_EQ(blind.code, ExitCode::undecided) << blind.because;
    EXPECT_TRUE(mentions(blind.because, "too little data to detect a slow-down of 6 %")) << blind.because;
    EXPECT_TRUE(mentions(blind.because, "--repeat ")) << blind.because;
    EXPECT_GT(*blind.detectable_slowdown, 0.06);
  }
  const Outcome enough = outcome({1, 1.001, 0.999, 1.002}, {1.001, 1, 0.999, 1.0005});
  EXPECT_EQ(enough.code, ExitCode::ok) << enough.because;
  EXPECT_LE(*enough.detectable_slowdown, 0.06);
  EXPECT_EQ(enough.because, "no case is worse by more than 3 %");
  const auto four = processes({1, 1.001, 0.999, 1.002}, 29);
  const Comparison c = compare::compare(four, processes({1.001, 1, 0.999, 1.0005}, 29, 1.001), {});
  EXPECT_NEAR(*c.rows[1].observed_spread, 0.0011, 0.0002);
  EXPECT_NEAR(*c.rows[1].spread, 0.0012, 0.0003) << "of 29 cases that all show it, and no assumption";
  const Comparison few = compare::compare(processes({1, 1.001, 0.999}, 4), processes({1.001, 1, 0.999}, 4, 1.001), {});
  EXPECT_GT(*few.rows[1].spread, 0.01) << "with the assumption";
  EXPECT_TRUE(says(c.outcome.reach, "measured: 0.11 %")) << fmt::format("{}", fmt::join(c.outcome.reach, "\n"));
  EXPECT_TRUE(says(c.outcome.reach, "used (combined with all cases, --spread or --assume-spread): 0.1"));
}

TEST(Processes, OneASideIsWarnedOfAndLabelled) {
  const std::vector<NamedReport> base = processes({1}, 29);
  const std::vector<NamedReport> new_side = processes({1.01}, 29);
  const Comparison c = compare::compare(base, new_side, {});
  EXPECT_TRUE(says(c.warnings, "one process per side gives no spread between processes: 2 % is assumed"));
  EXPECT_EQ(c.rows[0].spread, 0.02);
  EXPECT_EQ(c.rows[0].spread_from, SpreadSource::assumed);
  EXPECT_LT(c.rows[0].interval->low, c.rows[0].within->low);
  EXPECT_TRUE(says(compare::compare(base, new_side, {.assumed_spread = 0}).warnings, "for these two processes only"));
  const auto four = processes({1, 1.001, 0.999, 1.002}, 29);
  EXPECT_FALSE(says(compare::compare(four, processes({1, 1.001, 0.998, 1.002}, 29, 1.01), {}).warnings, "assumed"));
}

TEST(Processes, OneASideIsJudgedByTheSpreadThatIsKnown) {
  std::vector<Report> repeated;
  for (NamedReport& named : processes({1, 1.001, 0.999, 1.0015, 0.9985, 1, 1.0005}, 28)) {
    repeated.push_back(std::move(named.report));
  }
  Options options{.known_spreads = spread_between(repeated)};
  const Comparison c = compare::compare(processes({1}, 29), processes({1.001}, 29, 1.1), options);
  EXPECT_EQ(c.rows[0].verdict, Verdict::regressed);
  EXPECT_EQ(c.rows[1].verdict, Verdict::same);
  EXPECT_EQ(c.rows[1].spread_from, SpreadSource::known);
  EXPECT_NEAR(*c.rows[1].spread, 0.001058, 1e-6);
  EXPECT_EQ(c.rows[28].spread_from, SpreadSource::assumed) << "which was not among them";
  options.known_spreads->gpu = "NVIDIA A100";
  EXPECT_TRUE(mentions(refusal([&] { compare::compare(processes({1}, 1), processes({1}, 1), options); }), "--spread"));
  options.known_spreads->gpu = "NVIDIA H200";
  options.known_spreads->uuid = "GPU-2";
  std::vector<NamedReport> base = processes({1}, 2);
  base[0].report.environment.gpu.uuid = "GPU-1";
  EXPECT_TRUE(says(compare::compare(base, processes({1}, 2), options).warnings, "another NVIDIA H200"));
}

// --- Reasons of verdicts --------------------------------------------------------------------------------------------

TEST(Reasons, AreGivenOfEachVerdictThatIsNotSame) {
  const auto reason = [](std::vector<double> base, std::vector<double> new_side, double spread = 0) {
    const Comparison c = compare_one(named("a", {stored("k", std::move(base))}),
                                     named("b", {stored("k", std::move(new_side))}), {}, spread);
    return c.rows[0].reason;
  };
  EXPECT_EQ(reason({1, 1.1, 1.2}, {1, 1.1, 1.21}), "too few samples (3); use --repeat 7");
  EXPECT_EQ(reason(ten_around(1), ten_around(1.01)), "");
  EXPECT_TRUE(reason(ten_around(1), ten_around(1.1)).starts_with("worse by at least 9."))
      << reason(ten_around(1), ten_around(1.1));
  EXPECT_TRUE(reason(ten_around(1), ten_around(0.9)).starts_with("better by at least "));
  EXPECT_TRUE(mentions(reason(ten_around(1), ten_around(1.031)), "differs, but not significantly by more than 3 %"));
  EXPECT_TRUE(mentions(reason(ten_around(1), ten_around(1.01), 0.02), "too uncertain"));
}

TEST(Reasons, OfTheExitCode) {
  const NamedReport base = named("a", {stored("j", ten_around(1)), stored("k", ten_around(1))});
  const NamedReport failed = named("b", {stored("j", ten_around(1)), not_ok("k", Status::failed, "wrong data")});
  EXPECT_EQ(compare_one(base, failed).outcome.because, "1 case failed: wrong data");
  const NamedReport mixed = named("b", {stored("j", ten_around(1.5)), not_ok("k", Status::failed, "wrong data")});
  EXPECT_EQ(compare_one(base, mixed).outcome.because, "1 case regressed, 1 case failed: wrong data");
  const NamedReport gone = named("b", {stored("j", ten_around(1.01))});
  const Outcome told = compare_one(base, gone).outcome;
  EXPECT_EQ(told.code, ExitCode::ok);
  EXPECT_EQ(told.because, "no judged case is worse by more than 3 % (1 missing)");
  const Outcome strict = compare_one(base, gone, {.strict = true}).outcome;
  EXPECT_EQ(strict.code, ExitCode::undecided);
  EXPECT_EQ(strict.because, "1 missing: --strict requires a verdict for every case");
}

TEST(Reasons, NothingIsJudgedWhereNoCaseHasANumberOnBothSides) {
  const NamedReport measured = named("a", {stored("j", ten_around(1)), stored("k", ten_around(1))});
  const NamedReport skipped =
      named("b", {not_ok("j", Status::skipped, "no memory"), not_ok("k", Status::skipped, "no memory")});
  const NamedReport interrupted = named("b", {stored("j", {}), stored("k", {})});
  const NamedReport of_other_cases = named("b", {not_ok("j", Status::skipped, "no memory"), stored("l", {1, 2})});
  for (const NamedReport& new_side : {skipped, interrupted, of_other_cases}) {
    const Outcome told = compare_one(measured, new_side).outcome;
    EXPECT_EQ(told.code, ExitCode::undecided);
    EXPECT_EQ(told.because, "no case has a number on both sides, so nothing was compared (2 missing)");
  }
  EXPECT_EQ(compare_one(skipped, measured).outcome.code, ExitCode::undecided);
}

TEST(Warnings, OfAllCasesThatMovedTogether) {
  const auto warnings = [](double factor, double first) {
    return compare::compare(processes({1}, 29), processes({factor}, 29, first), {}).warnings;
  };
  EXPECT_TRUE(says(warnings(1.05, 1), "all 29 cases are about 5 % slower: check the machine"));
  EXPECT_TRUE(says(warnings(1.05, 2), "28 of 29 cases are about 5 % slower"));
  EXPECT_TRUE(says(warnings(1 / 1.05, 1), "all 29 cases are about 5 % faster"));
  EXPECT_FALSE(says(warnings(1.004, 1), "suspect"));
  EXPECT_FALSE(says(compare::compare(processes({1}, 4), processes({1.05}, 4), {}).warnings, "suspect"));
}

TEST(Warnings, OfARunComparedWithItself) {
  const std::vector<NamedReport> runs = processes({1, 1.01}, 3);
  const std::span<const NamedReport> all(runs);
  const Comparison self = compare::compare(all.first(1), all.first(1), {});
  EXPECT_TRUE(says(self.warnings, "are the same run"));
  EXPECT_EQ(self.count(Verdict::same), 3U);
  EXPECT_FALSE(self.rows[0].interval.has_value()) << "of what was not measured twice";
  EXPECT_TRUE(mentions(self.outcome.because, "identical samples"));
  EXPECT_EQ(self.outcome.code, ExitCode::ok);
  EXPECT_FALSE(says(self.warnings, "assumed"));
  EXPECT_FALSE(says(compare::compare(all.first(1), all.last(1), {}).warnings, "the same run"));
}

}  // namespace
}  // namespace xferbench::compare
