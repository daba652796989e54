// Decides which of two measured times is shorter, or that this is unknown. All comparisons of results use this file.
// Pure functions. docs/lab/findings.md, "Decided or not".
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

/// A median and its 95 % confidence interval, if there is one.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval{};
};
Estimate estimate_of(const Measurement& measurement);
/// The median and interval of the measurement with that name; 0 without an interval if the result lacks it.
Estimate estimate_of(const Result& result, std::string_view measurement);

/// 95 % confidence interval of a / b for independent medians: half-widths add in quadrature, in logarithms. Nothing
/// unless both have a positive interval.
std::optional<Interval> ratio_interval(const Estimate& a, const Estimate& b);
/// 95 % confidence interval of a - b, which may be negative, for independent medians. Nothing unless both have one.
std::optional<Interval> difference_interval(const Estimate& a, const Estimate& b);
Estimate difference(const Estimate& a, const Estimate& b);

/// How one time compares with another.
enum class Relation {
  faster,     ///< certainly: the intervals do not overlap, and the medians are not alike
  slower,     ///< certainly: the reverse
  equal,      ///< the ratio's whole interval lies within kAlike of 1
  undecided,  ///< none of these, or an interval is missing
};
Relation relate(const Estimate& a, const Estimate& b);

/// The fastest of several times.
struct Leaders {
  std::vector<std::size_t> places;  ///< indices of the shortest time, then of all times that are not certainly slower
  bool equal = false;               ///< all times in `places` are equal to the shortest, not merely undecided
  bool sampled = true;              ///< false if a time in `places` has too few samples for an interval

  [[nodiscard]] bool decided() const { return places.size() == 1; }
};
Leaders leaders_of(std::span<const Estimate> times);

}  // namespace xferbench::model
