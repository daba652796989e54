// Suites: `--suite quick`.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace xferbench::app {

/// The command with the cases of its suite; the same command where it names none. What the command line says of
/// sampling and turns stands above what the suite says. Throws InputError, UsageError with the run that it is about.
cli::RunCommand with_suite(const cli::RunCommand& command);

}  // namespace xferbench::app
