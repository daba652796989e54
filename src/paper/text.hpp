// Helpers for text on a terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "paper/style.hpp"

namespace xferbench {

/// Display width: counts all bytes but continuation bytes of UTF-8.
std::size_t width(const std::string& text);

/// Pads a text with blanks to a display width; `left`: left-aligned.
std::string padded(const std::string& text, std::size_t to, bool left);

/// Wraps a sentence into lines of at most `columns` characters (0: one line) with these margins. Breaks it at blanks,
/// but not after a number. Ends with a line feed.
std::string wrapped(const std::string& text, std::size_t columns, const std::string& first_margin,
                    const std::string& margin);

/// Colours each line by itself, so that nothing after its end is coloured.
std::string painted_lines(const std::string& lines, Tone tone, const Style& style);

/// A wrapped sentence in a tone, from the first column on; replaces control characters.
std::string paragraph(const std::string& text, Tone tone, const Style& style);

}  // namespace xferbench
