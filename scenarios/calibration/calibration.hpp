// Derives a profile for the simulated device from results of a real GPU. Belongs to the scenarios because it reads
// their metrics. Pure functions of reports; docs/lab/calibrate.md derives each figure.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "results/calibration.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Function that returns a field's value in the base profile, in that field's unit.
using BaseNumber = std::function<double(std::string_view field)>;

/// Returns the profile derived from `runs`, of which there must be at least one. `base` supplies values that the runs
/// do not contain but other figures depend on. Throws UsageError if the runs are of different GPUs, or if a run was
/// simulated and `simulated_too` is false.
Calibration calibrate(std::span<const NamedReport> runs, const BaseNumber& base, bool simulated_too = false);

}  // namespace xferbench
