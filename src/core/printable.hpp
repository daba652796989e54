// Makes text from files, drivers and names safe for a terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xferbench {

/// The first character that a terminal would interpret rather than show, and its size. These are control characters of
/// both sets (C0 and C1, line breaks included), invisible characters, characters that change the direction of text, and
/// bytes that are not UTF-8. If there is none: the text's end, with 0 bytes.
struct ControlCharacter {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};
ControlCharacter find_control(std::string_view text, std::size_t from = 0);

/// The text cut to `most` bytes (at least 3): its beginning and its end with "..." between. No UTF-8 character is
/// split.
std::string shortened(std::string_view text, std::size_t most);

/// The text in one line, with `instead` for each ControlCharacter. A GPU's name in a file could otherwise move the
/// cursor, rename the window or reverse a sentence.
std::string printable(std::string_view text, char instead = '?');

}  // namespace xferbench
