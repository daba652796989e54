// Finds the command that measures the cases of an expectation. A pure function.
#pragma once

#include <string>

#include "check/expectations.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::check {

/// Returns a command that measures at least one case of the expectation, for example "xferbench memcpy --dir h2d --size
/// 64MiB". If a condition is a list, the command contains all of its words; for a bound such as >=64MiB, the bound
/// itself; for --gpus, only the first choice. Empty if no scenario has such cases.
std::string measuring_command(const Expectation& e, Descriptors scenarios);

}  // namespace xferbench::check
