// The commands of the program, one function each. All return the exit code. Standard output gets the results and
// nothing else. They throw UsageError, InputError, OutputError or NoDeviceError.
#pragma once

#include "cli/command.hpp"

namespace xferbench::app {

/// Measures, or prints the cases of a dry run.
int perform(const cli::RunCommand& command);
/// Searches the command's cases for the fastest. A dry run prints the search space and its number of configurations.
int perform(const cli::TuneCommand& command);
/// Compares results files. Writes what changed to standard output and to the requested files, and warnings to standard
/// error.
int perform(const cli::CompareCommand& command);
/// Shows stored results or a soak as the measuring command did, and several results side by side.
int perform(const cli::ReportCommand& command);
/// Checks results against expectations. 0: all hold; 1: one does not, or the run was cut off.
int perform(const cli::CheckCommand& command);
/// Derives limits from good runs and writes them to a file or standard output.
int perform(const cli::ExpectCommand& command);
/// Makes a profile of this machine, or of the machine behind given results, in a file or standard output.
int perform(const cli::CalibrateCommand& command);
/// Compares the results of a machine with the predictions of a profile.
int perform(const cli::ValidateCommand& command);
/// Runs a program, or reads a recording of one, and reports what its transfers cost. Returns 0 whatever the program
/// returned, or the program's exit code if that is asked for.
int perform(const cli::ExplainCommand& command);
/// Keeps GPUs busy with data that is checked. Returns 1 if a byte was wrong, a rate fell too low, a GPU was lost, or a
/// GPU reported a critical error.
int perform(const cli::SoakCommand& command);
int perform(const cli::ListCommand& command);
/// Describes the machine, with or without a GPU. A GPU asked for by number must exist.
int perform(const cli::InfoCommand& command);
int perform(const cli::HelpCommand& command);
int perform(const cli::TextCommand& command);
int perform(const cli::VersionCommand& command);
int perform(const cli::CompleteCommand& command);
/// Tests whether MPI can use a GPU's memory, and prints the reason if it cannot.
int perform(const cli::GpuProbeCommand& command);

}  // namespace xferbench::app
