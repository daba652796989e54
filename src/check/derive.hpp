// Derives limits from good runs. Pure functions of records; docs/lab/check.md explains the margins.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "check/expectations.hpp"
#include "results/result.hpp"

namespace xferbench::check {

struct DeriveOptions {
  bool allow_simulated = false;  ///< limits may come from simulated runs
  bool allow_doubtful = false;   ///< limits may come from runs that were cut off, had failures or were not verified
  double assumed_spread = 0.02;  ///< relative standard deviation between runs, combined as log_limits() says
  MetricsDeclared metrics_declared{};  ///< metrics of this program, for files that declare none
};

struct Derived {
  Expectations expectations;
  std::vector<std::string> warnings;  ///< reasons to doubt the limits, and cases without a limit
  double least_margin = 0;            ///< smallest relative distance between a limit and the worst of the good runs
  double most_margin = 0;             ///< largest relative distance between a limit and the worst of the good runs
};

/// An expectation for the headline of each case of these good runs, at least one. Throws UsageError if they do not
/// belong together (other GPUs, simulated and real ones), are no good runs, or have no case with a number.
Derived derive(std::span<const NamedReport> runs, const DeriveOptions& options);

/// The logarithms of one case's number in several runs, negated if higher is better, so that smaller is always better.
using LogsOfCase = std::vector<double>;

/// The limit of each case, as a logarithm. 95 of 100 further runs meet all limits, if they vary as the good runs do. A
/// limit is the farther of two bounds: the prediction bound for one more run, whose error probability is divided by the
/// number of cases, and the worst run plus one spread. A case's spread comes from its own runs and from the common
/// spread, which counts as four runs. The common spread comes from all runs of all cases and from the assumed spread,
/// which also counts as four runs. With a single run, the assumed spread is taken as exact.
std::vector<double> log_limits(std::span<const LogsOfCase> cases, double assumed_spread);

}  // namespace xferbench::check
