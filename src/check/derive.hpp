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
  double assumed_spread = 0.02;  ///< relative standard deviation between runs, for when the runs say little of it
  MetricsDeclared metrics_declared{};  ///< by this program, for files that do not declare their metrics
};

struct Derived {
  Expectations expectations;
  std::vector<std::string> warnings;  ///< reasons to doubt the limits, and cases without a limit
  double least_margin = 0;            ///< smallest relative distance between a limit and the worst of the good runs
  double most_margin = 0;             ///< largest of these distances
};

/// An expectation for the headline of each case of these good runs, at least one. Throws UsageError if they do not
/// belong together (other GPUs, simulated and real ones), are no good runs, or have no case with a number.
Derived derive(std::span<const NamedReport> runs, const DeriveOptions& options);

/// The number of one case in several runs, as logarithms, with the sign that makes less better.
using LogsOfCase = std::vector<double>;

/// The limit of each case, as a logarithm. 95 of 100 further runs keep all limits, if they differ from the good runs as
/// these differ from each other. A limit is the farther of the prediction bound, whose error is shared out between the
/// cases, and a spread beyond the worst run. A case's spread is estimated from its own runs and from all cases, which
/// count as four runs; that of all cases from all runs and the assumed spread, which counts likewise. A single run
/// shows no spread: then the assumed one is taken as exact.
std::vector<double> log_limits(std::span<const LogsOfCase> cases, double assumed_spread);

}  // namespace xferbench::check
