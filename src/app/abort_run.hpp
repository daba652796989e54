// Ends a run whose measuring thread is blocked for good.
#pragma once

#include <functional>
#include <string>

#include "app/live_report.hpp"
#include "run/watchdog.hpp"

namespace xferbench::app {

/// What the watchdog thread saves and prints before it ends the process.
struct AbortContext {
  LiveReport& live;
  KnownResults cases;                  ///< results to store for cases that have no result yet
  std::function<std::string()> table;  ///< returns the report so far, formatted as a table for the terminal
  std::function<void()> clear;         ///< clears the progress line on the terminal
  std::string rank{};                  ///< name of this MPI rank in messages; empty if the run has a single process
};

/// Returns why the GPU counts as stuck: which operation has not returned, and for how many seconds.
std::string stuck_reason(const Alarm& alarm);

/// Called by the watchdog thread: saves the files, prints what happened and the table, and ends the process. The exit
/// code is 128 plus the signal number after an interrupt. If the GPU is stuck, the exit code is ExitCode::stuck, or
/// `failed` for a rank of a fleet. The measuring thread may be in a driver call that never returns. So that thread
/// cannot be asked to end, and no object that it uses may be destroyed.
[[noreturn]] void abort_run(const Alarm& alarm, const AbortContext& last);

}  // namespace xferbench::app
