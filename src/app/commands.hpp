// The commands of the program, one function each. Every function returns the exit code of the program and writes only
// results to standard output. They throw UsageError, InputError, OutputError or NoDeviceError.
#pragma once

#include "cli/command.hpp"

namespace xferbench::app {

/// Measures the cases. With --dry-run, only prints them.
int perform(const cli::RunCommand& command);
/// Searches for the fastest of the command's cases. With --dry-run, only prints the search space and its size.
int perform(const cli::TuneCommand& command);
/// Compares results files. Writes changes to standard output and the requested files, warnings to standard error.
int perform(const cli::CompareCommand& command);
/// Shows stored results or a stored soak test in the format of the command that measured them. Several results are
/// shown side by side.
int perform(const cli::ReportCommand& command);
/// Checks results against expectations. Returns 1 if an expectation is violated or a run was cut off, else 0.
int perform(const cli::CheckCommand& command);
/// Derives limits from runs that are known to be good, and writes them to a file or standard output.
int perform(const cli::ExpectCommand& command);
/// Makes a simulation profile of this machine, or of the machine of given results, in a file or on standard output.
int perform(const cli::CalibrateCommand& command);
/// Compares results measured on a machine with the predictions of a simulation profile.
int perform(const cli::ValidateCommand& command);
/// Runs a program, or reads a recording of one, and reports how much time its transfers cost. Returns 0 regardless of
/// the program's exit code, unless --exit-code was given.
int perform(const cli::ExplainCommand& command);
/// Runs the soak test: keeps GPUs busy for a long time and checks the data that they move. Returns 1 if a byte was
/// wrong, a transfer rate dropped, a GPU was lost, or a GPU reported a critical error.
int perform(const cli::SoakCommand& command);
int perform(const cli::ListCommand& command);
/// Describes the machine, even if it has no GPU. Throws NoDeviceError if the user asked for a missing GPU.
int perform(const cli::InfoCommand& command);
int perform(const cli::HelpCommand& command);
int perform(const cli::TextCommand& command);
int perform(const cli::VersionCommand& command);
int perform(const cli::CompleteCommand& command);
/// Tests whether MPI can use a GPU's memory, and prints the reason if it cannot.
int perform(const cli::GpuProbeCommand& command);
/// Serves the cuFile requests of the parent process, and does not return.
int perform(const cli::CufileCommand& command);

}  // namespace xferbench::app
