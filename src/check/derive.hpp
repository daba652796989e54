// Limits from runs that were good. Pure functions of records; docs/lab/check.md says what the margins mean.
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
  bool allow_doubtful = false;   ///< of runs that were cut off, failed in cases, or were not verified
  double assumed_spread = 0.02;  ///< between runs, where the runs say little of it: a standard deviation, relative
  MetricsDeclared metrics_declared{};  ///< by this program, for files that do not say it themselves
};

struct Derived {
  Expectations expectations;
  std::vector<std::string> warnings;  ///< what makes them doubtful, and cases that have no limit
  double least_margin = 0;            ///< between a limit and the worst of the good runs, relative
  double most_margin = 0;
};

/// An expectation for the headline of each case of these good runs, at least one. Throws UsageError where they do not
/// belong together (other GPUs, simulated and real ones), are no good runs, or have no case with a number.
Derived derive(std::span<const NamedReport> runs, const DeriveOptions& options);

/// The same case in several runs, where less is better, on the scale of logarithms.
using LogsOfCase = std::vector<double>;

/// The limit of each case: all together are kept by 95 of 100 further runs, if these differ from the good ones as those
/// differ from each other. The farther of the prediction bound, shared out between the cases, and a spread beyond the
/// worst run. What a case says of its own spread counts beside what all cases say (as four runs), and that beside what
/// is assumed (the same); a single run says nothing of it, and what is assumed is taken as known.
std::vector<double> log_limits(std::span<const LogsOfCase> cases, double assumed_spread);

}  // namespace xferbench::check
