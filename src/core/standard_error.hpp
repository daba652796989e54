// The only way to standard error. Nobody may be there to read it: a terminal that was closed, a full disk, a pipe
// without a reader. What cannot be written is dropped; it never ends what the program was asked to do.
#pragma once

#include <string_view>

namespace xferbench {

/// Whether a terminal is behind the descriptor, and one that obeys what moves the cursor and changes colours: not one
/// that says of itself that it is dumb (TERM=dumb), and none of which nothing is known (no TERM).
bool is_able_terminal(int descriptor);

/// One line with the program's name in front. Control characters, as text from files may have them, become question
/// marks; of more than 2000 bytes only the beginning and the end are shown.
void tell(std::string_view text) noexcept;

/// The same without the name: progress that was asked for line by line.
void show_line(std::string_view text) noexcept;

/// Text as it is, which moves the cursor. Dropped where it would have to wait, as in a terminal that was paused: the
/// next one is due soon.
void show_progress(std::string_view text) noexcept;

}  // namespace xferbench
