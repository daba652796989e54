// The search space of `tune` for scenario storage.
#pragma once

#include <memory>
#include <span>

#include "core/axis.hpp"
#include "run/scenario.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// Returns the ways of loading one file as a search space. The cases must be legal and do the same work. Measures the
/// link, and the reads of one thread by each route that the cases take.
std::unique_ptr<Tunable> storage_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
