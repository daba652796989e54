// Not a scenario: the cases of smem as a space for `tune` to search.
#pragma once

#include <memory>
#include <span>

#include "run/scenario.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// Measures what the memory gives, what the arithmetic takes and how long a tile is under way. All candidates share one
/// payload. Throws UsageError if the cases do not do the same work.
std::unique_ptr<Tunable> smem_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
