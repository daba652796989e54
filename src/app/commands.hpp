// What the program can do, one function each. All return the exit code; results go to standard output, and nothing else
// does. Throw UsageError, InputError, OutputError or NoDeviceError.
#pragma once

#include "cli/command.hpp"

namespace xferbench::app {

/// Measures, or prints the cases of a dry run.
int perform(const cli::RunCommand& command);
/// Searches the command's cases for the fastest; of a dry run prints the space and how many configurations it has.
int perform(const cli::TuneCommand& command);
/// Reads results files, and writes what changed between them to standard output and the files that were asked for.
/// What makes the comparison doubtful goes to standard error.
int perform(const cli::CompareCommand& command);
/// Shows stored results or a soak as its command did when it measured them, and several results beside each other.
int perform(const cli::ReportCommand& command);
/// Results against what was expected of them. 0: all expectations hold, 1: one does not, or the run was cut off.
int perform(const cli::CheckCommand& command);
/// Limits from good runs, to a file or standard output.
int perform(const cli::ExpectCommand& command);
/// A profile of this machine, or of the one that results are of, to a file or standard output.
int perform(const cli::CalibrateCommand& command);
/// Results of a machine against what a profile predicts of them.
int perform(const cli::ValidateCommand& command);
/// Runs a program, or reads what was recorded of one, and says what its transfers cost it. 0 whatever became of the
/// program, or its own exit code where that is asked for.
int perform(const cli::ExplainCommand& command);
/// Keeps GPUs busy with data that is checked, and says what became of it: 1 if a byte was wrong, a rate fell too low,
/// or a GPU was lost or told of a critical error.
int perform(const cli::SoakCommand& command);
int perform(const cli::ListCommand& command);
/// What there is; a machine without a GPU has an answer too. A GPU asked for by number must exist.
int perform(const cli::InfoCommand& command);
int perform(const cli::HelpCommand& command);
int perform(const cli::TextCommand& command);
int perform(const cli::VersionCommand& command);
int perform(const cli::CompleteCommand& command);
/// Says what is against it, if anything is.
int perform(const cli::GpuProbeCommand& command);

}  // namespace xferbench::app
