// The end of a run whose measuring thread does not come back.
#pragma once

#include <functional>
#include <string>

#include "app/live_report.hpp"
#include "run/watchdog.hpp"

namespace xferbench::app {

/// What was measured, and who is to see it.
struct LastWords {
  LiveReport& live;
  KnownResults cases;                  ///< what becomes of those that have no result yet
  std::function<std::string()> table;  ///< of what the report holds
  std::function<void()> clear;         ///< makes room for a message on a terminal
  std::string rank{};  ///< of a fleet, whose others notice that it is gone; empty: this process is alone
};

/// Why the case that the GPU was stuck in has failed.
std::string stuck_reason(const Alarm& alarm);

/// Saves the files, says what happened, prints the table, and ends the process: with ExitCode::stuck, as a
/// fleet that a rank is missing from, or as an interrupted run. For the watchdog's thread: the one that measures may be
/// in a call of the driver that never returns, so that it cannot be asked to end, and nothing it uses can be destroyed.
[[noreturn]] void give_up(const Alarm& alarm, const LastWords& last);

}  // namespace xferbench::app
