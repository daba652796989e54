// Text from files on its way to a terminal. A pure function.
#pragma once

#include <string>
#include <string_view>

namespace xferbench {

/// The text in one line, with a question mark for each control character: a GPU's name in a file could otherwise move
/// the cursor or rename the window.
std::string printable(std::string_view text);

}  // namespace xferbench
