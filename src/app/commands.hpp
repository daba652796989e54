// What the program can do, one function each. All return the exit code; results go to standard output, and nothing else
// does. Throw UsageError, OutputError or NoDeviceError.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace xferbench::app {

using cli::Command;

/// Measures. `arguments` is the command line, for the record.
int run(const Command& command, const std::vector<std::string>& arguments);
/// Prints the cases and touches no device.
int dry_run(const Command& command);
/// What there is; a machine without a GPU has an answer too. A GPU asked for by number must exist.
int info(const Command& command);
int list(const Command& command);
int help(const Command& command);
int version();
/// A script that completes command lines, for the command's shell.
int completion(const Command& command);
/// The manual page.
int man();

}  // namespace xferbench::app
