// Words as a shell reads them, for commands that people copy from what is printed. A pure function.
#pragma once

#include <string>
#include <string_view>

namespace xferbench {

/// The text as one word of a command line: as it is where it can be, else in quotes that bash, zsh and fish read alike
/// (control characters by their numbers, which bash and zsh read).
std::string shell_quoted(std::string_view text);
/// The same of a file's name. One that would be taken for a flag begins with ./ then.
std::string shell_word(std::string_view file);

}  // namespace xferbench
