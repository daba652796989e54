// Decided or tied: comparisons of times with made-up intervals.
#include "model/relation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "measure/statistics.hpp"

namespace xferbench::model {
namespace {

Estimate between(double low, double value, double high) { return {value, Interval{low, high}}; }

TEST(Relation, OfTimesWithoutAnIntervalIsNeverDecided) {
  EXPECT_EQ(relate({1}, {6}), Relation::undecided) << "six times as long, of two samples";
  EXPECT_EQ(relate({1}, {1}), Relation::undecided);
  EXPECT_EQ(relate(between(1, 1, 1), {6}), Relation::undecided);
}

TEST(Relation, IsFasterOnlyBeyondBothIntervalsAndOnePercent) {
  EXPECT_EQ(relate(between(0.9, 1, 1.1), between(1.2, 1.3, 1.4)), Relation::faster);
  EXPECT_EQ(relate(between(1.2, 1.3, 1.4), between(0.9, 1, 1.1)), Relation::slower);
  EXPECT_EQ(relate(between(0.9, 1, 1.25), between(1.2, 1.3, 1.4)), Relation::undecided) << "they overlap";
  EXPECT_EQ(relate(between(1, 1, 1), between(1.009, 1.009, 1.02)), Relation::undecided) << "less than 1 %";
}

TEST(Relation, IsEqualOnlyWhereTheWholeIntervalIsWithinOnePercent) {
  EXPECT_EQ(relate(between(0.999, 1, 1.001), between(0.999, 1, 1.001)), Relation::equal);
  EXPECT_EQ(relate(between(0.99, 1, 1.01), between(0.99, 1, 1.01)), Relation::undecided)
      << "the medians are the same, but 1.4 % apart is as likely";
  EXPECT_EQ(relate(between(0.5, 1, 1.5), between(0.5, 1, 1.5)), Relation::undecided);
  EXPECT_EQ(relate(between(1, 1, 1), between(1.008, 1.008, 1.008)), Relation::equal);
}

TEST(Relation, OfWhatIsNoTimeIsNotDecided) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {0.0, -1.0, std::nan(""), infinity}) {
    EXPECT_EQ(relate(between(bad, bad, bad), between(1, 1, 1)), Relation::undecided) << bad;
    EXPECT_EQ(relate(between(1, 1, 1), between(bad, bad, bad)), Relation::undecided) << bad;
  }
}

TEST(RatioInterval, AddsTheDoubtsOfBothAsSquares) {
  const auto ratio = ratio_interval(between(2 / 1.03, 2, 2 * 1.03), between(1 / 1.04, 1, 1.04));
  ASSERT_TRUE(ratio);
  EXPECT_NEAR(std::log(ratio->high / 2), std::hypot(std::log(1.03), std::log(1.04)), 1e-12);
  EXPECT_NEAR(std::log(2 / ratio->low), std::hypot(std::log(1.03), std::log(1.04)), 1e-12);
}

/// Medians of 30 lognormal samples: in 95 % of pairs the ratio's interval contains the true ratio.
TEST(RatioInterval, HoldsTheTrueRatioInNinetyFiveOfAHundred) {
  std::mt19937 random(7);  // NOLINT: a fixed seed makes the test repeatable
  std::lognormal_distribution<double> noise(0, 0.1);
  const auto measured = [&](double center) {
    std::vector<double> samples(30);
    for (double& s : samples) s = center * noise(random);
    return Estimate{statistics::median(samples), statistics::median_interval(samples)};
  };
  constexpr int kPairs = 2000;
  int held = 0;
  int wrong = 0;
  for (int i = 0; i < kPairs; ++i) {
    const Estimate a = measured(1.2);
    const Estimate b = measured(1);
    const auto ratio = ratio_interval(a, b);
    held += ratio->low <= 1.2 && 1.2 <= ratio->high ? 1 : 0;
    const Relation same = relate(measured(1), b);
    wrong += same == Relation::faster || same == Relation::slower ? 1 : 0;
  }
  EXPECT_GE(held, kPairs * 94 / 100);
  EXPECT_LE(wrong, kPairs * 2 / 100) << "two that are the same";
}

TEST(Leaders, NamesOnlyWhoIsAheadOfAllOthers) {
  const std::vector<Estimate> clear{between(1.9, 2, 2.1), between(0.9, 1, 1.1), between(2.9, 3, 3.1)};
  EXPECT_EQ(leaders_of(clear).places, std::vector<std::size_t>{1});
  EXPECT_TRUE(leaders_of(clear).decided());

  const std::vector<Estimate> close{between(1.0, 1.05, 1.1), between(0.9, 1, 1.1), between(2.9, 3, 3.1)};
  EXPECT_EQ(leaders_of(close).places, (std::vector<std::size_t>{1, 0})) << "the shortest first";
  EXPECT_FALSE(leaders_of(close).equal);

  const std::vector<Estimate> equal{between(1, 1.001, 1.001), between(1, 1, 1)};
  EXPECT_TRUE(leaders_of(equal).equal);

  const std::vector<Estimate> unknown{{1}, {6}};
  EXPECT_EQ(leaders_of(unknown).places.size(), 2U);
  EXPECT_FALSE(leaders_of(unknown).sampled);
  EXPECT_TRUE(leaders_of({}).places.empty());
}

}  // namespace
}  // namespace xferbench::model
