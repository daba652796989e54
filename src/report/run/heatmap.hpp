// A metric over two axes as a map of coloured cells. Pure functions from records to text.
#pragma once

#include <span>
#include <string>

#include "core/scenario_descriptor.hpp"
#include "report/style.hpp"
#include "results/result.hpp"

namespace xferbench {

/// The scenario's heat maps of its results, which must be all of that scenario: of each declared one for each
/// combination of the other axes that vary, six at most. Empty if the scenario has none, or does not vary both axes.
/// The best cell has an asterisk; a case that was not measured, a dash.
std::string heat_maps(const ScenarioDescriptor& scenario, std::span<const Result* const> results, const Style& style);

}  // namespace xferbench
