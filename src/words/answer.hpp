// The answer of a run: sentences above its tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

/// A sentence about the best case of each group that the scenario tells apart: "h2d: 55.5 GB/s, 95 % of the limit (size
/// 1 GiB; the best of 4 cases: host pinned)". Empty if nothing was measured, or if the scenario has no answer. All
/// `results` must be of that scenario.
std::vector<std::string> answers_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

}  // namespace xferbench
