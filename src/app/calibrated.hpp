// Results in the place of a profile: what they say of a machine, for the simulated device.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/open.hpp"
#include "scenarios/calibration.hpp"

namespace xferbench::app {

/// The built-in profile that has what results do not tell.
inline constexpr const char* kUsualBase = "h200";

/// What these results say of a machine, beside what the built-in profile `base` does. Throws as calibrate() does.
Calibration calibration_of(std::span<const NamedReport> runs, const std::string& base, bool simulated_too);

/// Takes out what a profile cannot have, as a cost below zero; a sentence about each number that is so left out.
std::vector<std::string> drop_impossible(Calibration& made);

/// What --simulate was given, where that is a results file: the profile that these results are enough for. Throws
/// InputError where they are not, or cannot be read.
std::optional<ProfileText> profile_of_results(const std::string& simulate);

}  // namespace xferbench::app
