// Statistics of samples, against published tables and hand calculation.
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "measure/sampler.hpp"

namespace xferbench::statistics {
namespace {

using Samples = std::vector<double>;

/// first, first + 1, ... first + n - 1.
Samples ramp(double first, std::size_t n) {
  Samples samples(n);
  std::iota(samples.begin(), samples.end(), first);
  return samples;
}

/// Shuffles, which removes autocorrelation.
Samples shuffled(Samples samples) {
  std::ranges::shuffle(samples, std::mt19937(7));  // NOLINT: a fixed seed makes the test repeatable
  return samples;
}

Samples joined(Samples first, const Samples& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// --- Median and its interval ----------------------------------------------------------------------------------------

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_DOUBLE_EQ(median(Samples{3}), 3);
  EXPECT_DOUBLE_EQ(median(Samples{9, 1, 5}), 5);
  EXPECT_DOUBLE_EQ(median(Samples{4, 1}), 2.5);
  EXPECT_DOUBLE_EQ(median(Samples{100, 1, 2, 4}), 3);
}

TEST(Percentile, InterpolatesBetweenOrderStatistics) {
  const Samples samples = shuffled(ramp(101, 11));  // position 0.9 x 10 = 9: the tenth smallest
  EXPECT_DOUBLE_EQ(percentile(samples, 0.9), 110);
  EXPECT_DOUBLE_EQ(percentile(samples, 0.95), 110.5);
  EXPECT_DOUBLE_EQ(percentile(Samples{10, 30}, 0.9), 28);
  EXPECT_DOUBLE_EQ(percentile(Samples{7}, 0.99), 7);
}

TEST(Percentile, ReachesFromTheMinimumOverTheMedianToTheMaximum) {
  const Samples samples = shuffled(ramp(1, 24));
  EXPECT_DOUBLE_EQ(percentile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(percentile(samples, 0.5), median(samples));
  EXPECT_DOUBLE_EQ(percentile(samples, 1), 24);
}

TEST(MedianRanks, AgreeWithPublishedTablesFromSixSamplesOn) {
  using Ranks = std::pair<std::size_t, std::size_t>;
  const std::map<std::size_t, Ranks> published{{6, {1, 6}},    {9, {2, 8}},    {10, {2, 9}},   {20, {6, 15}},
                                               {30, {10, 21}}, {50, {18, 33}}, {100, {40, 61}}};
  for (const auto& [n, ranks] : published) EXPECT_EQ(median_ranks(n), ranks) << n;
  for (std::size_t n = 0; n < 6; ++n) EXPECT_EQ(median_ranks(n), std::nullopt) << n;
}

/// P(fewer than k heads in n fair coin tosses), term by term. A long double can hold 2^-5000.
long double tail(std::size_t n, std::size_t k) {
  long double term = std::pow(2.0L, -static_cast<long double>(n));
  long double sum = 0;
  for (std::size_t i = 0; i < k; ++i) {
    sum += term;
    term *= static_cast<long double>(n - i) / static_cast<long double>(i + 1);
  }
  return sum;
}

TEST(MedianRanks, AreTheNarrowestThatHold95Percent) {
  for (std::size_t n = 6; n <= 5000; n = n < 200 ? n + 1 : n + 97) {
    const auto ranks = median_ranks(n);
    ASSERT_TRUE(ranks) << n;
    const auto [low, high] = *ranks;
    EXPECT_EQ(low + high, n + 1) << n << ": the same number of samples is left out on either side";
    EXPECT_LE(tail(n, low), 0.025L) << n << ": holds 95 %";
    EXPECT_GT(tail(n, low + 1), 0.025L) << n << ": one rank further in would not";
  }
}

TEST(MedianInterval, IsMadeOfSamplesWhateverTheirOrder) {
  const auto interval = median_interval(shuffled(ramp(101, 10)));  // ranks 2 and 9
  ASSERT_TRUE(interval);
  EXPECT_DOUBLE_EQ(interval->low, 102);
  EXPECT_DOUBLE_EQ(interval->high, 109);
  EXPECT_FALSE(median_interval(ramp(1, 5)));
}

// --- Dependence between neighbours ----------------------------------------------------------------------------------

/// Twelve samples with a step in the middle: r = (10 equal pairs - 1 unequal) / 12 = 0.75.
const Samples kStep{10, 10, 10, 10, 10, 10, 12, 12, 12, 12, 12, 12};

const Samples kAlternating{1, 3, 1, 3, 1, 3, 1, 3, 1, 3};

TEST(Autocorrelation, AgreesWithHandCalculation) {
  EXPECT_NEAR(autocorrelation(kStep), 0.75, 1e-12);
  EXPECT_NEAR(autocorrelation(Samples{1, 2, 3}), 0, 1e-12) << "deviations -1 0 1: (-1 * 0 + 0 * 1) / 2";
  EXPECT_NEAR(autocorrelation(kAlternating), -0.9, 1e-12) << "nine unequal pairs over ten";
  for (const Samples& nothing : {Samples{}, Samples{1, 2}, Samples(20, 5.0)}) EXPECT_EQ(autocorrelation(nothing), 0);
}

TEST(Autocorrelated, NeedsMoreThanChanceWouldGive) {
  EXPECT_TRUE(autocorrelated(kStep)) << "0.75 is above 1.96 / sqrt(12) = 0.566";
  EXPECT_FALSE(autocorrelated(shuffled(ramp(100, 30))));
  EXPECT_FALSE(autocorrelated(ramp(100, 9))) << "too few to tell";
  EXPECT_FALSE(autocorrelated(kAlternating)) << "alternating is no persistence";
  Samples grain = kStep;
  for (double& x : grain) x = 1000 + x / 20;  // a range of 0.1 in 1000: clock resolution
  EXPECT_FALSE(autocorrelated(grain)) << "the grain of the clock";
}

TEST(Widening, CountsHowLongSamplesStayOnOneSideOfTheMedian) {
  // Of the 12 - k pairs with lag k, k lie on different sides of the median: rho_k = (12 - 3 k) / 12, 0 from k = 4 on.
  EXPECT_NEAR(widening(kStep), std::sqrt(1 + 2 * (9 + 6 + 3) / 12.0), 1e-12);
  Samples with_outlier = kStep;
  with_outlier[8] = 1e6;
  EXPECT_NEAR(widening(with_outlier), widening(kStep), 1e-12) << "which hides the correlation of the values themselves";
}

TEST(Widening, IsNeverLessThanWhatShortSeriesHide) {
  for (const Samples& samples : {kAlternating, shuffled(ramp(100, 30)), Samples(20, 5.0), ramp(1, 9), Samples{1, 2}}) {
    EXPECT_EQ(widening(samples), kLeastWidening);
  }
}

/// Uncertainty factor from the medians of a series' thirds: exp(t s), with t = 4.302653 for two degrees of freedom and
/// s the standard error of their logarithms.
double factor_of_thirds(double a, double b, double c) {
  const double middle = std::log(a * b * c) / 3;
  double squares = 0;
  for (const double m : {a, b, c}) squares += std::pow(std::log(m) - middle, 2);
  return std::exp(4.302653 * std::sqrt(squares / 2 / 3));
}

TEST(DependableInterval, ReachesOverEffectiveRanksAndWhatTheThirdsSay) {
  // 100 samples alternate between the low and the high half, so the thirds are alike and each value equals its rank.
  // Ranks 40 and 61 are 10.5 from the middle.
  Samples alike;
  for (int i = 1; i <= 50; ++i) alike.push_back(i), alike.push_back(101 - i);
  const auto by_ranks = autocorrelation_adjusted_ci(alike);
  ASSERT_TRUE(by_ranks);
  EXPECT_LE(by_ranks->low, 50.5 - 10.5 * kLeastWidening + 1e-9);
  EXPECT_GE(by_ranks->high, 50.5 + 10.5 * kLeastWidening - 1e-9);

  const auto by_thirds = autocorrelation_adjusted_ci(kStep);
  ASSERT_TRUE(by_thirds);
  EXPECT_NEAR(by_thirds->low, 11 / factor_of_thirds(10, 11, 12), 1e-9);
  EXPECT_NEAR(by_thirds->high, 11 * factor_of_thirds(10, 11, 12), 1e-9);
}

TEST(DependableInterval, OfTimesIsNeverBelowZeroHoweverFarTheirLevelsAreApart) {
  const auto interval = autocorrelation_adjusted_ci(Samples{1, 1, 1, 1, 1.1, 1.1, 1.1, 1.1, 9, 9, 9, 9});
  ASSERT_TRUE(interval);
  EXPECT_GT(interval->low, 0);
  EXPECT_GT(interval->high, 9);
}

TEST(DependableInterval, OfWhatMayBeZeroOrLessFollowsFromItsThirdsAsTheyAre) {
  const auto interval = autocorrelation_adjusted_ci(Samples{-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1});
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, -4.302653 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(interval->high, 4.302653 / std::sqrt(3.0), 1e-9);
}

TEST(DependableInterval, NeedsSixSamplesAndHasNoWidthWhereNothingVaries) {
  EXPECT_FALSE(autocorrelation_adjusted_ci(ramp(1, 5)));
  const auto constant = autocorrelation_adjusted_ci(Samples(6, 5.0));
  ASSERT_TRUE(constant);
  EXPECT_EQ(constant->low, 5);
  EXPECT_EQ(constant->high, 5);
  EXPECT_EQ(half_width(Samples(6, 5.0)), 0);
  EXPECT_FALSE(half_width(ramp(1, 5)));
}

TEST(Settled, IsNothingThatDriftsOrWasSlowAtFirstHoweverNarrow) {
  const Samples steady = shuffled(ramp(1000, 30));
  EXPECT_TRUE(settled(steady, 0.05));
  EXPECT_FALSE(settled(steady, 0.001)) << "too wide";
  Samples slow = steady;
  slow.insert(slow.begin(), 2000);
  ASSERT_TRUE(slow_first(slow));
  EXPECT_FALSE(settled(slow, 0.05));
  Samples moving(100, 1000);
  std::fill(moving.begin() + 67, moving.end(), 1015);
  ASSERT_TRUE(drifting(moving));
  ASSERT_LE(*half_width(moving), 0.05);
  EXPECT_FALSE(settled(moving, 0.05));
}

TEST(StopOf, IsTheTargetOnlyWhereItWasReached) {
  const Samples steady = shuffled(ramp(1000, 30));
  for (const Stop all : {Stop::ci, Stop::budget, Stop::max_samples}) {
    EXPECT_EQ(stop_of(steady, 0.05, all), Stop::ci);
    EXPECT_EQ(stop_of(steady, 0.001, all), all == Stop::ci ? Stop::others : all);
  }
  EXPECT_EQ(stop_of(steady, 0.05, Stop::interrupted), Stop::interrupted);
}

bool never() { return false; }

TEST(IntervalOverRounds, LeavesOutWhatMovesAllSeriesAlike) {
  Samples a;
  Samples b;
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> noise(0.99, 1.01);
  for (int i = 0; i < 60; ++i) {
    const double level = 1 + 0.1 * std::sin(i / 8.0);  // a drift common to both series, such as clock rates
    a.push_back(2 * level * noise(random));
    b.push_back(level * noise(random));
  }
  const auto ratio = [&](std::span<const std::size_t> rounds) {
    Samples x;
    Samples y;
    for (const std::size_t i : rounds) x.push_back(a[i]), y.push_back(b[i]);
    return median(x) / median(y);
  };
  const auto interval = interval_over_rounds(a.size(), never, ratio);
  ASSERT_TRUE(interval);
  EXPECT_LT(interval->low, 2);
  EXPECT_GT(interval->high, 2);
  EXPECT_LT(interval->high - interval->low, 0.06) << "each by itself varies by 10 %";
  EXPECT_EQ(interval_over_rounds(a.size(), never, ratio)->low, interval->low) << "from the same samples, the same";
  EXPECT_FALSE(interval_over_rounds(5, never, ratio));
}

TEST(IntervalOverRounds, StopsBetweenDrawsWhereItIsGivenUp) {
  int draws = 0;
  const auto number_of = [&draws](std::span<const std::size_t>) { return ++draws; };
  EXPECT_FALSE(interval_over_rounds(
      60, [&draws] { return draws == 3; }, number_of));
  EXPECT_EQ(draws, 3);
  EXPECT_TRUE(interval_over_rounds(60, never, number_of));
}

// --- Outliers -------------------------------------------------------------------------------------------------------

TEST(Outliers, LieBeyondTukeysFencesBothAboveAndBelow) {
  struct Counted {
    Samples samples;
    std::size_t mild;
    std::size_t severe;
    const char* why;
  };
  const std::vector<Counted> all{
      {{29, 10, 11, 12, 13, 14, 15, 16, 23}, 1, 1, "quartiles 12 and 16: mild beyond 6 and 22, severe beyond 0 and 28"},
      {{10, 11, 12, 13, 14, 15, 16, 22, 22}, 0, 0, "on the mild fence"},
      {{10, 11, 12, 13, 14, 15, 16, 16, 28}, 1, 0, "on the severe fence"},
      {{91, 97, 104, 105, 106, 107, 108, 109, 110}, 1, 1, "quartiles 104 and 108: mild below 98, severe below 92"},
      // Eight samples have their quartiles at positions 1.75 and 5.25: 11.75 and 15.25. The fences are 20.5 and 25.75.
      {{10, 11, 12, 13, 14, 15, 16, 20.4}, 0, 0, "quartiles are interpolated"},
      {{10, 11, 12, 13, 14, 15, 16, 20.6}, 1, 0, "quartiles are interpolated"},
      {{10, 11, 12, 13, 14, 15, 16, 25.8}, 0, 1, "quartiles are interpolated"},
      {joined(Samples(19, 100.0), {100.05}), 0, 0, "the grain of the clock"},
      {joined(Samples(19, 100.0), {101}), 0, 1, "more than the grain"},
      {{1, 1, 100}, 0, 0, "not sought among fewer than four"},
  };
  for (const Counted& c : all) {
    EXPECT_EQ(outliers(c.samples).mild, c.mild) << c.why;
    EXPECT_EQ(outliers(c.samples).severe, c.severe) << c.why;
  }
}

// --- Flags ----------------------------------------------------------------------------------------------------------

/// Whether a flag is expected for the samples, and why.
struct Flagged {
  bool expected;
  Samples samples;
  const char* why;
};

void expect_flagged(bool (*flag)(std::span<const double>), const std::vector<Flagged>& all) {
  for (const Flagged& f : all) EXPECT_EQ(flag(f.samples), f.expected) << f.why;
}

TEST(SlowFirst, IsOnlyTheFirstAndLiesAboveTheSevereFenceOfTheOthers) {
  expect_flagged(slow_first, {{true, {110, 100, 101, 102, 103, 104}, "quartiles 101 and 103: the fence is at 109"},
                              {false, {108, 100, 101, 102, 103, 104}, "below the fence"},
                              {false, {100, 101, 102, 103, 104, 200}, "the last"},
                              {false, {10, 100, 101, 102, 103, 104}, "fast"},
                              {false, joined({100.9}, Samples(9, 100.0)), "less than 1 % among constant samples"},
                              {true, joined({101.1}, Samples(9, 100.0)), "more than 1 % among constant samples"},
                              {false, {1000, 1, 1, 1, 1}, "fewer than six"}});
}

TEST(Drifting, IsAThirdThatMovedFurtherThanTheIntervalIsWide) {
  Samples falling = ramp(100, 30);
  std::ranges::reverse(falling);
  expect_flagged(drifting,
                 // Medians of the first and last third: 104.5 and 124.5. The interval is ranks 10 to 21: 109 to 120.
                 {{true, ramp(100, 30), "rising"},
                  {true, falling, "falling"},
                  {false, shuffled(ramp(100, 30)), "the same values in another order"},
                  {false, ramp(10100, 30), "20 in 10000 is less than 1 %"},
                  {false, joined(joined(Samples(10, 100.0), Samples(10, 150.0)), Samples(10, 100.0)), "a spike"}});
}

TEST(Bimodal, IsTwoClustersFurtherApartThanTheyAreWide) {
  std::mt19937 random(3);  // NOLINT: repeatable
  std::normal_distribution<double> bell(100, 5);
  Samples noise(100);
  for (double& x : noise) x = bell(random);
  const auto clusters = [](std::size_t first, std::size_t second, double apart) {
    return joined(Samples(first, 100.0), Samples(second, apart));
  };
  expect_flagged(bimodal, {{true, shuffled(joined(ramp(100, 10), ramp(150, 10))), "two ramps"},
                           {true, shuffled(clusters(16, 4, 110)), "a fifth is a cluster"},
                           {false, clusters(17, 3, 200), "less than a fifth"},
                           {false, clusters(19, 1, 200), "an outlier"},
                           {true, joined(clusters(10, 10, 150), {1000}), "not hidden by an outlier"},
                           {false, ramp(100, 40), "a spread"},
                           {false, noise, "a bell"},
                           {false, clusters(10, 10, 101.9), "a difference that hardly matters"},
                           {true, clusters(10, 10, 103), "a difference that does"},
                           {false, clusters(10, 9, 150), "a gap among fewer than twenty is chance"},
                           {true, clusters(10, 10, 150), "twenty are enough"}});
}

// --- Summary and schedule -------------------------------------------------------------------------------------------

Measurement summarised(Samples samples) {
  Measurement m;
  m.samples = std::move(samples);
  summarise(m);
  return m;
}

TEST(Summarise, SaysAllThatFollowsFromTheSamples) {
  const Samples samples{29, 10, 11, 12, 13, 14, 15, 16, 23};
  const Measurement m = summarised(samples);
  EXPECT_EQ(m.samples, samples);
  EXPECT_DOUBLE_EQ(m.min, 10);
  EXPECT_DOUBLE_EQ(m.median, 14);
  EXPECT_DOUBLE_EQ(m.max, 29);
  ASSERT_TRUE(m.ci95);
  EXPECT_NEAR(m.ci95->low, 14 / factor_of_thirds(11, 13, 16), 1e-9) << "by the thirds' medians 11, 13, 16";
  EXPECT_DOUBLE_EQ(m.ci95->high, 27.5) << "rank 8 of 9 lies 3 from the middle: 3.75 beyond it, between 23 and 29";
  EXPECT_EQ(m.outliers_mild, 1U);
  EXPECT_EQ(m.outliers_severe, 1U);
  // Without the first sample the quartiles are 11.75 and 15.25, so the first lies above the severe fence of 25.75.
  EXPECT_EQ(m.flags, (std::vector<std::string>{"outliers", "slow-first"}));
}

TEST(Summarise, FlagsWhatTheSamplesShow) {
  EXPECT_EQ(summarised(joined(Samples(15, 100.0), Samples(15, 110.0))).flags,
            (std::vector<std::string>{"autocorrelated", "bimodal"}))
      << "the interval reaches from mode to mode, so the shift does not exceed it";
  EXPECT_TRUE(summarised(shuffled(ramp(1000, 30))).flags.empty());
}

TEST(Summarise, UsesTheWidenedInterval) {
  const Measurement m = summarised(kStep);
  ASSERT_TRUE(m.ci95);
  const double factor = factor_of_thirds(10, 11, 12);
  EXPECT_NEAR(m.ci95->high - m.ci95->low, 11 * (factor - 1 / factor), 1e-9);
  EXPECT_NEAR(relative_half_width(m).value_or(0), (factor - 1 / factor) / 2, 1e-9);
}

TEST(Summarise, FillsInThePercentilesThatTheSamplesAreEnoughFor) {
  const auto of = [](std::size_t n) { return summarised(shuffled(ramp(0, n))); };
  EXPECT_FALSE(of(9).p90);
  EXPECT_DOUBLE_EQ(of(10).p90.value_or(0), 8.1);
  EXPECT_FALSE(of(99).p99);
  EXPECT_DOUBLE_EQ(of(100).p90.value_or(0), 89.1);
  EXPECT_DOUBLE_EQ(of(100).p99.value_or(0), 98.01);
}

TEST(Summarise, GivesNoIntervalOfFewSamplesAndNothingOfNone) {
  EXPECT_DOUBLE_EQ(summarised({2, 1, 3}).median, 2);
  for (const Measurement& m : {summarised({2, 1, 3}), summarised({})}) {
    EXPECT_FALSE(m.ci95);
    EXPECT_FALSE(relative_half_width(m));
    EXPECT_TRUE(m.flags.empty());
  }
}

using CheckPoints = std::vector<std::size_t>;

TEST(LooksSchedule, IsFewAndFixedBetweenMinAndMax) {
  const std::map<std::pair<std::size_t, std::size_t>, CheckPoints> schedules{
      {{10, 1000}, {10, 20, 30, 45, 68, 102, 153, 230, 345, 518, 777, 1000}},
      {{10, 10}, {10}},
      {{1, 1}, {1}},
      {{3, 5}, {3, 5}},
      {{6, 12}, {6, 10, 12}},
      {{25, 45}, {25, 30, 45}},
      {{20, 30}, {20, 30}},
      {{500, 500}, {500}}};
  for (const auto& [bounds, points] : schedules) EXPECT_EQ(check_points(bounds.first, bounds.second), points);
}

TEST(LooksSchedule, RisesFromMinToMaxWhateverTheyAre) {
  for (std::size_t min = 1; min <= 120; ++min) {
    for (std::size_t max = min; max <= 300; max += 7) {
      const CheckPoints schedule = check_points(min, max);
      ASSERT_EQ(schedule.front(), min) << min << " " << max;
      ASSERT_EQ(schedule.back(), max) << min << " " << max;
      ASSERT_EQ(std::ranges::adjacent_find(schedule, std::greater_equal<>()), schedule.end()) << min << " " << max;
    }
  }
}

TEST(Warm, IsAMedianOfEightWithinOnePercentOfTheEightBefore) {
  EXPECT_TRUE(warm(joined(Samples(8, 100.0), Samples(8, 101.0))));
  EXPECT_FALSE(warm(joined(Samples(8, 100.0), Samples(8, 101.1))));
  EXPECT_FALSE(warm(joined(Samples(8, 100.0), Samples(8, 98.9)))) << "still becoming faster";
  EXPECT_FALSE(warm(Samples(15, 100.0))) << "too few";
  EXPECT_TRUE(warm(joined(Samples(20, 500.0), Samples(16, 100.0)))) << "what was long ago is forgotten";
}

}  // namespace
}  // namespace xferbench::statistics
