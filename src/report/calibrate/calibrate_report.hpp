// Writes calibrated profiles and validations as JSON. Pure functions of records.
#pragma once

#include "results/calibration.hpp"
#include "validate/validation.hpp"

namespace xferbench {

/// Returns the text of a profile file (docs/profile-schema.json) that changes values of the built-in profile `base`.
std::string to_profile_json(const Calibration& calibration, std::string_view name, std::string_view base);

std::string to_validation_json(const Validated& validated);
/// Returns the contents of docs/validation-schema.json.
std::string validation_schema();

}  // namespace xferbench
