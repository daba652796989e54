// Lines of text on a terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "paper/style.hpp"

namespace xferbench {

/// Display width: every character but the continuation bytes of UTF-8.
std::size_t width(const std::string& text);

/// Filled up with blanks to a display width; `left`: the text stands on the left.
std::string padded(const std::string& text, std::size_t to, bool left);

/// A sentence in lines of so many columns (0: one line), broken at blanks but not behind a number, with these margins.
/// Ends with a line feed.
std::string wrapped(const std::string& text, std::size_t columns, const std::string& first_margin,
                    const std::string& margin);

/// Each line in its tone, so that nothing is coloured beyond its end.
std::string painted_lines(const std::string& lines, Tone tone, const Style& style);

/// A sentence in a tone, control characters replaced, from the first column on.
std::string paragraph(const std::string& text, Tone tone, const Style& style);

}  // namespace xferbench
