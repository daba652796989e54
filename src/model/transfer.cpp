#include "model/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace xferbench::model {

namespace {

using Points = std::vector<TransferPoint>;

Points usable(std::span<const TransferPoint> points) {
  Points kept;
  std::ranges::copy_if(points, std::back_inserter(kept),
                       [](const TransferPoint& p) { return p.bytes > 0 && p.seconds > 0 && std::isfinite(p.seconds); });
  return kept;
}

std::size_t distinct_sizes(const Points& points) {
  std::set<double> sizes;
  for (const TransferPoint& p : points) sizes.insert(p.bytes);
  return sizes.size();
}

/// Sums of the normal equations for 1 = a u + s v with u = 1 / t and v = n / t: weights of 1 / t^2.
struct Sums {
  double u = 0, v = 0, uu = 0, uv = 0, vv = 0;

  explicit Sums(const Points& points) {
    for (const TransferPoint& p : points) {
      const double pu = 1 / p.seconds;
      const double pv = p.bytes / p.seconds;
      u += pu;
      v += pv;
      uu += pu * pu;
      uv += pu * pv;
      vv += pv * pv;
    }
  }
  [[nodiscard]] double determinant() const { return uu * vv - uv * uv; }
};

/// Seconds, and seconds per byte.
struct Line {
  double latency = 0;
  double slope = 0;

  [[nodiscard]] double relative_error(const TransferPoint& p) const {
    return (latency + slope * p.bytes) / p.seconds - 1;
  }
};

Line fit_line(const Sums& sums) {
  const Line line{(sums.u * sums.vv - sums.v * sums.uv) / sums.determinant(),
                  (sums.v * sums.uu - sums.u * sums.uv) / sums.determinant()};
  return line.latency >= 0 ? line : Line{0, sums.v / sums.vv};
}

/// Whether time grows with size by more than the scatter about the line explains.
bool grows(const Line& line, const Sums& sums, const Points& points) {
  double squares = 0;
  for (const TransferPoint& p : points) squares += line.relative_error(p) * line.relative_error(p);
  const double variance = squares / static_cast<double>(points.size() - 2);
  // A latency that was set to 0 has no error to share with the slope.
  const double slope_variance = line.latency > 0 ? variance * sums.uu / sums.determinant() : variance / sums.vv;
  return line.slope > 2 * std::sqrt(slope_variance);
}

double worst_residual(const Line& line, const Points& points) {
  double worst = 0;
  for (const TransferPoint& p : points) worst = std::max(worst, std::abs(line.relative_error(p)));
  return worst;
}

}  // namespace

std::optional<TransferFit> fit_transfer(std::span<const TransferPoint> points) {
  const Points kept = usable(points);
  if (distinct_sizes(kept) < 3) return std::nullopt;
  const Sums sums(kept);
  const Line line = fit_line(sums);
  if (!grows(line, sums, kept)) return std::nullopt;
  const auto [smallest, largest] = std::ranges::minmax(kept, {}, &TransferPoint::bytes);
  return TransferFit{.latency = line.latency,
                     .rate = 1 / line.slope,
                     .half_rate_size = line.latency / line.slope,
                     .worst_residual = worst_residual(line, kept),
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
  return {fit_transfer(points), fit_transfer(small), fit_transfer(large)};
}

namespace {

struct WaysAtSize {
  TransferPoint a, b;
  Relation relation = relate(a.estimate(), b.estimate());
  std::optional<Interval> ratio = ratio_interval(a.estimate(), b.estimate());

  [[nodiscard]] bool decided() const { return relation == Relation::faster || relation == Relation::slower; }
  [[nodiscard]] bool first_faster() const { return relation == Relation::faster; }
  [[nodiscard]] double factor() const { return std::max(a.seconds, b.seconds) / std::min(a.seconds, b.seconds); }
  [[nodiscard]] double log_ratio() const { return std::log(a.seconds / b.seconds); }
};

/// By size; of points of the same size the first counts.
std::vector<WaysAtSize> matched(std::span<const TransferPoint> a, std::span<const TransferPoint> b) {
  std::map<double, TransferPoint> by_size;
  for (const TransferPoint& p : usable(b)) by_size.emplace(p.bytes, p);
  std::map<double, WaysAtSize> pairs;
  for (const TransferPoint& p : usable(a)) {
    if (const auto other = by_size.find(p.bytes); other != by_size.end())
      pairs.emplace(p.bytes, WaysAtSize{p, other->second});
  }
  std::vector<WaysAtSize> sorted;
  sorted.reserve(pairs.size());
  for (const auto& [bytes, pair] : pairs) sorted.push_back(pair);
  return sorted;
}

/// Where on the way from one decided size to another a straight line passes 0. How far it is from 0 at either end.
double share_of_way(double below, double above) { return std::abs(below) / (std::abs(below) + std::abs(above)); }

/// Where the ratio of times passes 1 on a straight line in logarithms: costs are sums of powers of the size, whose
/// ratio bends least there.
Crossover crossover_between(const WaysAtSize& below, const WaysAtSize& above) {
  const double low = std::log(below.a.bytes);
  const double high = std::log(above.a.bytes);
  const auto size_at = [&](double share) { return std::exp(low + share * (high - low)); };
  // Of a decided size neither end of the ratio's interval is on the other side of 1.
  const auto nearest = [](const WaysAtSize& p) { return std::log(p.first_faster() ? p.ratio->high : p.ratio->low); };
  const auto furthest = [](const WaysAtSize& p) { return std::log(p.first_faster() ? p.ratio->low : p.ratio->high); };
  return {.bytes = size_at(share_of_way(below.log_ratio(), above.log_ratio())),
          .low = size_at(share_of_way(nearest(below), furthest(above))),
          .high = size_at(share_of_way(furthest(below), nearest(above))),
          .measured_below = below.a.bytes,
          .measured_above = above.a.bytes,
          .first_faster_above = above.first_faster()};
}

/// Counts a size that is not decided.
void add_undecided(const WaysAtSize& pair, Comparison& result) {
  if (pair.relation == Relation::equal) ++result.equal;
  if (!pair.ratio) {
    ++result.without_interval;
  } else {
    result.excluded = std::max({result.excluded, pair.ratio->high - 1, 1 / pair.ratio->low - 1});
  }
}

}  // namespace

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
  const Estimate saved = difference(slow_copy, fast_copy);  // above 0 as a whole, since the two do not overlap
  result.outcome = BreakEven::Outcome::pays;
  result.copies = copies(setup.value, saved.value);
  result.range = {copies(setup.interval->low, saved.interval->high), copies(setup.interval->high, saved.interval->low)};
  return result;
}

}  // namespace xferbench::model
