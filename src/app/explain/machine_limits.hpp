// What this machine can do: measured once, and kept.
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

/// Whether kept results still hold: of the same GPU and driver, as far as both are known, complete, without a failed
/// case, measured by this version, and not older than 30 days. Times are ISO 8601.
bool limits_hold(const Report& kept, const std::string& uuid, const std::string& driver, std::string_view now);

/// The results of suite `limits` for the GPU that these processes used: from the file that was named, from the cache,
/// or measured now, which takes some seconds and is said on standard error. Nothing, and a warning, where there is
/// none.
std::optional<Report> machine_limits(const cli::ExplainCommand& command, const std::vector<Recording>& recordings,
                                     std::vector<std::string>& warnings);

}  // namespace xferbench::app
