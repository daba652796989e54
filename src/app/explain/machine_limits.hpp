// The limits of this machine (bandwidths and launch costs), which are measured once and then cached.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "results/recording_file.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// Returns whether cached results are still valid at the time `now` (ISO 8601). They must be complete, without a failed
/// case, measured by this version of the program, at most 30 days old, and of this GPU. The driver must be the same, if
/// both versions are known.
bool limits_hold(const Report& kept, const std::string& uuid, const std::string& driver, std::string_view now);

/// Returns the results of suite `limits` for the GPU that these processes used: from the file that the command names,
/// from the cache, or measured now. Measuring takes some seconds and is announced on standard error. Returns nullopt if
/// there are no results. A failed measurement adds a warning.
std::optional<Report> machine_limits(const cli::ExplainCommand& command, const std::vector<Recording>& recordings,
                                     std::vector<std::string>& warnings);

}  // namespace xferbench::app
