// Not a scenario: pipelines on several GPUs at once, beside what the GPUs' stages take at once and what one GPU takes.
#pragma once

#include "results/result.hpp"
#include "run/scenario.hpp"
#include "scenarios/overlap/case.hpp"

namespace xferbench {

/// As Scenario::run(), for a case with a split.
void measure_on_several(const OverlapCase& c, const RunContext& bench, Result& result);

/// What every one of its GPUs has to do at most, and the host's memory for all of them.
MemoryNeeds needs_of_several(const OverlapCase& c);

/// Why `tune` does not search a case that several GPUs share; nothing for one that one has.
std::optional<SkipReason> reason_against_search(const OverlapCase& c);

/// Why such a case cannot be, or cannot be on such a machine; nothing if it can.
std::optional<SkipReason> reason_against_several(const OverlapCase& c, const Capabilities* can);

}  // namespace xferbench
