// Patterns for texts, as shells have them for files. A pure function.
#pragma once

#include <cstdint>
#include <string_view>

namespace xferbench {

/// Whether a pattern matches the whole text: * stands for any characters, ? for one. In time that is proportional to
/// the product of the lengths, whatever the pattern.
bool matches(std::string_view pattern, std::string_view text);
/// Adds how many steps that took, at least one.
bool matches(std::string_view pattern, std::string_view text, std::uint64_t& steps);

}  // namespace xferbench
