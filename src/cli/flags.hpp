// The flags that belong to a run and not to a scenario, described like axes, so that parsing, limits and help come from
// one place.
#pragma once

#include <span>

#include "core/axis.hpp"

namespace xferbench::cli {

/// A flag of a run or a command. `axis.defaults` is what help shows; a flag without `argument` is a switch.
struct RunFlag {
  Axis axis;
  std::string argument;
};

std::span<const RunFlag> run_flags();

/// The flags that only `check` has.
std::span<const RunFlag> check_flags();

}  // namespace xferbench::cli
