// Not a scenario: the cases of multipath as a space for `tune`.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>

#include "run/scenario.hpp"

namespace xferbench {

/// What says what is done, and not how.
inline constexpr std::array<std::string_view, 3> kMultipathWorkAxes{"dir", "target", "size"};

/// As Scenario::tunable() says.
std::unique_ptr<Tunable> multipath_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
