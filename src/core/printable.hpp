// Text from files, drivers and names on its way to a terminal. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xferbench {

/// Where the first character begins that a terminal would obey rather than show, and how many bytes it has: control
/// characters of both sets, line breaks among them, what turns the direction of text or cannot be seen, and bytes that
/// are no UTF-8. At the text's end with no bytes if there is none.
struct ControlCharacter {
  std::size_t begin = 0;
  std::size_t bytes = 0;
};
ControlCharacter find_control(std::string_view text, std::size_t from = 0);

/// As much of the text as has so many bytes, at least three: its beginning and its end, and "..." for what stands
/// between. No character is cut.
std::string shortened(std::string_view text, std::size_t most);

/// The text in one line, with `instead` for each such character: a GPU's name in a file could otherwise move the
/// cursor, rename the window, or turn a sentence around.
std::string printable(std::string_view text, char instead = '?');

}  // namespace xferbench
