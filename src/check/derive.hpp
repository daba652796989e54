// Derives limits from runs that are known to be good. Pure functions; docs/lab/check.md explains the margins.
#pragma once

#include "check/expectations.hpp"
#include "results/result.hpp"

namespace xferbench::check {

struct DeriveOptions {
  bool allow_simulated = false;
  bool allow_doubtful = false;  ///< allow runs that were cut off, had failures or were not verified
  /// assumed relative standard deviation between runs; log_limits() combines it with the measured one
  double assumed_spread = 0.02;
  MetricsDeclared metrics_declared{};  ///< metrics of this program, used for files that declare none
};

struct Derived {
  Expectations expectations;
  std::vector<std::string> warnings;  ///< reasons to doubt the limits, and cases without a limit
  double least_margin = 0;            ///< smallest relative distance between a limit and the worst of the good runs
  double most_margin = 0;             ///< largest relative distance between a limit and the worst of the good runs
};

/// Makes an expectation for the headline (main measurement) of each case of these runs; there must be at least one run.
/// Throws UsageError if the runs do not belong together (different GPUs, simulated and real), are unsuitable, or have
/// no case with a number.
Derived derive(std::span<const NamedReport> runs, const DeriveOptions& options);

/// The logarithms of one case's number in several runs, negated if higher is better, so that smaller is always better.
using LogsOfCase = std::vector<double>;

/// Returns the limit of each case as a logarithm. If further runs vary as the given ones do, 95 of 100 meet all limits.
/// Each limit is the higher of two bounds: the prediction bound for one more run, with the error probability divided by
/// the number of cases, and the worst run plus one standard deviation. The standard deviation of a case is estimated
/// from its own runs and from the common spread, which counts as four runs. The common spread is estimated from all
/// runs of all cases and from the assumed spread, which also counts as four runs. With a single run, the assumed spread
/// is taken as exact.
std::vector<double> log_limits(std::span<const LogsOfCase> cases, double assumed_spread);

}  // namespace xferbench::check
