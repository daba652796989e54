// Decides which of two measured times is shorter, or that this is undecided. All comparisons of results use this file.
// Pure functions. Explained in docs/lab/findings.md, "Decided or not".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace xferbench::model {

/// Times that differ by less than this fraction of the shorter one count as alike even if their intervals do not
/// overlap, because they were measured at different moments and intervals do not cover changes in between.
inline constexpr double kAlike = 0.01;

/// A median and, if known, its 95 % confidence interval.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval{};
};
Estimate estimate_of(const Measurement& measurement);
/// Returns median and interval of the result's measurement with that name. Without samples, returns 0 and no interval.
Estimate estimate_of(const Result& result, std::string_view measurement);

/// Returns the 95 % confidence interval of a / b for independent medians: half-widths of the logarithms add in
/// quadrature. Returns nothing unless both estimates have a positive interval.
std::optional<Interval> ratio_interval(const Estimate& a, const Estimate& b);
/// Returns a - b, which may be negative, with the 95 % confidence interval for independent medians; without an interval
/// unless `a` and `b` have one.
Estimate difference(const Estimate& a, const Estimate& b);

/// How one measured time compares with another.
enum class Relation {
  faster,     ///< certainly faster: the intervals do not overlap, and the medians are not alike
  slower,     ///< certainly slower: the other time is certainly faster
  equal,      ///< the ratio's whole interval lies within kAlike of 1
  undecided,  ///< none of these, or an interval is missing
};
Relation relate(const Estimate& a, const Estimate& b);

/// The times that may be the fastest of several times.
struct Leaders {
  std::vector<std::size_t> places;  ///< index of the shortest time, then indices of all times not certainly slower
  bool equal = false;               ///< whether all times in `places` have Relation::equal to the shortest
  bool sampled = true;              ///< false if a time in `places` has too few samples for an interval

  [[nodiscard]] bool decided() const { return places.size() == 1; }
};
Leaders leaders_of(std::span<const Estimate> times);

}  // namespace xferbench::model
