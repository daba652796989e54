// Finds the command that measures what an expectation is about. A pure function.
#pragma once

#include <string>

#include "check/expectations.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::check {

/// Returns a command that measures at least one case of the expectation, for example "xferbench memcpy --dir h2d --size
/// 64MiB". It takes all words of a list, the bound itself of a bound such as >=64MiB, and the first of several choices
/// of --gpus. Empty if no scenario has such cases.
std::string measuring_command(const Expectation& e, Descriptors scenarios);

}  // namespace xferbench::check
