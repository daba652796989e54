// Where the wall time of a stretch went.
#pragma once

#include <optional>

#include "explain/explanation.hpp"
#include "explain/program.hpp"
#include "explain/replay.hpp"

namespace xferbench::explain {

/// Each moment counts once: as what the GPUs do, and where they are idle, as what the host does; of several threads
/// the one that waits for the GPU counts, else one that is in a call. `bare` is what the stretch takes without being
/// watched: what is over that is taken from calls first, where most of it is spent.
Shares shares_of(const Program& program, std::optional<double> bare);

/// The same of the program as it is unwatched (gains.hpp) and replayed: what watching added is taken from where it was.
/// Seconds; `watched` and `bare` are of the stretch, and the shares without that add up to `bare`.
Shares shares_unwatched(const Program& unwatched, const Replay& replayed, double watched, double bare);

}  // namespace xferbench::explain
