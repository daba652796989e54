#include "model/relation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace xferbench::model {

namespace {

bool is_positive(const Estimate& e) {
  return e.value > 0 && e.interval && e.interval->low > 0 && std::isfinite(e.value) && std::isfinite(e.interval->high);
}

/// Whether the estimate has an interval and all numbers are finite. Numbers from a file may be infinite or NaN.
bool is_known(const Estimate& e) {
  return e.interval && std::isfinite(e.value) && std::isfinite(e.interval->low) && std::isfinite(e.interval->high);
}

Estimate logarithm(const Estimate& e) {
  return {std::log(e.value), Interval{std::log(e.interval->low), std::log(e.interval->high)}};
}

std::optional<Interval> difference_interval(const Estimate& a, const Estimate& b) {
  if (!is_known(a) || !is_known(b)) return std::nullopt;
  const double between = a.value - b.value;
  return Interval{between - std::hypot(a.value - a.interval->low, b.interval->high - b.value),
                  between + std::hypot(a.interval->high - a.value, b.value - b.interval->low)};
}

}  // namespace

Estimate estimate_of(const Measurement& measurement) { return {measurement.median, measurement.ci95}; }

Estimate estimate_of(const Result& result, std::string_view measurement) {
  const Measurement* found = result.measurement(measurement);
  return found == nullptr || found->samples.empty() ? Estimate{} : estimate_of(*found);
}

Estimate difference(const Estimate& a, const Estimate& b) { return {a.value - b.value, difference_interval(a, b)}; }

std::optional<Interval> ratio_interval(const Estimate& a, const Estimate& b) {
  if (!is_positive(a) || !is_positive(b)) return std::nullopt;
  const auto logarithms = difference_interval(logarithm(a), logarithm(b));
  return Interval{std::exp(logarithms->low), std::exp(logarithms->high)};
}

Relation relate(const Estimate& a, const Estimate& b) {
  const auto ratio = ratio_interval(a, b);
  if (!ratio) return Relation::undecided;
  if (ratio->low >= 1 / (1 + kAlike) && ratio->high <= 1 + kAlike) return Relation::equal;
  if (std::abs(a.value - b.value) <= kAlike * std::min(a.value, b.value)) return Relation::undecided;
  if (a.interval->high < b.interval->low) return Relation::faster;
  return b.interval->high < a.interval->low ? Relation::slower : Relation::undecided;
}

Leaders leaders_of(std::span<const Estimate> times) {
  Leaders front;
  if (times.empty()) return front;
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times[i].value; });
  const Estimate& first = times[order.front()];
  for (const std::size_t i : order) {
    if (i == order.front() || relate(first, times[i]) != Relation::faster) front.places.push_back(i);
  }
  const auto is_equal = [&](std::size_t i) { return relate(first, times[i]) == Relation::equal; };
  front.equal = !front.decided() && std::all_of(front.places.begin() + 1, front.places.end(), is_equal);
  front.sampled = std::ranges::all_of(front.places, [&](std::size_t i) { return times[i].interval.has_value(); });
  return front;
}

}  // namespace xferbench::model
