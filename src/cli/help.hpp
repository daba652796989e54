// Help, made from the scenarios' axes and the run flags. Pure functions to text.
#pragma once

#include <span>
#include <string>

#include "core/column.hpp"

namespace xferbench::cli {

/// `xferbench --help`.
std::string help(std::span<const ScenarioView> scenarios);
/// `xferbench memcpy --help` and `xferbench list memcpy`: a scenario's axes with units, defaults and what is legal.
std::string describe(const ScenarioView& scenario);
/// `xferbench list`: one line per scenario.
std::string list(std::span<const ScenarioView> scenarios);

}  // namespace xferbench::cli
