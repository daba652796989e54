// The command `tune`. Returns the exit code; throws what app/commands.hpp says.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace xferbench::app {

/// Searches the command's cases for the fastest; of a dry run prints the space and how many configurations it has.
/// `arguments` is the command line, for the record.
int tune(const cli::TuneCommand& command, const std::vector<std::string>& arguments);

}  // namespace xferbench::app
