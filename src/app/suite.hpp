// Suites: `--suite quick`.
#pragma once

#include <string>

#include "cli/command.hpp"

namespace xferbench::app {

/// The command with the cases of its suite; the same command where it names none. What the command line says of
/// sampling and turns stands above what the suite says. Throws InputError, UsageError with the run that it is about.
cli::RunCommand with_suite(const cli::RunCommand& command);

/// A line for each suite that comes with the program: its name and what it is for, or what is wrong with its file.
std::string list_of_suites();

}  // namespace xferbench::app
