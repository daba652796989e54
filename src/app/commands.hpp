// What the program can do, one function each. All return the exit code; results go to standard output, and nothing else
// does. Throw UsageError, OutputError or NoDeviceError.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace xferbench::app {

/// Measures, or prints the cases of a dry run. `arguments` is the command line, for the record.
int run(const cli::RunCommand& command, const std::vector<std::string>& arguments);
/// What there is; a machine without a GPU has an answer too. A GPU asked for by number must exist.
int info(const cli::InfoCommand& command);
int list(const cli::ListCommand& command);
int version();
/// Help, the manual page or a completion script.
int show(const cli::TextCommand& command);
/// What may come next on a command line.
int complete(const cli::CompleteCommand& command);

}  // namespace xferbench::app
