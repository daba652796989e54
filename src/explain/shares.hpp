// Where the wall time of a stretch went.
#pragma once

#include <optional>

#include "explain/explanation.hpp"
#include "explain/program.hpp"

namespace xferbench::explain {

/// Each moment counts once: as what the GPUs do, and where they are idle, as what the host does; of several threads
/// the one that waits for the GPU counts, else one that is in a call. `bare` is what the stretch takes without being
/// watched: what is over that is taken from calls first, where most of it is spent.
Shares shares_of(const Program& program, std::optional<double> bare);

}  // namespace xferbench::explain
