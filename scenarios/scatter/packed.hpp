// Scattered pieces by CPU threads: they pack pieces into page-locked slots, which cross the link as whole copies, and a
// kernel spreads them on the GPU; or, in the other direction, a kernel packs and the threads unpack.
#pragma once

#include <memory>
#include <vector>

#include "scenarios/scatter/ways.hpp"

namespace xferbench {

/// Makes the mover for a case with ScatterWay::packed. `copies`: the pieces, not empty and all in one direction. Its
/// submit() returns when the threads have no more work, which is after all calls.
std::unique_ptr<PieceMover> make_packed_mover(Device& device, const ScatterCase& c, std::vector<Copy> copies);

}  // namespace xferbench
