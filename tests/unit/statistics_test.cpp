// What samples say: against published tables and sums done by hand.
#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
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

/// The same values in an order without memory of itself.
Samples shuffled(Samples samples) {
  std::ranges::shuffle(samples, std::mt19937(7));  // NOLINT: a fixed seed makes the test repeatable
  return samples;
}

Samples joined(Samples first, const Samples& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// --- Median and its interval ----------------------------------------------------------------------------------------

TEST(Median, IsTheMiddleOfAnOddNumber) {
  EXPECT_DOUBLE_EQ(median(Samples{3}), 3);
  EXPECT_DOUBLE_EQ(median(Samples{9, 1, 5}), 5);
}

TEST(Median, IsTheMeanOfTheMiddleTwoOfAnEvenNumber) {
  EXPECT_DOUBLE_EQ(median(Samples{4, 1}), 2.5);
  EXPECT_DOUBLE_EQ(median(Samples{100, 1, 2, 4}), 3);
}

TEST(Median, LeavesItsSamplesInOrder) {
  const Samples samples{3, 1, 2};
  static_cast<void>(median(samples));
  static_cast<void>(autocorrelation_adjusted_ci(samples));
  EXPECT_EQ(samples, (Samples{3, 1, 2}));
}

TEST(Percentile, InterpolatesBetweenOrderStatistics) {
  const Samples samples = shuffled(ramp(101, 11));  // place 0.9 x 10 = 9: the tenth smallest
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

TEST(MedianRanks, AgreeWithPublishedTables) {
  using Ranks = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(median_ranks(6), Ranks(1, 6));
  EXPECT_EQ(median_ranks(9), Ranks(2, 8));
  EXPECT_EQ(median_ranks(10), Ranks(2, 9));
  EXPECT_EQ(median_ranks(20), Ranks(6, 15));
  EXPECT_EQ(median_ranks(30), Ranks(10, 21));
  EXPECT_EQ(median_ranks(50), Ranks(18, 33));
  EXPECT_EQ(median_ranks(100), Ranks(40, 61));
}

TEST(MedianRanks, DoNotExistBelowSixSamples) {
  for (std::size_t n = 0; n < 6; ++n) EXPECT_EQ(median_ranks(n), std::nullopt) << n;
}

/// P(fewer than k of n fair coins show heads), by the ratio of neighbouring terms: no logarithms of gamma functions.
/// A long double holds 2^-5000.
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

/// Twelve samples, a step in the middle: r by hand is (10 equal pairs - 1 unequal) / 12 = 0.75.
const Samples kStep{10, 10, 10, 10, 10, 10, 12, 12, 12, 12, 12, 12};

TEST(Autocorrelation, AgreesWithHandCalculation) {
  EXPECT_NEAR(autocorrelation(kStep), 0.75, 1e-12);
  // Mean 2, deviations -1 0 1: (-1 * 0 + 0 * 1) / 2.
  EXPECT_NEAR(autocorrelation(Samples{1, 2, 3}), 0, 1e-12);
  // Ten alternating samples: nine unequal pairs over ten.
  EXPECT_NEAR(autocorrelation(Samples{1, 3, 1, 3, 1, 3, 1, 3, 1, 3}), -0.9, 1e-12);
}

TEST(Autocorrelation, IsZeroWhereThereIsNothingToCorrelate) {
  EXPECT_EQ(autocorrelation(Samples{}), 0);
  EXPECT_EQ(autocorrelation(Samples{1, 2}), 0);
  EXPECT_EQ(autocorrelation(Samples(20, 5.0)), 0);
}

TEST(Autocorrelated, NeedsMoreThanChanceWouldGive) {
  EXPECT_TRUE(autocorrelated(kStep)) << "0.75 is above 1.96 / sqrt(12) = 0.566";
  EXPECT_FALSE(autocorrelated(shuffled(ramp(100, 30))));
  EXPECT_FALSE(autocorrelated(ramp(100, 9))) << "too few to tell";
  EXPECT_FALSE(autocorrelated(Samples{1, 3, 1, 3, 1, 3, 1, 3, 1, 3})) << "alternating is no persistence";
}

TEST(Autocorrelated, IgnoresTheGrainOfTheClock) {
  Samples grain = kStep;
  for (double& x : grain) x = 1000 + x / 20;  // a range of 0.1 in 1000
  EXPECT_FALSE(autocorrelated(grain));
}

TEST(DependableInterval, IsWidenedBySquareRootOfSamplesOverEffectiveSamples) {
  // Twelve samples: ranks 3 and 10, so [10, 12] around 11; n / n_eff = (1 + 0.75) / (1 - 0.75) = 7.
  const auto interval = autocorrelation_adjusted_ci(kStep);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 11 - std::sqrt(7.0), 1e-9);
  EXPECT_NEAR(interval->high, 11 + std::sqrt(7.0), 1e-9);
}

TEST(DependableInterval, IsNotWidenedWithoutDependenceAndNeverNarrowed) {
  for (const Samples& samples : {shuffled(ramp(100, 30)), Samples{9, 11, 9, 11, 9, 11, 9, 11, 9, 11}}) {
    const auto plain = median_interval(samples);
    const auto dependable = autocorrelation_adjusted_ci(samples);
    ASSERT_TRUE(plain && dependable);
    EXPECT_EQ(dependable->low, plain->low);
    EXPECT_EQ(dependable->high, plain->high);
  }
}

// --- Outliers -------------------------------------------------------------------------------------------------------

TEST(Outliers, LieBeyondTukeysFences) {
  // Quartiles 12 and 16: mild beyond 6 and 22, severe beyond 0 and 28.
  const Outliers two = outliers(Samples{29, 10, 11, 12, 13, 14, 15, 16, 23});
  EXPECT_EQ(two.mild, 1U);
  EXPECT_EQ(two.severe, 1U);
}

TEST(Outliers, DoNotLieOnTheFences) {
  const Outliers on_mild = outliers(Samples{10, 11, 12, 13, 14, 15, 16, 22, 22});
  EXPECT_EQ(on_mild.mild + on_mild.severe, 0U);
  const Outliers on_severe = outliers(Samples{10, 11, 12, 13, 14, 15, 16, 16, 28});
  EXPECT_EQ(on_severe.mild, 1U);
  EXPECT_EQ(on_severe.severe, 0U);
}

TEST(Outliers, AreFoundBelowToo) {
  // Quartiles 104 and 108: mild below 98, severe below 92.
  const Outliers two = outliers(Samples{91, 97, 104, 105, 106, 107, 108, 109, 110});
  EXPECT_EQ(two.mild, 1U);
  EXPECT_EQ(two.severe, 1U);
}

TEST(Outliers, QuartilesAreInterpolated) {
  // Of eight samples the quartiles lie at 1.75 and 5.25: 11.75 and 15.25, so mild is beyond 20.5 and severe
  // beyond 25.75.
  EXPECT_EQ(outliers(Samples{10, 11, 12, 13, 14, 15, 16, 20.4}).mild, 0U);
  EXPECT_EQ(outliers(Samples{10, 11, 12, 13, 14, 15, 16, 20.6}).mild, 1U);
  EXPECT_EQ(outliers(Samples{10, 11, 12, 13, 14, 15, 16, 25.8}).severe, 1U);
}

TEST(Outliers, AreNotTheGrainOfTheClock) {
  Samples equal(20, 100.0);
  equal[3] = 100.05;
  EXPECT_EQ(outliers(equal).mild + outliers(equal).severe, 0U);
  equal[3] = 101;
  EXPECT_EQ(outliers(equal).severe, 1U);
}

TEST(Outliers, AreNotSoughtAmongFewerThanFourSamples) {
  const Outliers none = outliers(Samples{1, 1, 100});
  EXPECT_EQ(none.mild + none.severe, 0U);
}

// --- Flags ----------------------------------------------------------------------------------------------------------

TEST(SlowFirst, LiesAboveTheSevereFenceOfTheOthers) {
  // The others' quartiles are 101 and 103: the severe fence is at 109.
  EXPECT_TRUE(slow_first(Samples{110, 100, 101, 102, 103, 104}));
  EXPECT_FALSE(slow_first(Samples{108, 100, 101, 102, 103, 104}));
}

TEST(SlowFirst, IsOnlyTheFirstAndOnlySlow) {
  EXPECT_FALSE(slow_first(Samples{100, 101, 102, 103, 104, 200})) << "the last";
  EXPECT_FALSE(slow_first(Samples{10, 100, 101, 102, 103, 104})) << "fast";
}

TEST(SlowFirst, IsMoreThanOnePercentEvenAmongConstantSamples) {
  Samples samples(10, 100.0);
  samples[0] = 100.9;
  EXPECT_FALSE(slow_first(samples));
  samples[0] = 101.1;
  EXPECT_TRUE(slow_first(samples));
}

TEST(SlowFirst, NeedsSixSamples) { EXPECT_FALSE(slow_first(Samples{1000, 1, 1, 1, 1})); }

TEST(Drifting, IsAThirdThatMovedFurtherThanTheIntervalIsWide) {
  // Thirds' medians 104.5 and 124.5; the interval is that of ranks 10 and 21: 109 to 120.
  EXPECT_TRUE(drifting(ramp(100, 30)));
  Samples falling = ramp(100, 30);
  std::ranges::reverse(falling);
  EXPECT_TRUE(drifting(falling)) << "in either direction";
}

TEST(Drifting, IsNotTheSameValuesInAnotherOrder) { EXPECT_FALSE(drifting(shuffled(ramp(100, 30)))); }

TEST(Drifting, IsNotLessThanOnePercent) {
  Samples samples = ramp(100, 30);
  for (double& x : samples) x = 10000 + x;  // moves by 20 in 10000
  EXPECT_FALSE(drifting(samples));
}

TEST(Drifting, IsNotASpikeInTheMiddle) {
  EXPECT_FALSE(drifting(joined(joined(Samples(10, 100.0), Samples(10, 150.0)), Samples(10, 100.0))));
}

TEST(Bimodal, IsTwoClustersFurtherApartThanTheyAreWide) {
  EXPECT_TRUE(bimodal(shuffled(joined(ramp(100, 10), ramp(150, 10)))));
  EXPECT_TRUE(bimodal(shuffled(joined(Samples(16, 100.0), Samples(4, 110.0))))) << "a fifth is a cluster";
}

TEST(Bimodal, IsNotASpread) {
  EXPECT_FALSE(bimodal(ramp(100, 40)));
  std::mt19937 random(3);  // NOLINT: repeatable
  std::normal_distribution<double> bell(100, 5);
  Samples noise(100);
  for (double& x : noise) x = bell(random);
  EXPECT_FALSE(bimodal(noise));
}

TEST(Bimodal, IsNotAFewOutliers) {
  EXPECT_FALSE(bimodal(joined(Samples(19, 100.0), Samples(1, 200.0))));
  EXPECT_FALSE(bimodal(joined(Samples(17, 100.0), Samples(3, 200.0)))) << "less than a fifth";
}

TEST(Bimodal, IsNotADifferenceThatHardlyMatters) {
  EXPECT_FALSE(bimodal(joined(Samples(10, 100.0), Samples(10, 101.9))));
  EXPECT_TRUE(bimodal(joined(Samples(10, 100.0), Samples(10, 103.0))));
}

TEST(Bimodal, IsNotHiddenByAnOutlier) {
  EXPECT_TRUE(bimodal(joined(joined(Samples(10, 100.0), Samples(10, 150.0)), Samples{1000})));
}

TEST(Bimodal, NeedsTwentySamples) {
  EXPECT_FALSE(bimodal(joined(Samples(10, 100.0), Samples(9, 150.0)))) << "a gap among fewer is chance";
  EXPECT_TRUE(bimodal(joined(Samples(10, 100.0), Samples(10, 150.0))));
}

// --- Summary and schedule -------------------------------------------------------------------------------------------

TEST(Summarise, SaysAllThatFollowsFromTheSamples) {
  Measurement m;
  m.samples = {29, 10, 11, 12, 13, 14, 15, 16, 23};
  const Samples before = m.samples;
  summarise(m);
  EXPECT_EQ(m.samples, before);
  EXPECT_DOUBLE_EQ(m.min, 10);
  EXPECT_DOUBLE_EQ(m.median, 14);
  EXPECT_DOUBLE_EQ(m.max, 29);
  ASSERT_TRUE(m.ci95);
  EXPECT_DOUBLE_EQ(m.ci95->low, 11) << "rank 2 of 9";
  EXPECT_DOUBLE_EQ(m.ci95->high, 23) << "rank 8 of 9";
  EXPECT_EQ(m.outliers_mild, 1U);
  EXPECT_EQ(m.outliers_severe, 1U);
  // Without the first the quartiles are 11.75 and 15.25: its severe fence is at 25.75.
  EXPECT_EQ(m.flags, (std::vector<std::string>{"outliers", "slow-first"}));
}

TEST(Summarise, FlagsWhatTheSamplesShow) {
  Measurement steps;
  steps.samples = joined(Samples(15, 100.0), Samples(15, 110.0));
  summarise(steps);
  EXPECT_EQ(steps.flags, (std::vector<std::string>{"autocorrelated", "bimodal"}))
      << "the interval reaches from mode to mode, so the shift does not exceed it";
  Measurement quiet;
  quiet.samples = shuffled(ramp(1000, 30));
  summarise(quiet);
  EXPECT_TRUE(quiet.flags.empty());
}

TEST(Summarise, UsesTheWidenedInterval) {
  Measurement m;
  m.samples = kStep;
  summarise(m);
  ASSERT_TRUE(m.ci95);
  EXPECT_NEAR(m.ci95->high - m.ci95->low, 2 * std::sqrt(7.0), 1e-9);
  EXPECT_NEAR(relative_half_width(m).value_or(0), std::sqrt(7.0) / 11, 1e-9);
}

TEST(Summarise, FillsInThePercentilesThatTheSamplesAreEnoughFor) {
  const auto of = [](std::size_t n) {
    Measurement m;
    m.samples = shuffled(ramp(0, n));
    summarise(m);
    return m;
  };
  EXPECT_FALSE(of(9).p90);
  EXPECT_DOUBLE_EQ(of(10).p90.value_or(0), 8.1);
  EXPECT_FALSE(of(99).p99);
  EXPECT_DOUBLE_EQ(of(100).p90.value_or(0), 89.1);
  EXPECT_DOUBLE_EQ(of(100).p99.value_or(0), 98.01);
}

TEST(Summarise, SaysNothingWithoutSamples) {
  Measurement m;
  summarise(m);
  EXPECT_FALSE(m.ci95);
  EXPECT_TRUE(m.flags.empty());
  EXPECT_FALSE(relative_half_width(m));
}

TEST(Summarise, KeepsTheMedianOfFewSamplesWithoutAnInterval) {
  Measurement m;
  m.samples = {2, 1, 3};
  summarise(m);
  EXPECT_DOUBLE_EQ(m.median, 2);
  EXPECT_FALSE(m.ci95);
  EXPECT_FALSE(relative_half_width(m));
}

using CheckPoints = std::vector<std::size_t>;

TEST(LooksSchedule, IsFewAndFixed) {
  EXPECT_EQ(check_points(10, 1000), (CheckPoints{10, 20, 30, 45, 68, 102, 153, 230, 345, 518, 777, 1000}));
}

TEST(LooksSchedule, IsBoundedByMinAndMaxWhichAreLookedAt) {
  EXPECT_EQ(check_points(10, 10), CheckPoints{10});
  EXPECT_EQ(check_points(1, 1), CheckPoints{1});
  EXPECT_EQ(check_points(3, 5), (CheckPoints{3, 5}));
  EXPECT_EQ(check_points(6, 12), (CheckPoints{6, 10, 12}));
  EXPECT_EQ(check_points(25, 45), (CheckPoints{25, 30, 45}));
  EXPECT_EQ(check_points(20, 30), (CheckPoints{20, 30}));
  EXPECT_EQ(check_points(500, 500), CheckPoints{500});
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
