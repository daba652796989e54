// What calls and operations take of themselves, from what they took.
#pragma once

#include "explain/program.hpp"

namespace xferbench::explain {

/// Sets Operation::work, delay, handover and side_by_side, HostCall::own and wake. Each keeps what it was seen to take
/// where that decided when it began or ended; where something else did, what is usual for its kind. So an unchanged
/// replay gives the recorded times, but for what the graph does not know of.
void calibrate(Program& program, const Costs& costs);

}  // namespace xferbench::explain
