// List of all scenarios. To add a scenario, add a file to this folder and a line to scenarios.cpp.
#pragma once

#include "run/scenario.hpp"

namespace xferbench {

/// Returns all scenarios; the first is the default. The scenarios exist as long as the program runs.
std::span<const Scenario* const> scenarios();

}  // namespace xferbench
