#include "compare/pooling.hpp"

#include <algorithm>
#include <cmath>

namespace xferbench::compare {

namespace {

/// Derivatives of the logarithm of the gamma function, for x above 0: recurrence up to 10, then Stirling's series.
double digamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  const double y = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));
}

double trigamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum += 1 / (x * x);
  const double y = 1 / (x * x);
  return sum + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y / 42));
}

/// The x of which trigamma is `value`, above 0. It falls from above 1 / x^2 to below 1 / x + 1 / x^2.
double inverse_trigamma(double value) {
  double low = 1e-3;
  double high = 1e6;
  for (int halved = 0; halved < 100; ++halved) {
    const double middle = std::sqrt(low * high);
    (trigamma(middle) > value ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::optional<SeenVariance> pooled(std::span<const SeenVariance> cases) {
  constexpr std::size_t kFewest = 5;
  constexpr double kLeastFreedom = 30;  // of all: of less, how alike they are is chance
  constexpr double kLeast = 1e-8;       // 0.01 %: whatever agrees better agrees by chance, or is simulated
  if (cases.size() < kFewest) return std::nullopt;
  const auto n = static_cast<double>(cases.size());
  // Of the logarithm of each, without what its few degrees of freedom take off on average.
  const auto level = [least = kLeast](const SeenVariance& c) {
    return std::log(std::max(c.value, least)) - digamma(c.freedom / 2) + std::log(c.freedom / 2);
  };
  double mean = 0;
  double by_chance = 0;
  double all = 0;
  for (const SeenVariance& c : cases) {
    mean += level(c) / n;
    by_chance += trigamma(c.freedom / 2) / n;
    all += c.freedom;
  }
  if (all < kLeastFreedom) return std::nullopt;
  double squares = 0;
  for (const SeenVariance& c : cases) squares += (level(c) - mean) * (level(c) - mean);
  const double between = squares / (n - 1) - by_chance;
  // What is said of the cases is no surer than all that they show.
  const double freedom = between > 0 ? std::min(all, 2 * inverse_trigamma(between)) : all;
  return SeenVariance{std::exp(mean + digamma(freedom / 2) - std::log(freedom / 2)), freedom};
}

}  // namespace xferbench::compare
