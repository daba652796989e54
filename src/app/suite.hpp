// Expands a suite, a named list of runs (`--suite quick`), into its cases.
#pragma once

#include "cli/command.hpp"

namespace xferbench::app {

/// Returns the command with the cases of its suite, or the unchanged command if it names no suite. Sampling flags and
/// the number of passes on the command line override those of the suite. Throws InputError if the suite cannot be read,
/// and UsageError that names the run if one of its runs is wrong.
cli::RunCommand with_suite(const cli::RunCommand& command);

}  // namespace xferbench::app
