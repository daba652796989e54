// Quotes text for a shell, for commands that users copy from the output. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace xferbench {

/// Returns the text as one word of a command line: unquoted if possible, else in quotes that bash, zsh and fish
/// understand in the same way. Control characters become $'...' escapes, which only bash and zsh understand.
std::string shell_quoted(std::string_view text);
/// Quotes a file name like shell_quoted(). A name that begins with - gets ./ in front, so it is no flag.
std::string shell_word(std::string_view file);

}  // namespace xferbench
