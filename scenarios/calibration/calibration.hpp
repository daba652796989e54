// Not a scenario: a profile for the simulated device from results of a real one. Stands among the scenarios because it
// knows what their metrics mean. Pure functions of records; docs/lab/calibrate.md says how each figure follows.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "results/calibration.hpp"
#include "results/result.hpp"

namespace xferbench {

/// What the base profile has for a field, in that field's unit.
using BaseNumber = std::function<double(std::string_view field)>;

/// From at least one run; `base` is asked for what the runs do not tell and other figures rest on. Throws UsageError
/// where they are of different GPUs, or were simulated but not `simulated_too`.
Calibration calibrate(std::span<const NamedReport> runs, const BaseNumber& base, bool simulated_too = false);

}  // namespace xferbench
