// Not a scenario: a profile for the simulated device from results of a real one. Stands among the scenarios because it
// knows what their metrics mean. Pure functions of records; docs/calibrate.md says how each figure follows.
#pragma once

#include <span>
#include <string>

#include "results/calibration.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Results, and what messages call their file.
struct NamedReport {
  std::string name;
  Report report;
};

/// What a built-in profile says beside what was measured; seconds.
struct KnownOfProfile {
  double event_cost = 0;       ///< of an event that takes the time, which ends a timed region
  double kernel_overhead = 0;  ///< of a kernel, where it is not measured
};

/// From at least one run. Throws UsageError where they are of different GPUs, or were simulated but not
/// `simulated_too`.
Calibration calibrate(std::span<const NamedReport> runs, const KnownOfProfile& known, bool simulated_too = false);

}  // namespace xferbench
