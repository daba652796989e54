// Not a scenario: the cases of multipath as a space for `tune`.
#pragma once

#include <memory>
#include <span>

#include "run/scenario.hpp"

namespace xferbench {

/// As Scenario::tunable() says.
std::unique_ptr<Tunable> multipath_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
