// Choice of the statistical test for a case, and its result.
#include "compare/evidence.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/compare_fixture.hpp"

namespace xferbench::compare {
namespace {

using test::ten_around;

std::vector<ProcessNumber> processes_around(std::initializer_list<double> means) {
  std::vector<ProcessNumber> numbers;
  for (const double mean : means) numbers.push_back(process_number(ten_around(mean)));
  return numbers;
}

ChangeEvidence weighed(const std::vector<ProcessNumber>& base, const std::vector<ProcessNumber>& new_side,
                       const TestSettings& how) {
  MannWhitney ranks;
  return test_change(ranks, base, new_side, how);
}

constexpr PriorSpread kNothing{};
constexpr PriorSpread kAssumed{0.02, kAssumedFreedom, SpreadSource::assumed};

TEST(ChangeEvidence, OfTwoProcessesASideIsWelchsTestOfTheirLogarithms) {
  // scipy.stats.ttest_ind(log(next), log(base), equal_var=False) gives p = 0.00089107; no prior spread is assumed.
  const auto base = processes_around({1.00, 1.01, 0.99});
  const auto new_side = processes_around({1.10, 1.09, 1.12});
  const ChangeEvidence e = weighed(base, new_side, {.threshold = 0.03, .before = kNothing});
  EXPECT_EQ(e.test, TestUsed::welch);
  EXPECT_EQ(e.spread_from, SpreadSource::measured);
  EXPECT_NEAR(*e.ratio, 1.1032998, 1e-6);
  EXPECT_NEAR(*e.p, 0.00089107, 1e-7);
  EXPECT_NEAR(e.interval->low, 1.0723809, 1e-6);
}

TEST(ChangeEvidence, OfFourProcessesIsRanksWhereSoFewCasesLeaveThemAChance) {
  const auto base = processes_around({1.00, 1.01, 0.99, 1.02});
  const auto new_side = processes_around({1.10, 1.09, 1.12, 1.11});
  EXPECT_EQ(weighed(base, new_side, {.cases = 1, .threshold = 0.03}).test, TestUsed::ranks);
  EXPECT_EQ(weighed(base, new_side, {.cases = 2, .threshold = 0.03}).test, TestUsed::welch);
}

TEST(ChangeEvidence, WhatIsTakenBeforehandWeighsLessTheMoreProcessesShow) {
  const auto two = processes_around({1.00, 1.001});
  const auto five = processes_around({1.00, 1.001, 0.999, 1.0005, 0.9995});
  const TestSettings how{.cases = 29, .threshold = 0.03, .before = kAssumed};
  const double of_two = *weighed(two, two, how).spread;
  const double of_five = *weighed(five, five, how).spread;
  EXPECT_LT(of_two, kAssumed.spread);
  EXPECT_LT(of_five, of_two);
  EXPECT_LT(*weighed(five, five, {.cases = 29, .threshold = 0.03, .before = kNothing}).spread, of_five);
}

TEST(ChangeEvidence, OfOneProcessASideHoldsTheSpreadBetweenProcesses) {
  const auto base = processes_around({1});
  const auto new_side = processes_around({1.05});
  const ChangeEvidence assumed = weighed(base, new_side, {.threshold = 0.03, .before = kAssumed});
  EXPECT_NEAR(*assumed.ratio, 1.05, 1e-9);
  EXPECT_GT(assumed.within->low, 1.04) << "within these two processes it is sure";
  EXPECT_LT(assumed.interval->low, 1) << "but not that processes do not differ by as much";
  EXPECT_EQ(assumed.spread, 0.02);
  const ChangeEvidence nothing = weighed(base, new_side, {.threshold = 0.03, .before = kNothing});
  EXPECT_NEAR(nothing.interval->low, nothing.within->low, 1e-3);
  const ChangeEvidence known = weighed(base, new_side, {.threshold = 0.03, .before = {0.001, 6, SpreadSource::known}});
  EXPECT_GT(known.interval->low, 1.04);
  EXPECT_EQ(known.spread_from, SpreadSource::known);
}

TEST(ChangeEvidence, TheLeastThatIsFoundIsJustFound) {
  const auto just = [](const std::vector<ProcessNumber>& base, const TestSettings& how, double factor) {
    std::vector<ProcessNumber> new_side;
    for (const ProcessNumber& n : base) {
      std::vector<double> samples = n.sample.sorted;
      for (double& x : samples) x *= factor;
      new_side.push_back(process_number(samples));
    }
    const ChangeEvidence e = weighed(base, new_side, how);
    return *e.p * static_cast<double>(how.cases) <= kSignificant && e.interval->low > 1 + how.threshold;
  };
  for (const std::size_t cases : {std::size_t{1}, std::size_t{29}}) {
    for (const auto& base : {processes_around({1}), processes_around({1, 1.01}),
                             processes_around({1, 1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.015})}) {
      const TestSettings how{.cases = cases, .threshold = 0.03, .before = kAssumed};
      const double least = weighed(base, base, how).detectable_ratios->high;
      EXPECT_TRUE(just(base, how, least * 1.001)) << base.size() << " processes, " << cases << " cases: " << least;
      EXPECT_FALSE(just(base, how, least * 0.998)) << base.size() << " processes, " << cases << " cases: " << least;
    }
  }
}

TEST(ChangeEvidence, DriftCountsAsSpread) {
  std::mt19937_64 random(3);
  std::vector<double> rising = test::noisy(30, 1, 0.004, random);
  for (std::size_t i = 0; i < rising.size(); ++i) rising[i] += 0.04 * static_cast<double>(i) / 30;
  const ProcessNumber number = process_number(rising);
  EXPECT_NEAR(number.drift, 0.04, 0.006);
  const TestSettings how{.cases = 1, .threshold = 0.03, .before = kNothing};
  std::vector<double> falling = test::noisy(30, 1.1, 0.004, random);
  for (std::size_t i = 0; i < falling.size(); ++i) falling[i] -= 0.04 * static_cast<double>(i) / 30;
  const ChangeEvidence e = weighed({number}, {process_number(falling)}, how);
  EXPECT_GT(e.within->low, 1.03) << "within these two processes it is sure";
  EXPECT_LT(e.interval->low, 1.03);
  EXPECT_GT(*e.p, kSignificant);
}

TEST(ChangeEvidence, SamplesThatFollowEachOtherCountAsFewAndStillShowWhatIsTenTimesSlower) {
  std::vector<double> walk(30);
  for (std::size_t i = 0; i < walk.size(); ++i) walk[i] = 1 + 0.02 * std::sin(static_cast<double>(i) / 8);
  std::vector<double> slower = walk;
  for (double& x : slower) x *= 10;
  const ProcessNumber number = process_number(walk);
  EXPECT_LT(number.sample.effective_size, 5);
  const ChangeEvidence e =
      weighed({number}, {process_number(slower)}, {.cases = 29, .threshold = 0.03, .before = kAssumed});
  EXPECT_LT(*e.p * 29, kSignificant);
  EXPECT_GT(e.interval->low, 5);
}

TEST(ChangeEvidence, OfTooFewNumbersIsNone) {
  const auto of = [](std::vector<double> base, std::vector<double> new_side) {
    return weighed({process_number(base)}, {process_number(new_side)}, {.threshold = 0.03, .before = kAssumed}).test;
  };
  EXPECT_EQ(of({1, 1.1, 1.2}, {10, 11, 12}), TestUsed::none);
  EXPECT_EQ(of({1, 1.1, 1.2, 1.05}, {10, 11, 12, 11.5}), TestUsed::welch);
  EXPECT_EQ(of({1, 1.1, 1.2, 0}, {10, 11, 12, 11.5}), TestUsed::none);
  const ChangeEvidence derived = weighed({{.median = 2, .error = {}}}, {{.median = 3, .error = {}}}, {});
  EXPECT_EQ(derived.test, TestUsed::none);
  EXPECT_EQ(derived.ratio, 1.5);
}

TEST(ChangeEvidence, SaysHowManyProcessesWouldBeEnough) {
  const TestSettings how{.cases = 29, .threshold = 0.03, .before = kAssumed};
  const auto needed = processes_needed(0.02, 0.06, how);
  EXPECT_EQ(needed, 5U);
  EXPECT_LT(*processes_needed(0.005, 0.06, how), *needed);
  EXPECT_EQ(processes_needed(0.5, 0.06, how), std::nullopt);
}

}  // namespace
}  // namespace xferbench::compare
