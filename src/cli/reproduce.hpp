// From a case back to the command line that runs it. Pure functions.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace xferbench::cli {

/// The command that runs one case of `command` by itself, on the same device: "xferbench overlap --size 256MiB
/// --streams 3 --simulate h200". Names the axes whose flags were given or whose values are not the default. No word
/// of it needs quotes in a shell.
std::string command_line(const TuneCommand& command, const PlannedCase& planned);

}  // namespace xferbench::cli
