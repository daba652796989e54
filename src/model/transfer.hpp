// Fits a straight line to the times of copies of many sizes: the fixed cost of a copy and the cost per byte. Finds
// sizes at which one way of copying becomes faster. Pure functions. Formulas: docs/lab/findings.md, "Transfer cost
// fit".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "model/relation.hpp"
#include "results/result.hpp"

namespace xferbench::model {

/// Measured copies of one size: the median time per copy, its 95 % confidence interval if there is one, and the number
/// of back-to-back copies that were timed together.
struct TransferPoint {
  double bytes = 0;
  double seconds = 0;
  std::optional<Interval> seconds_ci{};
  double in_a_row = 1;

  [[nodiscard]] Estimate estimate() const { return {seconds, seconds_ci}; }
};

/// Fit of a time per copy, t(n) = latency + n / rate + pass / in_a_row, for n bytes. A single copy takes latency + n /
/// rate + pass; each further back-to-back copy takes latency + n / rate.
struct TransferFit {
  double latency = 0;         ///< seconds; never negative
  double pass = 0;            ///< fixed seconds per row of copies; never negative, 0 if it cannot be determined
  double rate = 0;            ///< bytes per second
  double half_rate_size = 0;  ///< latency x rate, in bytes: back-to-back copies of this size reach half the rate
  double worst_residual = 0;  ///< maximum of |t(n) - measured| / measured over the points
  std::size_t points = 0;
  double smallest = 0;  ///< smallest fitted size, in bytes
  double largest = 0;   ///< largest fitted size, in bytes

  /// Mean seconds per copy of `bytes` bytes, with `in_a_row` copies back to back.
  [[nodiscard]] double seconds(double bytes, double in_a_row) const { return latency + bytes / rate + pass / in_a_row; }
};

/// Fits by least squares of relative errors, so that short and long copies count alike. A negative latency or pass is
/// set to 0 and the other terms are fitted again. `pass` is fitted only with at least four distinct sizes, some timed
/// singly and others at least four in a row. Returns nothing below three distinct sizes, or if time does not grow with
/// size by more than twice the slope's standard error. Ignores points without positive size and time.
std::optional<TransferFit> fit_transfer(std::span<const TransferPoint> points);

/// In bytes. Drivers buffer pageable copies up to this size instead of waiting for them; larger ones use another path.
inline constexpr double kLargestSmallTransfer = 64.0 * 1024;

/// In bytes. The times of pinned copies from this size on are on one line within 0.2 % (H200). A smaller copy costs up
/// to 0.5 us less than this line: docs/h200/transfers.md.
inline constexpr double kLeastLongTransfer = 1024.0 * 1024;

/// Fits over all sizes, over the sizes up to and above kLargestSmallTransfer, and over the sizes from
/// kLeastLongTransfer.
struct TransferFits {
  std::optional<TransferFit> all;
  std::optional<TransferFit> small;  ///< up to and including kLargestSmallTransfer
  std::optional<TransferFit> large;
  std::optional<TransferFit> longest;  ///< sizes from kLeastLongTransfer on
};
TransferFits fit_ranges(std::span<const TransferPoint> points);

/// A size at which one way of copying becomes faster than the other.
struct Crossover {
  double bytes = 0;  ///< estimated size, between measured_below and measured_above, where the ratio of times is 1
  double low = 0;    ///< lowest estimate of `bytes` from the ends of the confidence intervals
  double high = 0;   ///< highest estimate of `bytes` from the ends of the confidence intervals
  double measured_below = 0;        ///< largest size, in bytes, at which the previous winner is certainly faster
  double measured_above = 0;        ///< smallest size, in bytes, at which the new winner is certainly faster
  bool first_faster_above = false;  ///< whether the first way is faster above the crossover, not the second

  /// Whether measured_below and measured_above are close enough for a meaningful estimate.
  [[nodiscard]] bool is_estimated() const { return measured_above <= 2 * measured_below; }
};

/// Comparison of two ways of copying over their common sizes. A size is decided if one way is certainly faster there.
struct Comparison {
  std::size_t sizes = 0;               ///< number of common sizes
  std::size_t decided = 0;             ///< number of sizes at which one way is certainly faster
  std::size_t equal = 0;               ///< number of sizes at which both ways are equally fast
  std::size_t without_interval = 0;    ///< number of sizes at which one way has too few samples for an interval
  double smallest = 0;                 ///< smallest common size, in bytes
  double largest = 0;                  ///< largest common size, in bytes
  bool first_faster_at_start = false;  ///< whether the first way is faster at the smallest decided size
  std::vector<Crossover> crossovers;   ///< ascending by size; each lies between two decided sizes
  Interval factors{1, 1};              ///< smallest and largest ratio slower time / faster time of the decided sizes
  double excluded = 0;  ///< largest relative difference of the times that the intervals at undecided sizes permit
};
Comparison compare(std::span<const TransferPoint> a, std::span<const TransferPoint> b);

/// Number of copies after which a one-time setup with fast copies has paid off against slow copies without setup.
struct BreakEven {
  enum class Outcome { pays, never, undecided };
  Outcome outcome = Outcome::undecided;
  bool equal = false;   ///< for outcome never: true if both copies are equally fast, false if fast_copy is slower
  bool sampled = true;  ///< false if the outcome is undecided because of too few samples for an interval
  double copies = 0;    ///< if the setup pays: number of copies according to the medians; an integer, at least 1
  Interval range{};     ///< range of `copies` from the intervals of the setup and both copies
};
/// Returns when the setup pays off. Arguments in seconds; a negative setup cost counts as 0.
BreakEven break_even(const Estimate& setup, const Estimate& slow_copy, const Estimate& fast_copy);

}  // namespace xferbench::model
