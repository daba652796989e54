// The answer of a run: what stands above its tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

/// A sentence for each thing that the scenario tells apart, of its best case:
/// "h2d: 55.5 GB/s, 95 % of the limit (size 1 GiB; the best of 4 cases: host pinned)". Empty where nothing was
/// measured, or where the scenario has no answer. `results`: of that scenario.
std::vector<std::string> answers_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

}  // namespace xferbench
