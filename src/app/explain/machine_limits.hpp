// Limits of this machine: measured once and cached.
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

/// Whether cached results are still valid: complete, without a failed case, of the same GPU and driver as far as both
/// are known, measured by this version, and not older than 30 days. Times are ISO 8601.
bool limits_hold(const Report& kept, const std::string& uuid, const std::string& driver, std::string_view now);

/// The results of suite `limits` for the GPU that these processes used: from the file that the command names, from the
/// cache, or measured now. Measuring takes some seconds and is announced on standard error. nullopt if there are none;
/// a failed measurement adds a warning.
std::optional<Report> machine_limits(const cli::ExplainCommand& command, const std::vector<Recording>& recordings,
                                     std::vector<std::string>& warnings);

}  // namespace xferbench::app
