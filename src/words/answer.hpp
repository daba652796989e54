// The answer of a run: sentences that a report shows above its tables.
#pragma once

#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

/// Whether the finding's sentence is the scenario's first answer, above those of answers_of() and not in its section.
bool leads_answer(const ScenarioDescriptor& scenario, const Finding& finding);

/// Returns a sentence about the best case of each group of cases that the scenario distinguishes: "h2d: 55.5 GB/s, 95 %
/// of the limit (size 1 GiB; the best of 4 cases: host pinned)". Returns nothing if nothing was measured, or if the
/// scenario has no answer. All `results` must be of that scenario.
std::vector<std::string> answers_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results);

}  // namespace xferbench
