// The search space of `tune` for scenario scatter.
#pragma once

#include <memory>
#include <span>

#include "core/axis.hpp"
#include "run/scenario.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// Returns the ways of moving one list of pieces as a search space. The cases must be legal and do the same work.
/// Measures a contiguous copy, and the cost of a piece by calls and in a batch.
std::unique_ptr<Tunable> scatter_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
