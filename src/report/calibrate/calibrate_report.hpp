// What calibrating and validating tell: a profile file, and how right a profile is. Pure functions of records.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/style.hpp"
#include "results/calibration.hpp"
#include "validate/validation.hpp"

namespace xferbench {

/// A profile file (docs/profile-schema.json) that changes the built-in profile `base`.
std::string to_profile_json(const Calibration& calibration, std::string_view name, std::string_view base);

/// What was validated.
struct Validated {
  std::string profile;                              ///< as tables call it
  std::vector<std::string> files;                   ///< that it was held against
  std::vector<validation::Prediction> predictions;  ///< of their cases
  std::vector<std::string> left_out;                ///< what was not predicted, and why
};

std::string to_validation_table(const Validated& validated, const Style& style);
std::string to_validation_markdown(const Validated& validated);
std::string to_validation_json(const Validated& validated);

}  // namespace xferbench
