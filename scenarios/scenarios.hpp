// Everything that can be run. To add a scenario: one file beside this one, and one line in scenarios.cpp.
#pragma once

#include <span>

#include "run/scenario.hpp"

namespace xferbench {

/// All scenarios, the default first. They live as long as the program.
std::span<const Scenario* const> scenarios();

}  // namespace xferbench
