// From a recording to what it means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "results/recording_file.hpp"

namespace xferbench::explain {

/// Options::least_share where all is to be told: what gains less is within the replay's own error.
inline constexpr double kLeastOfAll = 0.001;

struct Options {
  std::optional<std::string> range{};  ///< NVTX range that is the stretch; none: the whole program
  double least_share = 0.01;           ///< of the wall time; what gains less is left out
  std::vector<FindingKind> mended{};   ///< what the time is told of with just these mended; empty: not told
};

/// One process of the program. `bare`: what the stretch took each time that it was not watched, `watched`: the wall
/// time of the whole process where that is known from outside. Throws InputError where there is no such range.
ProcessExplanation explain(const Recording& recording, const Costs& costs, const std::vector<double>& bare,
                           std::optional<double> watched, const Options& options);

}  // namespace xferbench::explain
