// Runs the user's program, by itself and watched.
#pragma once

#include "app/explain/recording_folder.hpp"
#include "cli/command.hpp"

namespace xferbench::app {

/// What one watched run left, with the times of all runs: the one whose time is the median of the watched. Throws
/// UsageError where the program cannot be started or watched.
RecordingFolder watch(const cli::ExplainCommand& command);

}  // namespace xferbench::app
