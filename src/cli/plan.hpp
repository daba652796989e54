// Makes the cases of a run from the values of the axis flags.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/scenario_descriptor.hpp"
#include "run/runner.hpp"

namespace xferbench::cli {

/// Values of axis flags as text, by name of the axis.
using AxisTexts = std::map<std::string, std::string>;

struct ScenarioFlags {
  const Scenario* scenario;
  AxisTexts texts;
};

inline const ScenarioDescriptor& descriptor_of(const Scenario& scenario) { return scenario.descriptor(); }
inline std::string name_of(const Scenario& scenario) { return descriptor_of(scenario).name; }
bool has_axis(const Scenario& scenario, const std::string& name);

/// Returns the message for a flag that the scenario lacks: "memcpy has no --streams, which belongs to overlap; memcpy
/// has --dir ...".
std::string lacks(const Scenario& scenario, const std::string& axis, std::span<const Scenario* const> all);

/// Returns the product of all axis values, scenario after scenario. With `tuning`, an axis without a flag takes the
/// values that `tune` tries. Throws UsageError for illegal values, for flags without effect, and if no case can run.
std::vector<PlannedCase> plan(std::span<const ScenarioFlags> scenarios, bool tuning = false);

}  // namespace xferbench::cli
