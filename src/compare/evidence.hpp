// Judges the change of one case: which test can decide it, the ratio with its interval, and the smallest change that
// these numbers could have shown. Pure functions; docs/lab/compare.md says why it is done like this.
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
/// Degrees of freedom of an assumed spread. With so few, a suite whose real spread is 1.5 times the assumed one still
/// fails without a cause in less than one comparison of twenty.
inline constexpr double kAssumedFreedom = 6;

/// What one process measured of a case.
struct ProcessNumber {
  double median = 0;
  Sample sample{};              ///< empty for a derived metric
  std::optional<double> error;  ///< standard error of the median's logarithm, from its own samples
  double drift = 0;  ///< change of the samples during the run, as a logarithm, if it is more than chance; else 0
};

/// `in_run_order`: samples in the order in which they were measured, at least one.
ProcessNumber process_number(std::span<const double> in_run_order);

/// The spread between processes that is expected before the numbers of a case are looked at.
struct PriorSpread {
  double spread = 0;              ///< standard deviation of the logarithms of processes' medians
  double degrees_of_freedom = 0;  ///< as if estimated from one process more than this; 0: no spread is assumed
  SpreadSource source = SpreadSource::assumed;
  bool of_medians = false;  ///< the spread already includes the noise of the samples in each process
};

struct TestSettings {
  std::size_t cases = 1;  ///< number of cases that are tested together
  double threshold = 0;
  PriorSpread before{};
  bool bootstrap = false;
  std::uint64_t seed = 0;  ///< seed of the bootstrap
};

struct ChangeEvidence {
  TestUsed test = TestUsed::none;
  std::optional<double> ratio;  ///< new / base; absent if a number is not above 0
  std::optional<Interval> interval;
  std::optional<Interval> within;  ///< with one process a side: the interval for these two processes alone
  std::optional<double> p;
  std::optional<double> spread;  ///< relative spread between processes that the test used
  std::optional<double> seen;    ///< relative spread that these processes alone show
  SpreadSource spread_from = SpreadSource::assumed;
  /// The smallest changes that would have been detected, as ratios below and above 1.
  std::optional<Interval> detectable_ratios;
};

/// The number of processes a side that would detect a slow-down of `sought` (a share) at this spread; nullopt if even
/// thirty would not.
std::optional<std::size_t> processes_needed(double spread, double sought, const TestSettings& how);

/// The variance between the processes of a case, at least what their own samples imply; nullopt if no side has two
/// processes.
std::optional<ObservedVariance> observed_variance(std::span<const ProcessNumber> base,
                                                  std::span<const ProcessNumber> new_side);

/// Chooses a test that can decide. With at least four processes on each side it is Mann-Whitney, if significance is
/// possible among so many cases. Else it is Welch's t on the logarithms of the processes' numbers; each side's variance
/// is estimated from its processes and from the expected spread (`how.before`).
ChangeEvidence test_change(MannWhitney& ranks, std::span<const ProcessNumber> base,
                           std::span<const ProcessNumber> new_side, const TestSettings& how);

}  // namespace xferbench::compare
