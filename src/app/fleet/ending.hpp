// The end of a fleet whose ranks do not all come to its end.
#pragma once

#include <exception>

#include "app/fleet/fleet_run.hpp"
#include "app/fleet/membership.hpp"
#include "app/live_report.hpp"
#include "cli/command.hpp"
#include "ranks/farewell.hpp"

namespace xferbench::app {

/// What a fleet ends with that can be ended early.
struct Ending {
  const cli::RunCommand& command;
  const Member& member;
  LiveReport* live;  ///< at rank 0; null elsewhere
  FleetRun& run;
  Farewell& farewell;
};

/// Where somebody does not answer any more, a rank has failed as a whole, or a signal came and some are too busy to see
/// it: those who can still talk tell rank 0 what they have, rank 0 says why, names who is missing, and writes
/// everything. `error` is why this rank stops. MPI can neither go on nor end, so the process ends here, with the same
/// code at all ranks.
[[noreturn]] void end_early(const Ending& ending, const std::exception& error);

}  // namespace xferbench::app
