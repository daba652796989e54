// Finds the command that measures what an expectation is about. A pure function.
#pragma once

#include <string>

#include "check/expectations.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::check {

/// "xferbench memcpy --dir h2d --host pinned --size 64MiB": it measures at least one case that the expectation
/// concerns. Of a list of words it takes all, of a bound such as >=64MiB the bound, of several choices of --gpus the
/// first. Empty if no scenario has such cases.
std::string measuring_command(const Expectation& e, Descriptors scenarios);

}  // namespace xferbench::check
