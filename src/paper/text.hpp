// Helpers for text on a terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>

#include "paper/style.hpp"

namespace xferbench {

/// Returns the display width in columns: counts all bytes except continuation bytes of UTF-8.
std::size_t width(const std::string& text);

/// Pads a text with blanks to a display width; `left`: left-aligned.
std::string padded(const std::string& text, std::size_t to, bool left);

/// Wraps a sentence into lines of at most `columns` characters (0: one line). The first line begins with
/// `first_margin`, each further line with `margin`. No line ends between a number and the word after it. A command
/// after ": " goes on after a backslash, so that it can be pasted into a shell. The result ends with a line feed.
std::string wrapped(const std::string& text, std::size_t columns, const std::string& first_margin,
                    const std::string& margin);

/// Colours each line by itself, so that colours end before each line feed.
std::string painted_lines(const std::string& lines, Tone tone, const Style& style);

/// Replaces control characters in a sentence, wraps and colours it. Further lines are indented by two columns.
std::string paragraph(const std::string& text, Tone tone, const Style& style);

}  // namespace xferbench
