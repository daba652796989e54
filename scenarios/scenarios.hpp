// List of all scenarios. To add one, add a file to this folder and one line to scenarios.cpp.
#pragma once

#include <span>

#include "run/scenario.hpp"

namespace xferbench {

/// The default scenario is the first. Valid as long as the program runs.
std::span<const Scenario* const> scenarios();

}  // namespace xferbench
