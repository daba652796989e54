// Results in the place of a profile: what they say of a machine, for the simulated device.
#pragma once

#include <optional>
#include <string>

#include "device/open.hpp"
#include "scenarios/calibration.hpp"

namespace xferbench::app {

/// The built-in profile that has what results do not tell.
inline constexpr const char* kUsualBase = "h200";

/// What a built-in profile has.
BaseNumber numbers_of(std::string base);

/// What --simulate was given, where that is a results file: the profile that these results are enough for. Throws
/// InputError where they are not, or cannot be read.
std::optional<ProfileText> profile_of_results(const std::string& simulate);

}  // namespace xferbench::app
