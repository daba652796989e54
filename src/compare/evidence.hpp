// What the numbers of one case say of its change: which test can decide it, the ratio with its interval, and the least
// change that these very numbers could have shown. Pure functions; docs/lab/compare.md says why it is done like this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compare/compare.hpp"
#include "compare/statistics.hpp"

namespace xferbench::compare {

inline constexpr double kSignificant = 0.05;
/// How sure an assumed spread is, as degrees of freedom: with so few, suites whose processes lie half as far again
/// apart as assumed still fail without a cause in less than one comparison of twenty.
inline constexpr double kAssumedFreedom = 6;

/// What one process measured of a case.
struct ProcessNumber {
  double median = 0;
  Sample sample{};              ///< no samples of a derived metric
  std::optional<double> error;  ///< standard error of the median's logarithm, by its own samples
  double drift = 0;             ///< by how much the samples moved while it ran, as a logarithm, where that is no chance
};

/// Of samples in run order, at least one.
ProcessNumber process_number(std::span<const double> in_run_order);

/// How far apart processes are taken to lie before the numbers of a case are looked at.
struct SpreadBefore {
  double spread = 0;              ///< standard deviation of the logarithms of processes' medians
  double degrees_of_freedom = 0;  ///< how sure that is, as of so many more processes than one; 0: nothing is taken
  SpreadSource source = SpreadSource::assumed;
  bool of_medians = false;  ///< what the samples within each process add is in it
};

/// How cases are judged.
struct Weighing {
  std::size_t cases = 1;  ///< that are tested together
  double threshold = 0;
  SpreadBefore before{};
  bool bootstrap = false;
  std::uint64_t seed = 0;  ///< of the bootstrap
};

struct Evidence {
  TestUsed test = TestUsed::none;
  std::optional<double> ratio;  ///< new / base; absent where a number is not above 0
  std::optional<Interval> interval;
  std::optional<Interval> within;  ///< of one process a side: what their samples alone say
  std::optional<double> p;
  std::optional<double> spread;  ///< between processes, as the test takes it
  std::optional<double> seen;    ///< the same, as the processes alone show it
  SpreadSource spread_from = SpreadSource::assumed;
  /// The ratios next to 1 that would have been called, had the numbers differed by just so much.
  std::optional<Interval> least_found;
};

/// How many processes a side would find a slow-down of `sought` (a share), if they lie so far apart; nothing if even
/// thirty would not.
std::optional<std::size_t> processes_needed(double spread, double sought, const Weighing& how);

/// What the processes of a case show of their spread, no less than what their own samples let it be; nothing where no
/// side has two of them.
std::optional<SeenVariance> seen_variance(std::span<const ProcessNumber> base, std::span<const ProcessNumber> next);

/// Tests that can decide: Mann-Whitney where four processes stand on each side and so many cases leave it a chance;
/// else Welch's t on the logarithms of the processes' numbers, each side's variance estimated from what its processes
/// show and what was known or assumed before.
Evidence weigh(MannWhitney& ranks, std::span<const ProcessNumber> base, std::span<const ProcessNumber> next,
               const Weighing& how);

}  // namespace xferbench::compare
