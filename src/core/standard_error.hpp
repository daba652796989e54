// All output to standard error. If a write fails (closed terminal, full disk, pipe without a reader), the text is
// dropped and the program continues.
#pragma once

#include <string_view>

namespace xferbench {

/// Returns whether the descriptor is a terminal with cursor movement and colours (TERM is neither dumb nor missing).
bool is_able_terminal(int descriptor);

/// Prints one line that begins with the program's name. Control characters, which text from files may contain, become
/// question marks. A text longer than 2000 bytes is shortened in the middle.
void tell(std::string_view text) noexcept;

/// Prints one line without the program's name, for progress that is shown line by line.
void show_line(std::string_view text) noexcept;

/// Writes text unchanged, so it may move the cursor. Drops the text if the write would block, as in a paused terminal,
/// because the next update follows soon.
void show_progress(std::string_view text) noexcept;

}  // namespace xferbench
