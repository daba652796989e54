// The only path to standard error. A write that fails (closed terminal, full disk, pipe without a reader) is dropped;
// it never ends the program's work.
#pragma once

#include <string_view>

namespace xferbench {

/// Whether the descriptor is a terminal that understands cursor movement and colours. TERM=dumb and a missing TERM say
/// that it does not.
bool is_able_terminal(int descriptor);

/// Prints one line with the program's name in front. Control characters, which text from files may have, become
/// question marks. Of more than 2000 bytes only the beginning and the end are shown.
void tell(std::string_view text) noexcept;

/// Prints one line without the name, for line-by-line progress.
void show_line(std::string_view text) noexcept;

/// Writes text unchanged; it may move the cursor. Dropped if the write would block, as in a paused terminal: the next
/// update is due soon.
void show_progress(std::string_view text) noexcept;

}  // namespace xferbench
