// Moments as files have them: ISO 8601 in UTC. Pure functions.
#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace xferbench {

/// "2026-11-24T11:26:15Z"; nothing for what is no such moment.
std::optional<std::time_t> parse_utc(const std::string& text);

/// "2026-11-24T11:26:15", without the letter for UTC.
std::string utc_text(std::time_t moment);

}  // namespace xferbench
