// Wildcard patterns, as shells use them for file names. A pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace xferbench {

/// Returns whether the pattern matches the whole text; * stands for any characters, ? for one character. The time is at
/// most proportional to the product of both lengths.
bool matches(std::string_view pattern, std::string_view text);
/// Returns the same as the overload above, and adds the number of comparison steps (at least 1) to `steps`.
bool matches(std::string_view pattern, std::string_view text, std::uint64_t& steps);

}  // namespace xferbench
