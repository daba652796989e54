// Wildcard patterns for texts, as shells have them for file names. A pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace xferbench {

/// Whether a pattern matches the whole text: * stands for any characters, ? for one. The time is proportional to the
/// product of the lengths, whatever the pattern.
bool matches(std::string_view pattern, std::string_view text);
/// As above; also adds the number of steps it took, at least one, to `steps`.
bool matches(std::string_view pattern, std::string_view text, std::uint64_t& steps);

}  // namespace xferbench
