// The command `check`: results against what was expected of them. Returns the exit code; throws what app/commands.hpp
// says, and InputError.
#pragma once

#include "cli/command.hpp"

namespace xferbench::app {

/// 0: all expectations hold, 1: one does not, or the run was cut off.
int check(const cli::CheckCommand& command);

}  // namespace xferbench::app
