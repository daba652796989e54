// Which call of the host leads to which.
#pragma once

#include "explain/program.hpp"

namespace xferbench::explain {

/// Sets HostCall::follows, previous and gap. A call follows the one before it on its thread; where threads take turns,
/// as Python's and PyTorch's for going back through a network do, the first call of each turn follows the last of the
/// turn before: whoever waits for another thread makes no call that would tell.
void follow_threads(Program& program);

}  // namespace xferbench::explain
