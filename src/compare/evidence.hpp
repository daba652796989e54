// Statistical evidence for a change in one case: chooses the test, and computes the ratio with its interval and the
// smallest change that these numbers could have shown. Pure functions; docs/lab/compare.md gives the reasons.
#pragma once

#include <cstdint>

#include "compare/compare.hpp"
#include "compare/statistics.hpp"

namespace xferbench::compare {

inline constexpr double kSignificant = 0.05;
/// Degrees of freedom of an assumed spread. They are few, so that a suite whose real spread is 1.5 times the assumed
/// one fails without a cause in fewer than one of twenty comparisons.
inline constexpr double kAssumedFreedom = 6;

/// The number that one process measured for a case, with its samples.
struct ProcessNumber {
  double median = 0;
  Sample sample{};              ///< empty for a derived metric
  std::optional<double> error;  ///< standard error of the logarithm of the median, estimated from the samples
  /// change of the samples during the run, as a difference of logarithms; 0 if it is not significant
  double drift = 0;
};

/// Makes a ProcessNumber from at least one sample; the samples must be in the order in which they were measured.
ProcessNumber process_number(std::span<const double> in_run_order);

/// The spread between processes that is expected before the numbers of a case are known.
struct PriorSpread {
  double spread = 0;  ///< standard deviation of the logarithms of processes' medians
  /// if N, the spread is as certain as one estimated from N + 1 processes; 0: no spread is assumed
  double degrees_of_freedom = 0;
  SpreadSource source = SpreadSource::assumed;
  bool of_medians = false;  ///< true if the spread already includes the noise of the samples of each process
};

struct TestSettings {
  std::size_t cases = 1;  ///< number of cases that are tested together
  double threshold = 0;
  PriorSpread before{};
  bool bootstrap = false;
  std::uint64_t seed = 0;
};

struct ChangeEvidence {
  TestUsed test = TestUsed::none;
  std::optional<double> ratio;  ///< new / base; absent if one of the numbers is not above 0
  std::optional<Interval> interval;
  /// with one process per side: interval of the ratio that includes only the noise of the samples
  std::optional<Interval> within;
  std::optional<double> p;
  std::optional<double> spread;  ///< relative spread between processes that the test assumed or estimated
  std::optional<double> seen;    ///< relative spread between the processes of this case alone
  SpreadSource spread_from = SpreadSource::assumed;
  /// The smallest changes that would have been detected with this data, as ratios below and above 1.
  std::optional<Interval> detectable_ratios;
};

/// Returns how many processes per side are needed to detect a slow-down of `sought` (a fraction) if processes differ by
/// `spread`; nullopt if more than thirty.
std::optional<std::size_t> processes_needed(double spread, double sought, const TestSettings& how);

/// Returns the variance between the processes of a case; at least the variance that the samples within the processes
/// suggest. nullopt if no side has two processes.
std::optional<ObservedVariance> observed_variance(std::span<const ProcessNumber> base,
                                                  std::span<const ProcessNumber> new_side);

/// Tests whether the sides differ. Uses the Mann-Whitney test if each side has at least four processes, and enough to
/// reach significance among `how.cases` cases. Otherwise uses Welch's t-test on the logarithms of the processes'
/// numbers. The variance of each side is then estimated from its processes and the expected spread (`how.before`).
ChangeEvidence test_change(MannWhitney& ranks, std::span<const ProcessNumber> base,
                           std::span<const ProcessNumber> new_side, const TestSettings& how);

}  // namespace xferbench::compare
