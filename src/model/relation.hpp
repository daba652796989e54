// Which of two measured times is the shorter one, or whether that is known at all. Whatever is said of results together
// goes through here. Pure functions. docs/lab/findings.md, "Decided or not".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "results/result.hpp"

namespace xferbench::model {

/// Two times closer than this, as a share of the shorter one, are alike even where their intervals do not overlap: they
/// were not measured at the same moment, and intervals know nothing of what changed in between.
inline constexpr double kAlike = 0.01;

/// A median, and its 95 % interval if there is one.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval{};
};
Estimate estimate_of(const Measurement& measurement);
/// Of the measurement of that name; 0 without an interval where there is none.
Estimate estimate_of(const Result& result, std::string_view measurement);

/// The 95 % interval of a / b from those of two independent medians: each end is as far from the ratio, in logarithms,
/// as the two medians' own ends are together, added as squares. Nothing where one has no interval, or one that is not
/// positive.
std::optional<Interval> ratio_interval(const Estimate& a, const Estimate& b);
/// The same of a - b, which may be negative.
std::optional<Interval> difference_interval(const Estimate& a, const Estimate& b);
/// a - b with that interval.
Estimate difference(const Estimate& a, const Estimate& b);

/// What is known of a time, set against another.
enum class Relation {
  faster,     ///< beyond doubt: the intervals do not overlap, and the medians are not alike
  slower,     ///< the same the other way round
  equal,      ///< the whole interval of the ratio lies within kAlike of 1
  undecided,  ///< none of these; always where one has no interval
};
Relation relate(const Estimate& a, const Estimate& b);

/// Who is ahead of several, the shortest time first.
struct Front {
  std::vector<std::size_t> places;  ///< of the shortest time, then of those that are not slower than it beyond doubt
  bool equal = false;               ///< whether all of these are as fast as the first, and not only undecided
  bool sampled = true;              ///< false where one of these has too few samples for an interval

  [[nodiscard]] bool decided() const { return places.size() == 1; }
};
Front front_of(std::span<const Estimate> times);

}  // namespace xferbench::model
