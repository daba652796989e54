// Runs the user's program without and with profiling.
#pragma once

#include "app/explain/recording_folder.hpp"
#include "cli/command.hpp"

namespace xferbench::app {

/// Runs the program of the command. Returns the recording of the profiled run with the median duration, and the
/// durations of all runs. Throws UsageError if the program cannot be started or profiled.
RecordingFolder profile_program(const cli::ExplainCommand& command);

}  // namespace xferbench::app
