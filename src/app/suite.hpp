// Suites of cases: `--suite quick`.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace xferbench::app {

/// The command with the cases of its suite; unchanged if it names none. Sampling and turns of the command line override
/// those of the suite. Throws InputError, or UsageError that names the run.
cli::RunCommand with_suite(const cli::RunCommand& command);

}  // namespace xferbench::app
