// From what was written of scenarios' axes to the cases of a run.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/scenario_descriptor.hpp"
#include "run/runner.hpp"

namespace xferbench::cli {

/// What was written of axes, by their names.
using AxisTexts = std::map<std::string, std::string>;

struct ScenarioFlags {
  const Scenario* scenario;
  AxisTexts texts;
};

/// What the command line knows of a scenario.
inline const ScenarioDescriptor& described(const Scenario& scenario) { return scenario.descriptor(); }
inline std::string name_of(const Scenario& scenario) { return described(scenario).name; }
bool has_axis(const Scenario& scenario, const std::string& name);

/// "memcpy has no --streams, which belongs to overlap; memcpy has --dir ...".
std::string lacks(const Scenario& scenario, const std::string& axis, std::span<const Scenario* const> all);

/// The products of all values, scenario after scenario. `tuning`: where a flag is not given, the values that the axis
/// is to be tuned over. Throws UsageError for values that are not legal, for flags that do nothing, and if no case can
/// run.
std::vector<PlannedCase> plan(std::span<const ScenarioFlags> scenarios, bool tuning = false);

}  // namespace xferbench::cli
