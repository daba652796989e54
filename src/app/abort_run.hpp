// Ends a run whose measuring thread is blocked for good.
#pragma once

#include <functional>
#include <string>

#include "app/live_report.hpp"
#include "run/watchdog.hpp"

namespace xferbench::app {

/// What the watchdog saves and prints before it ends the process.
struct AbortContext {
  LiveReport& live;
  KnownResults cases;                  ///< results for cases that have none yet
  std::function<std::string()> table;  ///< the report as a table
  std::function<void()> clear;         ///< clears the progress line on a terminal
  std::string rank{};                  ///< names this rank of a fleet in messages; empty: no fleet
};

/// Why the case in which the GPU got stuck has failed.
std::string stuck_reason(const Alarm& alarm);

/// Saves the files, prints what happened and the table, and ends the process. The exit code is ExitCode::stuck,
/// `failed` for a rank of a fleet, or that of an interrupted run. For the watchdog's thread: the measuring thread may
/// be in a driver call that never returns, so it cannot be asked to end, and nothing it uses may be destroyed.
[[noreturn]] void abort_run(const Alarm& alarm, const AbortContext& last);

}  // namespace xferbench::app
