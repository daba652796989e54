// The manual page, made from the same command line as help. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_line.hpp"

namespace xferbench::cli {

/// xferbench(1) in roff.
std::string man_page(const CommandLine& command_line);

/// A line of text with nothing in it that roff would take for a request, an escape or a dash to break at.
std::string roff_escaped(std::string_view line);

}  // namespace xferbench::cli
