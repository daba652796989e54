// Pooled variances of several cases, on draws from distributions of known scale.
#include "compare/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace xferbench::compare {
namespace {

/// Variances with eight degrees of freedom, around 1e-4 times scale_of(case).
template <class ScaleOf>
std::vector<ObservedVariance> drawn(std::size_t cases, const ScaleOf& scale_of) {
  constexpr double kFreedom = 8;
  std::mt19937_64 random(1);
  std::chi_squared_distribution<double> chi_squared(kFreedom);
  std::vector<ObservedVariance> all;
  for (std::size_t i = 0; i < cases; ++i)
    all.push_back({1e-4 * scale_of(i) * chi_squared(random) / kFreedom, kFreedom});
  return all;
}

TEST(Pooled, CasesThatAreAlikeSayAllOfEachOther) {
  const auto seen = pooled(drawn(200, [](std::size_t) { return 1.0; }));
  ASSERT_TRUE(seen);
  EXPECT_NEAR(seen->value, 1e-4, 0.1e-4);
  EXPECT_GT(seen->freedom, 50);
  EXPECT_LE(seen->freedom, 200 * 8) << "not more than they show";
}

TEST(Pooled, CasesThatDifferSayLittleOfEachOther) {
  const auto seen = pooled(drawn(200, [](std::size_t i) { return std::exp(4 * std::sin(static_cast<double>(i))); }));
  ASSERT_TRUE(seen);
  EXPECT_LT(seen->freedom, 2);
}

TEST(Pooled, FewCasesSayNothing) {
  EXPECT_FALSE(pooled(drawn(4, [](std::size_t) { return 1.0; })));
  EXPECT_TRUE(pooled(drawn(5, [](std::size_t) { return 1.0; })));
}

/// Happens on a simulated machine without noise.
TEST(Pooled, ProcessesThatAgreeToTheLastDigitHaveASpreadAllTheSame) {
  const auto seen = pooled(std::vector<ObservedVariance>(10, {0, 8}));
  ASSERT_TRUE(seen);
  EXPECT_GT(seen->value, 1e-9);
}

}  // namespace
}  // namespace xferbench::compare
