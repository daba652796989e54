// Makes a profile for the simulated device from measured results.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/modelled_rank.hpp"
#include "device/open.hpp"
#include "scenarios/calibration/calibration.hpp"

namespace xferbench::app {

/// The built-in profile that supplies the numbers that results lack.
inline constexpr const char* kDefaultBaseProfile = "h200";

/// The profile numbers that these results give; the built-in profile `base` supplies the others. Throws as calibrate()
/// does, and InputError if no case was measured or a case is one that its scenario could not have.
Calibration calibration_of(std::span<const NamedReport> runs, const std::string& base, bool simulated_too);

/// Removes numbers that a profile cannot have, such as a negative cost. Returns a sentence for each removed number.
std::vector<std::string> drop_invalid_figures(Calibration& made);

/// The profile that --simulate names, if it has to be read at once: made from a results file, or read from an input
/// that can be read only once, such as a pipe. Else nullopt. Throws InputError if it cannot be read or if the results
/// are not enough for a profile.
std::optional<ProfileText> load_profile(const std::string& simulate);

/// The text of a profile file, or of the profile that is made from a results file.
ProfileText profile_text(const std::string& simulate);

/// As modelled_rank(). Results say nothing of ranks, so a results file gives a default one.
ModelledRank modelled_rank_of(const std::string& simulate);

}  // namespace xferbench::app
