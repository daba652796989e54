// Checks cases from results files, which may be damaged, edited or of another version, against their scenarios.
#pragma once

#include <string>

#include "results/result.hpp"
#include "run/scenario.hpp"

namespace xferbench::app {

/// The scenario of a stored case; null if this program has none of that name.
const Scenario* scenario_of(const Case& stored);

/// The case with the kinds that its scenario declares; params without an axis stay as they are. Throws UsageError that
/// names the param if one is of another kind, out of range or missing.
Case legal_case(const Scenario& scenario, const Case& stored);

/// Throws InputError that names file and case if a case has an illegal param.
void require_legal_params(const Report& report, const std::string& file);

}  // namespace xferbench::app
