// Results in the place of a profile: what they say of a machine, for the simulated device.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/modelled_rank.hpp"
#include "device/open.hpp"
#include "scenarios/calibration/calibration.hpp"

namespace xferbench::app {

/// The built-in profile that has what results do not tell.
inline constexpr const char* kUsualBase = "h200";

/// What these results say of a machine, beside what the built-in profile `base` does. Throws as calibrate() does, and
/// InputError where none of them was measured, or a case of theirs is none that its scenario could have.
Calibration calibration_of(std::span<const NamedReport> runs, const std::string& base, bool simulated_too);

/// Takes out what a profile cannot have, as a cost below zero; a sentence about each number that is so left out.
std::vector<std::string> drop_impossible(Calibration& made);

/// What --simulate was given, where that has to be read here and now: a results file, as the profile that these results
/// are enough for, and what can be read only once, as a pipe. Throws InputError where they are not, or cannot be read.
std::optional<ProfileText> profile_read_here(const std::string& simulate);

/// The same of any profile that is a file.
ProfileText profile_text(const std::string& simulate);

/// As modelled_rank(); results say nothing of ranks.
ModelledRank rank_modelled_by(const std::string& simulate);

}  // namespace xferbench::app
