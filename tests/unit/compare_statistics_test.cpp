// The Mann-Whitney test and the ratio of medians, against brute force and published examples.
#include "compare/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace xferbench::compare {
namespace {

using Numbers = std::vector<double>;

double p_of(const Numbers& base, const Numbers& new_side) {
  MannWhitney test;
  return test.p_value(sample_of(base), sample_of(new_side));
}

/// Independent samples, uniform in (low, low + 1).
Numbers random_numbers(std::size_t n, double low, std::mt19937_64& random) {
  Numbers numbers(n);
  for (double& x : numbers) x = low + static_cast<double>(random() >> 11U) * 0x1p-53;
  return numbers;
}

/// Two-sided p by enumerating every way to divide all samples between the sides; for sides of at most 8 samples.
double p_by_permutation(const Numbers& base, const Numbers& new_side) {
  Numbers all = base;
  all.insert(all.end(), new_side.begin(), new_side.end());
  std::vector<int> is_next(all.size(), 0);
  std::fill(is_next.end() - static_cast<std::ptrdiff_t>(new_side.size()), is_next.end(), 1);
  const auto u_of = [&](const std::vector<int>& chosen) {
    double u = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < all.size(); ++j) u += chosen[i] == 1 && chosen[j] == 0 && all[i] > all[j] ? 1 : 0;
    }
    return u;
  };
  const double centre = static_cast<double>(base.size() * new_side.size()) / 2;
  const double observed = std::abs(u_of(is_next) - centre);
  double as_far = 0;
  double ways = 0;
  std::vector<int> chosen = is_next;
  std::ranges::sort(chosen);
  do {
    ++ways;
    as_far += std::abs(u_of(chosen) - centre) >= observed ? 1 : 0;
  } while (std::ranges::next_permutation(chosen).found);
  return as_far / ways;
}

// --- The test -------------------------------------------------------------------------------------------------------

TEST(MannWhitney, IsWhatCountingEveryDivisionGives) {
  std::mt19937_64 random(1);
  for (std::size_t n = 1; n <= 6; ++n) {
    for (std::size_t m = 1; m <= 6; ++m) {
      const Numbers base = random_numbers(n, 1, random);
      const Numbers new_side = random_numbers(m, 1.3, random);
      EXPECT_NEAR(p_of(base, new_side), p_by_permutation(base, new_side), 1e-12) << n << " against " << m;
    }
  }
}

TEST(MannWhitney, AgreesWithHollanderAndWolfe) {
  // Nonparametric Statistical Methods, example 4.1: W = 35, one-sided p = 0.1272.
  const Numbers term{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const Numbers early{1.15, 0.88, 0.90, 0.74, 1.21};
  EXPECT_NEAR(p_of(term, early), 2 * 0.1272, 2e-4);
}

TEST(MannWhitney, AgreesWithTheOzoneOfMayAndAugust) {
  // New York, 1973, with ties: W = 127.5, p = 0.0001208 by the normal distribution, corrected for ties and continuity.
  const Numbers may{41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37};
  const Numbers august{39, 9,  16, 78, 35, 66, 122, 89,  110, 44, 28,  65, 22,
                       59, 23, 31, 44, 21, 9,  45,  168, 73,  76, 118, 84, 85};
  EXPECT_NEAR(p_of(may, august), 0.0001208, 5e-8);
}

TEST(MannWhitney, KnowsTheTabulatedCriticalValues) {
  // The largest U that is significant at 5 %, two-sided, as printed in tables of the test.
  const std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> table{{4, 4, 0},    {5, 5, 2},    {8, 10, 17},
                                                                             {10, 10, 23}, {15, 15, 64}, {20, 20, 127}};
  MannWhitney test;
  for (const auto& [n, m, critical] : table) EXPECT_EQ(test.interval_rank(n, m, 1), critical + 1) << n << ", " << m;
  EXPECT_FALSE(test.interval_rank(3, 3, 1).has_value());
  EXPECT_FALSE(test.interval_rank(1, 1, 1).has_value());
}

TEST(MannWhitney, TheNormalDistributionTakesOverSmoothly) {
  MannWhitney test;
  const auto exact = static_cast<double>(*test.interval_rank(49, 49, 1));
  const auto normal = static_cast<double>(*test.interval_rank(50, 50, 1));
  EXPECT_NEAR(normal / (50 * 50), exact / (49 * 49), 0.01);
}

TEST(MannWhitney, SaysNothingOfEqualSamplesAndIsNeverSurerThanThereAreDivisions) {
  EXPECT_EQ(p_of({1, 1, 1, 1}, {1, 1, 1, 1}), 1);
  EXPECT_EQ(p_of({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}), 1);
  // With these ties the normal approximation gives 0.047. The exact p is 2 of 20 divisions, 0.1.
  EXPECT_NEAR(p_of({1, 1, 1}, {2, 2, 2}), 0.1, 1e-12);
  EXPECT_NEAR(least_p(5, 5), 2.0 / 252, 1e-12);
}

/// Each sample is close to the one before: 20 samples are worth fewer than 5 independent ones.
Sample drifting(double from) {
  Numbers numbers;
  for (int i = 0; i < 20; ++i) numbers.push_back(from + 0.01 * i);
  return sample_of(numbers);
}

TEST(MannWhitney, IsLessSureOfDependentSamples) {
  MannWhitney test;
  const Sample a = drifting(1);
  const Sample b = drifting(1.1005);
  EXPECT_LT(a.effective_size, 5);
  EXPECT_GT(inflation(a, b), 2);
  const Sample shuffled_a{a.sorted, 20};
  const Sample shuffled_b{b.sorted, 20};
  EXPECT_GT(test.p_value(a, b), 10 * test.p_value(shuffled_a, shuffled_b));
  const auto wide = shift(test, a, b);
  const auto narrow = shift(test, shuffled_a, shuffled_b);
  ASSERT_TRUE(narrow->interval.has_value());
  EXPECT_TRUE(!wide->interval || wide->interval->low < narrow->interval->low);
}

TEST(Holm, AgreesWithTheArithmetic) {
  const Numbers adjusted = holm(Numbers{0.01, 0.04, 0.03, 0.005});
  const Numbers expected{0.03, 0.06, 0.06, 0.02};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_DOUBLE_EQ(adjusted[i], expected[i]);
  EXPECT_TRUE(holm({}).empty());
  EXPECT_EQ(holm(Numbers{0.6, 0.7})[1], 1);
}

// --- The ratio ------------------------------------------------------------------------------------------------------

Numbers all_ratios(const Numbers& base, const Numbers& new_side) {
  Numbers ratios;
  for (const double b : base) {
    for (const double x : new_side) ratios.push_back(x / b);
  }
  std::ranges::sort(ratios);
  return ratios;
}

TEST(Ratios, OfRanksAreThoseOfAllPairsHoweverMany) {
  std::mt19937_64 random(2);
  for (const std::size_t n : {1U, 2U, 7U, 30U, 45U, 200U}) {
    Numbers base = random_numbers(n, 0.5, random);
    Numbers new_side = random_numbers(n / 2 + 1, 0.5, random);
    const Numbers ratios = all_ratios(base, new_side);
    std::ranges::sort(base);
    std::ranges::sort(new_side);
    const std::vector<std::uint64_t> ranks{1, (ratios.size() + 1) / 2, ratios.size() / 2 + 1, ratios.size()};
    const Numbers found = ratios_of_ranks(base, new_side, ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i) EXPECT_NEAR(found[i], ratios[ranks[i] - 1], 1e-12) << n;
  }
}

TEST(Shift, IsTheMedianOfAllRatiosAndItsIntervalWhatTheTestDoesNotReject) {
  std::mt19937_64 random(3);
  const Numbers base = random_numbers(12, 1, random);
  const Numbers new_side = random_numbers(12, 1.2, random);
  MannWhitney test;
  const auto estimate = shift(test, sample_of(base), sample_of(new_side));
  const Numbers ratios = all_ratios(base, new_side);
  EXPECT_NEAR(estimate->ratio, (ratios[71] + ratios[72]) / 2, 1e-12);
  ASSERT_TRUE(estimate->interval.has_value());
  // The interval is where the test stops rejecting: scaled by a ratio inside it, the samples do not differ
  // significantly.
  const auto p_scaled = [&](double ratio) {
    Numbers scaled = new_side;
    for (double& x : scaled) x /= ratio;
    return p_of(base, scaled);
  };
  EXPECT_GT(p_scaled(estimate->interval->low * (1 + 1e-9)), 0.05);
  EXPECT_LE(p_scaled(estimate->interval->low * (1 - 1e-9)), 0.05);
  EXPECT_GT(p_scaled(estimate->interval->high * (1 - 1e-9)), 0.05);
  EXPECT_LE(p_scaled(estimate->interval->high * (1 + 1e-9)), 0.05);
}

TEST(Shift, HasNoRatioWhereASampleIsNotAboveZero) {
  MannWhitney test;
  EXPECT_FALSE(shift(test, sample_of(Numbers{0, 1}), sample_of(Numbers{1, 2})).has_value());
  EXPECT_FALSE(shift(test, sample_of(Numbers{1e-300}), sample_of(Numbers{1e300})).has_value());
  EXPECT_FALSE(bootstrap(sample_of(Numbers{0, 1}), sample_of(Numbers{1, 2}), 1).has_value());
  EXPECT_EQ(shift(test, sample_of(Numbers{2}), sample_of(Numbers{3}))->ratio, 1.5);
}

TEST(Bootstrap, IsTheRatioOfMediansAndTheSameForTheSameSeed) {
  std::mt19937_64 random(4);
  const Sample base = sample_of(random_numbers(11, 10, random));
  const Sample new_side = sample_of(random_numbers(11, 12, random));
  const auto estimate = bootstrap(base, new_side, 7);
  EXPECT_DOUBLE_EQ(estimate->ratio, new_side.sorted[5] / base.sorted[5]);
  EXPECT_LT(estimate->interval->low, estimate->ratio);
  EXPECT_GT(estimate->interval->high, estimate->ratio);
  EXPECT_EQ(bootstrap(base, new_side, 7)->interval->low, estimate->interval->low);
  EXPECT_FALSE(bootstrap(sample_of(Numbers{2}), new_side, 1)->interval.has_value());
}

TEST(Bootstrap, IsLessSureOfDependentSamples) {
  const Sample dependent = drifting(1);
  const Sample independent{dependent.sorted, 20};
  const double inflated = inflation(dependent, dependent);
  ASSERT_GT(inflated, 2);
  const auto wide = bootstrap(dependent, dependent, 7);
  const auto narrow = bootstrap(independent, independent, 7);
  EXPECT_NEAR(std::log(wide->interval->low), inflated * std::log(narrow->interval->low), 1e-12);
  EXPECT_NEAR(std::log(wide->interval->high), inflated * std::log(narrow->interval->high), 1e-12);
  EXPECT_EQ(wide->ratio, narrow->ratio);
}

TEST(Intervals, CoverTheTruthInAboutNineteenOfTwentyTrials) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(1, 0.02);
  MannWhitney test;
  int covered = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    Numbers base(12);
    Numbers new_side(15);
    for (double& x : base) x = noise(random);
    for (double& x : new_side) x = 1.05 * noise(random);
    std::ranges::sort(base);
    std::ranges::sort(new_side);
    const auto estimate = shift(test, {base, 12}, {new_side, 15});
    covered += estimate->interval->low <= 1.05 && 1.05 <= estimate->interval->high ? 1 : 0;
  }
  EXPECT_GE(covered, 0.94 * kTrials);
  EXPECT_LE(covered, 0.97 * kTrials);
}

}  // namespace
}  // namespace xferbench::compare
