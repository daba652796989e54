#include "compare/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/lists.hpp"
#include "measure/statistics.hpp"

namespace xferbench::compare {

namespace {

constexpr std::size_t kExactBelow = 50;  // p is computed exactly if each side has fewer samples than this
// up to this many pairs of samples, storing all ratios is cheaper than counting them
constexpr std::uint64_t kFewPairs = 1024;
constexpr double kTail = 0.025;                        // probability beyond each end of a 95 % interval
constexpr double kNormalQuantile = 1.959963984540054;  // normal quantile of 1 - kTail

double as_double(std::size_t n) { return static_cast<double>(n); }

/// The statistic U of the Mann-Whitney test, and the terms that its variance depends on.
struct Ranks {
  double u = 0;  // number of pairs in which `next` is greater, plus half of the pairs with equal samples
  bool ties = false;
  double tie_sum = 0;  // sum of t^3 - t over all groups of t equal samples
};

Ranks ranks_of(std::span<const double> base, std::span<const double> next) {
  Ranks ranks;
  std::size_t i = 0;  // numbers of samples of `base` (i) and of `next` (j) that are smaller than `value`
  std::size_t j = 0;
  while (i < base.size() || j < next.size()) {
    const double value = j == next.size() || (i < base.size() && base[i] <= next[j]) ? base[i] : next[j];
    const std::size_t i0 = i;
    const std::size_t j0 = j;
    while (i < base.size() && base[i] == value) ++i;
    while (j < next.size() && next[j] == value) ++j;
    ranks.u += as_double(j - j0) * (as_double(i0) + as_double(i - i0) / 2);
    const double equal = as_double(i - i0 + j - j0);
    ranks.ties = ranks.ties || equal > 1;
    ranks.tie_sum += equal * equal * equal - equal;
  }
  return ranks;
}

/// Returns how many of the ratios next/base of all pairs are at most `ratio`. Both inputs must be ascending.
std::uint64_t count_up_to(std::span<const double> base, std::span<const double> next, double ratio) {
  std::uint64_t count = 0;
  std::size_t j = 0;
  for (const double b : base) {
    while (j < next.size() && next[j] <= ratio * b) ++j;
    count += j;
  }
  return count;
}

double ratio_by_counting(std::span<const double> base, std::span<const double> next, std::uint64_t rank) {
  constexpr double kClose = 1e-14;  // relative tolerance; samples have far fewer significant digits
  double low = next.front() / base.back() * (1 - 1e-12);
  double high = next.back() / base.front() * (1 + 1e-12);
  while (high > low * (1 + kClose)) {
    const double middle = std::sqrt(low) * std::sqrt(high);
    if (middle <= low || middle >= high) break;
    (count_up_to(base, next, middle) >= rank ? high : low) = middle;
  }
  return high;
}

bool has_ratios(std::span<const double> base, std::span<const double> next) {
  if (base.empty() || next.empty() || base.front() <= 0 || next.front() <= 0) return false;
  return std::isnormal(next.front() / base.back()) && std::isnormal(next.back() / base.front());
}

double resampled_median(std::span<const double> sorted, std::mt19937_64& random, std::vector<double>& space) {
  space.resize(sorted.size());
  for (double& x : space) {
    // Scale 32 random bits to an index. The result is the same on every platform, which the distributions of the
    // standard library do not guarantee.
    x = sorted[static_cast<std::size_t>(((random() >> 32U) * sorted.size()) >> 32U)];
  }
  const auto middle = space.begin() + static_cast<std::ptrdiff_t>(space.size() / 2);
  std::nth_element(space.begin(), middle, space.end());
  return space.size() % 2 == 1 ? *middle : (*middle + *std::max_element(space.begin(), middle)) / 2;
}

/// The digamma and trigamma functions, for x above 0: recurrence up to 10, then the asymptotic series.
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

/// Returns the x for which trigamma is `value`, which must be above 0. Uses bisection, because trigamma decreases.
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

Sample sample_of(std::span<const double> in_run_order) {
  Sample sample{{in_run_order.begin(), in_run_order.end()}, as_double(in_run_order.size())};
  if (statistics::autocorrelated(in_run_order)) {
    const double r = std::min(statistics::autocorrelation(in_run_order), 0.99);
    sample.effective_size *= (1 - r) / (1 + r);
  }
  std::ranges::sort(sample.sorted);
  return sample;
}

double inflation(const Sample& base, const Sample& next) {
  const double nominal = 1 / as_double(base.sorted.size()) + 1 / as_double(next.sorted.size());
  return std::sqrt(std::max(1.0, (1 / base.effective_size + 1 / next.effective_size) / nominal));
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
  std::vector<double> adjusted(p_values.size());
  double most = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    most = std::max(most, std::min(1.0, as_double(order.size() - k) * p_values[order[k]]));
    adjusted[order[k]] = most;
  }
  return adjusted;
}

double least_p(std::size_t n, std::size_t m) {
  const double choices =
      std::lgamma(as_double(n + m) + 1) - std::lgamma(as_double(n) + 1) - std::lgamma(as_double(m) + 1);
  return std::min(1.0, 2 * std::exp(-choices));
}

const std::vector<double>& MannWhitney::distribution(std::size_t n, std::size_t m) {
  const auto [at, is_new] = distributions_.try_emplace({n, m});
  std::vector<double>& cumulative = at->second;
  if (!is_new) return cumulative;
  // ways[k][u] is the number of orders of k samples of one side and `others` samples of the other side in which the
  // statistic is u. The greatest of all samples is either one of the k samples, which adds `others` to u, or one of the
  // others, which adds nothing.
  const std::size_t size = n * m + 1;
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(size, 0));
  for (auto& row : ways) row[0] = 1;
  for (std::size_t others = 1; others <= m; ++others) {
    for (std::size_t k = 1; k <= n; ++k) {
      for (std::size_t u = others; u <= k * others; ++u) ways[k][u] += ways[k - 1][u - others];
    }
  }
  cumulative = std::move(ways[n]);
  std::partial_sum(cumulative.begin(), cumulative.end(), cumulative.begin());
  const double all = cumulative.back();
  for (double& c : cumulative) c /= all;
  return cumulative;
}

double MannWhitney::p_value(const Sample& base, const Sample& next) {
  const std::size_t n = base.sorted.size();
  const std::size_t m = next.sorted.size();
  if (n == 0 || m == 0) return 1;
  const Ranks ranks = ranks_of(base.sorted, next.sorted);
  const double pairs = as_double(n) * as_double(m);
  const double inflated = inflation(base, next);
  if (n < kExactBelow && m < kExactBelow && !ranks.ties && inflated <= 1) {
    const double least = std::min(ranks.u, pairs - ranks.u);
    return std::min(1.0, 2 * distribution(n, m)[static_cast<std::size_t>(least)]);
  }
  const double all = as_double(n + m);
  const double variance = pairs / 12 * (all + 1 - ranks.tie_sum / (all * (all - 1)));
  if (!(variance > 0)) return 1;
  const double z = std::max(0.0, std::abs(ranks.u - pairs / 2) - 0.5) / (std::sqrt(variance) * inflated);
  return std::max(std::erfc(z / std::sqrt(2.0)), least_p(n, m));
}

std::optional<std::size_t> MannWhitney::interval_rank(std::size_t n, std::size_t m, double inflated) {
  if (n == 0 || m == 0 || least_p(n, m) > 2 * kTail) return std::nullopt;
  if (n < kExactBelow && m < kExactBelow && inflated <= 1) {
    const std::vector<double>& cumulative = distribution(n, m);
    const auto beyond = std::ranges::upper_bound(cumulative, kTail);
    if (beyond == cumulative.begin()) return std::nullopt;
    return static_cast<std::size_t>(beyond - cumulative.begin());
  }
  const double pairs = as_double(n) * as_double(m);
  const double spread = std::sqrt(pairs * (as_double(n + m) + 1) / 12) * inflated;
  const double rank = std::floor(pairs / 2 - 0.5 - kNormalQuantile * spread) + 1;
  // With strong autocorrelation, the rank may be below 1; the interval is then the range of all ratios.
  return rank >= 1 ? static_cast<std::size_t>(rank) : std::size_t{1};
}

std::vector<double> ratios_of_ranks(std::span<const double> base, std::span<const double> next,
                                    std::span<const std::uint64_t> ranks) {
  std::vector<double> ratios;
  if (base.size() * next.size() > kFewPairs) {
    for (const std::uint64_t rank : ranks) ratios.push_back(ratio_by_counting(base, next, rank));
    return ratios;
  }
  std::vector<double> pairs;
  pairs.reserve(base.size() * next.size());
  for (const double b : base) {
    for (const double x : next) pairs.push_back(x / b);
  }
  auto from = pairs.begin();
  for (const std::uint64_t rank : ranks) {
    const auto at = pairs.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    if (at >= from) std::nth_element(from, at, pairs.end());
    from = at + 1;
    ratios.push_back(*at);
  }
  return ratios;
}

std::optional<Estimate> shift(MannWhitney& test, const Sample& base, const Sample& next) {
  if (!has_ratios(base.sorted, next.sorted)) return std::nullopt;
  const std::size_t n = base.sorted.size();
  const std::size_t m = next.sorted.size();
  const std::uint64_t pairs = n * m;
  const auto rank = test.interval_rank(n, m, inflation(base, next));
  const std::uint64_t low = rank.value_or(1);
  const std::vector<std::uint64_t> ranks{low, (pairs + 1) / 2, pairs / 2 + 1, pairs + 1 - low};
  const std::vector<double> ratios = ratios_of_ranks(base.sorted, next.sorted, ranks);
  Estimate estimate{(ratios[1] + ratios[2]) / 2, std::nullopt};
  if (rank) estimate.interval = Interval{ratios[0], ratios[3]};
  return estimate;
}

std::optional<Estimate> bootstrap(const Sample& base, const Sample& next, std::uint64_t seed) {
  constexpr std::size_t kResamples = 10'000;
  if (!has_ratios(base.sorted, next.sorted)) return std::nullopt;
  Estimate estimate{statistics::median(next.sorted) / statistics::median(base.sorted), std::nullopt};
  if (base.sorted.size() < 2 || next.sorted.size() < 2) return estimate;
  std::mt19937_64 random(seed);
  std::vector<double> space;
  std::vector<double> ratios(kResamples);
  for (double& ratio : ratios) {
    const double below = resampled_median(base.sorted, random, space);
    ratio = resampled_median(next.sorted, random, space) / below;
  }
  const double inflated = inflation(base, next);
  const auto end = [&](double percentile) {
    const double ratio = statistics::percentile(ratios, percentile);
    return inflated <= 1 ? ratio : estimate.ratio * std::pow(ratio / estimate.ratio, inflated);
  };
  estimate.interval = Interval{end(kTail), end(1 - kTail)};
  return estimate;
}

std::optional<ObservedVariance> pooled(std::span<const ObservedVariance> cases) {
  constexpr std::size_t kFewest = 5;
  // least degrees of freedom of all cases together; with fewer, similar spreads may be chance
  constexpr double kLeastFreedom = 30;
  constexpr double kLeast = 1e-8;  // (0.01 %) squared; a smaller variance is due to chance or simulation
  if (cases.size() < kFewest) return std::nullopt;
  const auto n = static_cast<double>(cases.size());
  // Take the logarithm of each variance and correct its bias, which is due to few degrees of freedom.
  const auto level = [least = kLeast](const ObservedVariance& c) {
    return std::log(std::max(c.value, least)) - digamma(c.freedom / 2) + std::log(c.freedom / 2);
  };
  double mean = 0;
  double by_chance = 0;
  double all = 0;
  for (const ObservedVariance& c : cases) {
    mean += level(c) / n;
    by_chance += trigamma(c.freedom / 2) / n;
    all += c.freedom;
  }
  if (all < kLeastFreedom) return std::nullopt;
  const auto square = [&](const ObservedVariance& c) { return (level(c) - mean) * (level(c) - mean); };
  const double squares = total_of(cases, square);
  const double between = squares / (n - 1) - by_chance;
  // The expected spread must not have more degrees of freedom than all cases together.
  const double freedom = between > 0 ? std::min(all, 2 * inverse_trigamma(between)) : all;
  return ObservedVariance{std::exp(mean + digamma(freedom / 2) - std::log(freedom / 2)), freedom};
}

}  // namespace xferbench::compare
