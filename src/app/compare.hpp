// The command `compare`. Returns the exit code; throws UsageError, InputError or OutputError.
#pragma once

#include "cli/command.hpp"

namespace xferbench::app {

/// Reads results files, and writes what changed between them to standard output and the files that were asked for.
/// What makes the comparison doubtful goes to standard error.
int compare(const cli::CompareCommand& command);

}  // namespace xferbench::app
