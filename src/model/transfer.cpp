#include "model/transfer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "core/lists.hpp"

namespace xferbench::model {

namespace {

using Points = std::vector<TransferPoint>;

Points usable(std::span<const TransferPoint> points) {
  return those_of(points,
                  [](const TransferPoint& p) { return p.bytes > 0 && p.seconds > 0 && std::isfinite(p.seconds); });
}

std::size_t distinct_sizes(const Points& points) { return set_of(points, &TransferPoint::bytes).size(); }

/// Number of terms of a copy's time: latency, slope (seconds per byte) and cost of a pass. Vectors have this order.
constexpr std::size_t kTerms = 3;
constexpr std::size_t kSlope = 1;
using Vector = std::array<double, kTerms>;
using Matrix = std::array<Vector, kTerms>;
/// Whether each term is fitted; terms that are not fitted are 0.
using Terms = std::array<bool, kTerms>;

/// Returns the factor of each term divided by the measured time, so that residuals are relative.
Vector regressors(const TransferPoint& p) { return {1 / p.seconds, p.bytes / p.seconds, 1 / (p.in_a_row * p.seconds)}; }

double relative_error(const Vector& fitted, const TransferPoint& p) {
  const Vector x = regressors(p);
  return std::inner_product(x.begin(), x.end(), fitted.begin(), -1.0);
}

double squares_of(const Vector& fitted, const Points& points) {
  return total_of(points, [&](const TransferPoint& p) {
    const double error = relative_error(fitted, p);
    return error * error;
  });
}

/// Returns the inverse of a symmetric positive definite matrix over the fitted terms; nothing if it is singular.
std::optional<Matrix> inverse(Matrix m, const Terms& terms) {
  Matrix inverted{};
  Vector scale{};  // balances terms that differ by many orders of magnitude
  for (std::size_t i = 0; i < kTerms; ++i) scale[i] = terms[i] && m[i][i] > 0 ? 1 / std::sqrt(m[i][i]) : 0;
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (terms[i] && scale[i] == 0) return std::nullopt;
    for (std::size_t j = 0; j < kTerms; ++j) m[i][j] *= scale[i] * scale[j];
    if (!terms[i]) m[i][i] = 1;
    inverted[i][i] = 1;
  }
  for (std::size_t i = 0; i < kTerms; ++i) {
    constexpr double kSingular = 1e-12;
    if (m[i][i] < kSingular) return std::nullopt;
    const double pivot = m[i][i];
    for (std::size_t j = 0; j < kTerms; ++j) m[i][j] /= pivot, inverted[i][j] /= pivot;
    for (std::size_t row = 0; row < kTerms; ++row) {
      const double factor = row == i ? 0 : m[row][i];
      for (std::size_t j = 0; j < kTerms; ++j)
        m[row][j] -= factor * m[i][j], inverted[row][j] -= factor * inverted[i][j];
    }
  }
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j < kTerms; ++j) inverted[i][j] *= scale[i] * scale[j];
  }
  return inverted;
}

struct Fitted {
  Vector terms{};
  double slope_variance = 0;  ///< variance of the slope, for residuals of variance 1
  std::size_t count = 0;      ///< number of fitted terms
};

std::optional<Fitted> fit_terms(const Points& points, const Terms& terms) {
  Matrix normal{};
  Vector right{};
  for (const TransferPoint& p : points) {
    const Vector x = regressors(p);
    for (std::size_t i = 0; i < kTerms; ++i) {
      right[i] += x[i];
      for (std::size_t j = 0; j < kTerms; ++j) normal[i][j] += x[i] * x[j];
    }
  }
  const auto inverted = inverse(normal, terms);
  if (!inverted) return std::nullopt;
  Fitted fitted;
  for (std::size_t i = 0; i < kTerms; ++i) {
    if (!terms[i]) continue;
    ++fitted.count;
    fitted.terms[i] = std::inner_product(right.begin(), right.end(), (*inverted)[i].begin(), 0.0);
  }
  fitted.slope_variance = (*inverted)[kSlope][kSlope];
  return fitted;
}

/// Whether the numbers of back-to-back copies differ enough to determine the fixed cost of a row of copies.
bool can_fit_pass(const Points& points) {
  constexpr double kMany = 4;
  const auto [least, most] = std::ranges::minmax(points, {}, &TransferPoint::in_a_row);
  return distinct_sizes(points) > kTerms && least.in_a_row == 1 && most.in_a_row >= kMany;
}

/// Returns the fit with the smallest sum of squared errors among the fits without a negative term.
std::optional<Fitted> best_fit(const Points& points) {
  std::optional<Fitted> best;
  for (const bool pass : {true, false}) {
    if (pass && !can_fit_pass(points)) continue;
    for (const bool latency : {true, false}) {
      const auto fitted = fit_terms(points, {latency, true, pass});
      if (!fitted || std::ranges::any_of(fitted->terms, [](double term) { return term < 0; })) continue;
      if (!best || squares_of(fitted->terms, points) < squares_of(best->terms, points)) best = fitted;
    }
  }
  return best;
}

/// Whether the time grows significantly with the size, given the scatter of the points around the fit.
bool grows(const Fitted& fitted, const Points& points) {
  const std::size_t free = std::max<std::size_t>(points.size(), fitted.count + 1) - fitted.count;
  const double variance = squares_of(fitted.terms, points) / static_cast<double>(free);
  return fitted.terms[kSlope] > 2 * std::sqrt(variance * fitted.slope_variance);
}

double worst_residual(const Vector& fitted, const Points& points) {
  return most_of(points, [&](const TransferPoint& p) { return std::abs(relative_error(fitted, p)); });
}

struct WaysAtSize {
  TransferPoint a, b;
  Relation relation = relate(a.estimate(), b.estimate());
  std::optional<Interval> ratio = ratio_interval(a.estimate(), b.estimate());

  [[nodiscard]] bool decided() const { return relation == Relation::faster || relation == Relation::slower; }
  [[nodiscard]] bool first_faster() const { return relation == Relation::faster; }
  [[nodiscard]] double factor() const { return std::max(a.seconds, b.seconds) / std::min(a.seconds, b.seconds); }
  [[nodiscard]] double log_ratio() const { return std::log(a.seconds / b.seconds); }
};

/// Returns the sizes at which both ways were measured, ascending. Of points with the same size the first counts.
std::vector<WaysAtSize> matched(std::span<const TransferPoint> a, std::span<const TransferPoint> b) {
  std::map<double, TransferPoint> by_size;
  for (const TransferPoint& p : usable(b)) by_size.emplace(p.bytes, p);
  std::map<double, WaysAtSize> pairs;
  for (const TransferPoint& p : usable(a)) {
    if (const auto other = by_size.find(p.bytes); other != by_size.end())
      pairs.emplace(p.bytes, WaysAtSize{p, other->second});
  }
  return list_of(pairs, [](const auto& at_size) { return at_size.second; });
}

/// Returns the position (0 to 1) at which a straight line between two values of opposite sign crosses 0.
double share_of_way(double below, double above) { return std::abs(below) / (std::abs(below) + std::abs(above)); }

/// Returns the size at which the ratio of the times crosses 1. Interpolates the logarithm of the ratio linearly over
/// the logarithm of the size: costs are sums of powers of the size, so this line is nearly straight.
Crossover crossover_between(const WaysAtSize& below, const WaysAtSize& above) {
  const double low = std::log(below.a.bytes);
  const double high = std::log(above.a.bytes);
  const auto size_at = [&](double share) { return std::exp(low + share * (high - low)); };
  // At a decided size, the ratio's whole interval is on one side of 1.
  const auto nearest = [](const WaysAtSize& p) { return std::log(p.first_faster() ? p.ratio->high : p.ratio->low); };
  const auto furthest = [](const WaysAtSize& p) { return std::log(p.first_faster() ? p.ratio->low : p.ratio->high); };
  return {.bytes = size_at(share_of_way(below.log_ratio(), above.log_ratio())),
          .low = size_at(share_of_way(nearest(below), furthest(above))),
          .high = size_at(share_of_way(furthest(below), nearest(above))),
          .measured_below = below.a.bytes,
          .measured_above = above.a.bytes,
          .first_faster_above = above.first_faster()};
}

/// Counts a size at which neither way is certainly faster.
void add_undecided(const WaysAtSize& pair, Comparison& result) {
  if (pair.relation == Relation::equal) ++result.equal;
  if (!pair.ratio) {
    ++result.without_interval;
  } else {
    result.excluded = std::max({result.excluded, pair.ratio->high - 1, 1 / pair.ratio->low - 1});
  }
}

}  // namespace

std::optional<TransferFit> fit_transfer(std::span<const TransferPoint> points) {
  const Points kept = usable(points);
  if (distinct_sizes(kept) < 3) return std::nullopt;
  const auto fitted = best_fit(kept);
  if (!fitted || !grows(*fitted, kept)) return std::nullopt;
  const auto [latency, slope, pass] = fitted->terms;
  const auto [smallest, largest] = std::ranges::minmax(kept, {}, &TransferPoint::bytes);
  return TransferFit{.latency = latency,
                     .pass = pass,
                     .rate = 1 / slope,
                     .half_rate_size = latency / slope,
                     .worst_residual = worst_residual(fitted->terms, kept),
                     .points = kept.size(),
                     .smallest = smallest.bytes,
                     .largest = largest.bytes};
}

TransferFits fit_ranges(std::span<const TransferPoint> points) {
  Points small(points.begin(), points.end());
  const auto above = std::stable_partition(small.begin(), small.end(),
                                           [](const TransferPoint& p) { return p.bytes <= kLargestSmallTransfer; });
  const Points large(above, small.end());
  small.erase(above, small.end());
  const Points longest = those_of(large, [](const TransferPoint& p) { return p.bytes >= kLeastLongTransfer; });
  return {fit_transfer(points), fit_transfer(small), fit_transfer(large), fit_transfer(longest)};
}

Comparison compare(std::span<const TransferPoint> a, std::span<const TransferPoint> b) {
  const std::vector<WaysAtSize> pairs = matched(a, b);
  Comparison result;
  if (pairs.empty()) return result;
  result.sizes = pairs.size();
  result.smallest = pairs.front().a.bytes;
  result.largest = pairs.back().a.bytes;
  const WaysAtSize* last = nullptr;
  for (const WaysAtSize& pair : pairs) {
    if (!pair.decided()) {
      add_undecided(pair, result);
      continue;
    }
    result.factors = result.decided == 0 ? Interval{pair.factor(), pair.factor()}
                                         : Interval{std::min(result.factors.low, pair.factor()),
                                                    std::max(result.factors.high, pair.factor())};
    ++result.decided;
    if (last == nullptr) {
      result.first_faster_at_start = pair.first_faster();
    } else if (last->first_faster() != pair.first_faster()) {
      result.crossovers.push_back(crossover_between(*last, pair));
    }
    last = &pair;
  }
  return result;
}

BreakEven break_even(const Estimate& setup, const Estimate& slow_copy, const Estimate& fast_copy) {
  const Relation relation = relate(fast_copy, slow_copy);
  const bool sampled = ratio_interval(fast_copy, slow_copy) && setup.interval;
  BreakEven result{.sampled = sampled};
  if (relation == Relation::equal || relation == Relation::slower) {
    result.outcome = BreakEven::Outcome::never;
    result.equal = relation == Relation::equal;
  }
  if (relation != Relation::faster || !sampled) return result;
  const auto copies = [](double cost, double saved) { return std::max(1.0, std::ceil(cost / saved)); };
  const Estimate saved = difference(slow_copy, fast_copy);  // has a positive interval, as fast_copy is certainly faster
  result.outcome = BreakEven::Outcome::pays;
  result.copies = copies(setup.value, saved.value);
  result.range = {copies(setup.interval->low, saved.interval->high), copies(setup.interval->high, saved.interval->low)};
  return result;
}

}  // namespace xferbench::model
