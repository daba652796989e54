// Checks cases from results files against their scenarios. The files may be damaged, edited or from another version.
#pragma once

#include <string>

#include "results/result.hpp"
#include "run/scenario.hpp"

namespace xferbench::app {

/// Returns the scenario of a stored case; null if this program has no scenario of that name.
const Scenario* scenario_of(const Case& stored);

/// Returns the case with each parameter in the AxisKind that its scenario declares; parameters without an axis stay as
/// they are. Throws UsageError that names the parameter if one has the wrong type, is out of range or is missing.
Case legal_case(const Scenario& scenario, const Case& stored);

/// Throws InputError that names the file and the case if a case has an illegal parameter.
void require_legal_params(const Report& report, const std::string& file);

}  // namespace xferbench::app
