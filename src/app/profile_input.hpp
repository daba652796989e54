// Makes a profile for the simulated GPU from measured results.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/modelled_rank.hpp"
#include "device/open.hpp"
#include "scenarios/calibration/calibration.hpp"

namespace xferbench::app {

/// The built-in profile from which numbers are taken that the results do not contain.
inline constexpr const char* kDefaultBaseProfile = "h200";

/// Computes the numbers of a profile from these results. The built-in profile `base` supplies numbers that the results
/// lack. Throws the same exceptions as calibrate(), and InputError if no case was measured or a case has parameters
/// that its scenario does not allow.
Calibration calibration_of(std::span<const NamedReport> runs, const std::string& base, bool simulated_too);

/// Removes numbers that a profile cannot have, such as a negative cost. Returns one sentence for each removed number.
std::vector<std::string> drop_invalid_figures(Calibration& made);

/// Reads the profile that --simulate names if it must be read at once: it is made from a results file, or the input
/// (such as a pipe) can be read only once. Otherwise returns nullopt. Throws InputError if the file cannot be read or
/// if the results are not enough for a profile.
std::optional<ProfileText> load_profile(const std::string& simulate);

/// Returns the text of a profile file, or of the profile that is made from a results file.
ProfileText profile_text(const std::string& simulate);

/// Returns the host name, clock and network that the profile gives to a simulated rank. Returns defaults for a results
/// file, which contains none of them.
ModelledRank modelled_rank_of(const std::string& simulate);

}  // namespace xferbench::app
