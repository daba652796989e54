// Help, made from the scenarios' axes and the run flags. Pure functions to text.
#pragma once

#include <span>
#include <string>

#include "core/scenario_descriptor.hpp"

namespace xferbench::cli {

/// `xferbench --help`.
std::string help(Descriptors scenarios);
/// `xferbench memcpy --help` and `xferbench list memcpy`: a scenario's axes with units, defaults and what is legal.
std::string describe(const ScenarioDescriptor& scenario);
/// What `xferbench list memcpy` says beside: the scenario's columns, and what else its results have.
std::string explain_results(const ScenarioDescriptor& scenario);
/// `xferbench list`: one line per scenario.
std::string list(Descriptors scenarios);

}  // namespace xferbench::cli
