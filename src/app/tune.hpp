// The command `tune`. Its functions return the exit code; throw what app/commands.hpp says.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace xferbench::app {

/// Searches the command's cases for the fastest. `arguments` is the command line, for the record.
int tune(const cli::Command& command, const std::vector<std::string>& arguments);
/// Prints the space and how many configurations it has; touches no device.
int dry_tune(const cli::Command& command);

}  // namespace xferbench::app
