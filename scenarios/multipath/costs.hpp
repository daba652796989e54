// Not a scenario: what the links of a payload's ways can do, from which model/relay.hpp predicts how long it takes.
#pragma once

#include "core/units.hpp"
#include "model/relay.hpp"
#include "run/scenario.hpp"
#include "scenarios/multipath/payload.hpp"

namespace xferbench {

/// Measures them with a payload of its own, in a few samples each: all own links at once, copies between each helper
/// and the target alone and in pieces, and a chain of small copies in turn. What it finds holds for payloads of any
/// size. Throws as sampling does; after Ctrl-C, what it returns means nothing.
model::RelayPaths measure_paths(const RunContext& bench, const MultipathCase& c);

/// Device memory that it needs on each GPU, and as much on the host.
inline constexpr std::uint64_t kMeasuredBytes = 256 * MiB;

}  // namespace xferbench
