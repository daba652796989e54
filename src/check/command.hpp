// Finds the command that measures the cases of an expectation. A pure function.
#pragma once

#include <string>

#include "check/expectations.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::check {

/// Returns a command that measures at least one case of the expectation, for example "xferbench memcpy --dir h2d --size
/// 64MiB"; empty if no scenario has such cases. The command contains all values of a condition that is a list, but only
/// the first choice for --gpus. For a bound such as >=64MiB, it contains the bound itself.
std::string measuring_command(const Expectation& e, Descriptors scenarios);

}  // namespace xferbench::check
