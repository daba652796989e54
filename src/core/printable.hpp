// Makes text from files, drivers and names safe for a terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xferbench {

/// Finds the first character that a terminal would interpret rather than show, and its number of bytes: control
/// characters (C0 and C1, line breaks included), invisible characters, characters that change the direction of text,
/// and bytes that are not UTF-8. If there is none, `begin` is the end of the text and the number of bytes is 0.
struct ControlCharacter {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};
ControlCharacter find_control(std::string_view text, std::size_t from = 0);

/// Shortens the text to `most` bytes (at least 3): its beginning and its end with "..." between them. No UTF-8
/// character is split.
std::string shortened(std::string_view text, std::size_t most);

/// Returns the text as one line, with `instead` in place of each ControlCharacter. Otherwise the name of a GPU in a
/// file could move the cursor, rename the window or reverse a sentence.
std::string printable(std::string_view text, char instead = '?');

}  // namespace xferbench
