// Times in files: ISO 8601 in UTC. Pure functions.
#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace xferbench {

/// Parses a time such as "2026-11-24T11:26:15Z"; returns nothing if the text is no such time.
std::optional<std::time_t> parse_utc(const std::string& text);

/// Returns for example "2026-11-24T11:26:15", without the "Z".
std::string utc_text(std::time_t moment);

}  // namespace xferbench
