// What copies of many sizes say together: what a copy costs however short it is, what each byte costs, and from which
// size on one way of copying is faster than another. Pure functions. Formulas: docs/lab/findings.md, "Transfer cost
// fit".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/relation.hpp"
#include "results/result.hpp"

namespace xferbench::model {

/// One copy: its size, its median time, that median's 95% interval if there is one, and how many in a row were timed
/// together, of which the time is the mean.
struct TransferPoint {
  double bytes = 0;
  double seconds = 0;
  std::optional<Interval> seconds_ci{};
  double in_a_row = 1;

  [[nodiscard]] Estimate estimate() const { return {seconds, seconds_ci}; }
};

/// t(n) = latency + n / rate + pass / copies in a row. A copy by itself takes latency + n / rate + pass, a further one
/// behind it latency + n / rate.
struct TransferFit {
  double latency = 0;         ///< seconds; never negative
  double pass = 0;            ///< seconds that a row of copies takes beside them; never negative, 0 where not to tell
  double rate = 0;            ///< bytes per second
  double half_rate_size = 0;  ///< latency x rate, in bytes: copies of this size in a row reach half the rate
  double worst_residual = 0;  ///< largest |t(n) - measured| / measured
  std::size_t points = 0;
  double smallest = 0;  ///< of the sizes fitted, in bytes
  double largest = 0;   ///< of the sizes fitted, in bytes

  /// Mean time of copies of so many bytes, so many in a row.
  [[nodiscard]] double seconds(double bytes, double in_a_row) const { return latency + bytes / rate + pass / in_a_row; }
};

/// Least squares of relative errors, so that copies of microseconds count like copies of milliseconds. A latency below
/// 0 is set to 0 and the rest fitted alone; so is a pass. `pass` is only fitted to four distinct sizes or more, of
/// which some were timed one by one and others at least four in a row. Nothing below three distinct sizes, or where
/// time does not grow with size by more than its noise (twice the slope's standard error). Points without a positive
/// size and time are left out.
std::optional<TransferFit> fit_transfer(std::span<const TransferPoint> points);

/// Up to this size in bytes, drivers take copies from pageable memory aside instead of waiting for them; they copy
/// differently above.
inline constexpr double kLargestSmallTransfer = 64.0 * 1024;

/// From this size in bytes on, copies of pinned memory follow one line within 0.2 % (H200); below, a copy costs up to
/// 0.5 us less: docs/h200/transfers.md.
inline constexpr double kLeastLongTransfer = 1024.0 * 1024;

/// One line for all sizes, and one for each side of kLargestSmallTransfer that can be fitted by itself, and for those
/// sizes for which a pipeline of chunks is made.
struct TransferFits {
  std::optional<TransferFit> all;
  std::optional<TransferFit> small;  ///< up to and including kLargestSmallTransfer
  std::optional<TransferFit> large;
  std::optional<TransferFit> longest;  ///< from kLeastLongTransfer on
};
TransferFits fit_ranges(std::span<const TransferPoint> points);

/// A size at which one way of copying becomes faster than the other.
struct Crossover {
  double bytes = 0;           ///< estimate: where the ratio of times is 1, interpolated between the two sizes below
  double low = 0;             ///< the same from the ends of the intervals of both ratios ...
  double high = 0;            ///< ... that move it down and up most
  double measured_below = 0;  ///< the last size, in bytes, at which the one that was faster is so beyond doubt
  double measured_above = 0;  ///< the first size, in bytes, at which the other one is
  bool first_faster_above = false;  ///< whether it is the first of the two that is faster from there on

  /// Whether the two sizes are near enough for an estimate between them to mean something.
  [[nodiscard]] bool is_estimated() const { return measured_above <= 4 * measured_below; }
};

/// Two ways of copying over the sizes that both have; relation.hpp says what is decided.
struct Comparison {
  std::size_t sizes = 0;               ///< how many both have
  std::size_t decided = 0;             ///< at how many of them one is faster beyond doubt
  std::size_t equal = 0;               ///< at how many both are equally fast
  std::size_t without_interval = 0;    ///< at how many one of them has too few samples for an interval
  double smallest = 0;                 ///< of the sizes that both have, in bytes
  double largest = 0;                  ///< of the sizes that both have, in bytes
  bool first_faster_at_start = false;  ///< whether the first is the faster one at the smallest decided size
  std::vector<Crossover> crossovers;   ///< by size; who was faster last stays it over sizes that are not decided
  Interval factors{1, 1};  ///< of the decided sizes: how many times as long the slower one takes, least and most
  double excluded = 0;     ///< of sizes with intervals that are not decided: a difference, as a share, that none allows
};
Comparison compare(std::span<const TransferPoint> a, std::span<const TransferPoint> b);

/// From how many copies on it is no dearer to pay for a setup once and make fast copies than to make slow ones.
struct BreakEven {
  enum class Outcome { pays, never, undecided };
  Outcome outcome = Outcome::undecided;
  bool equal = false;   ///< never, as the copies are equally fast; else because the fast ones are slower
  bool sampled = true;  ///< false where it is not decided because something has too few samples for an interval
  double copies = 0;    ///< where it pays, by the medians: whole, and at least 1
  Interval range{};     ///< of the copies, by the intervals of the setup and of both copies
};
/// Seconds. A setup that costs less than nothing costs nothing.
BreakEven break_even(const Estimate& setup, const Estimate& slow_copy, const Estimate& fast_copy);

}  // namespace xferbench::model
