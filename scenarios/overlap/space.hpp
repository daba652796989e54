// Not a scenario: the cases of overlap as a space for `tune` to search.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "run/scenario.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// What says what is done, and not how.
std::vector<std::string_view> overlap_work_axes();

/// Measures the stages and what their operations cost. All candidates share one payload. Throws UsageError if the cases
/// do not do the same work, or choose their work by --balance.
std::unique_ptr<Tunable> overlap_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
