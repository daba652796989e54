// Cases as results files have them, which may be damaged, edited or of another version: whether scenarios could have
// them.
#pragma once

#include <string>

#include "results/result.hpp"
#include "run/scenario.hpp"

namespace xferbench::app {

/// The scenario that a case is of; null where this program has none of that name.
const Scenario* scenario_of(const Case& stored);

/// The case as its scenario declares it; params of no axis stay as they are. Throws UsageError, which says of which,
/// where one is of another kind or beyond its limits, or one is missing.
Case legal_case(const Scenario& scenario, const Case& stored);

/// Throws InputError, which names file and key, where a case of a scenario has a param that is not legal.
void require_legal_params(const Report& report, const std::string& file);

}  // namespace xferbench::app
