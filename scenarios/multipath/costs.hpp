// Measures the links that a payload can use, as input of the model in model/relay.hpp.
#pragma once

#include "core/units.hpp"
#include "model/relay.hpp"
#include "run/scenario.hpp"
#include "scenarios/multipath/case.hpp"

namespace xferbench {

/// Takes a few samples with a payload of its own: all GPUs' own links at once, copies between each helper and the
/// target as a whole and in pieces, and a chain of small copies. The result is valid for payloads of any size. Throws
/// the same errors as sampling; the result is meaningless after Ctrl-C.
model::RelayPaths measure_paths(const RunContext& bench, const MultipathCase& c);

/// Bytes that measure_paths() needs on each GPU; it needs as many on the host.
inline constexpr std::uint64_t kMeasuredBytes = 256 * MiB;

}  // namespace xferbench
