// Analyzes a recording: where the time went, and which fixes would save how much.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "results/recording_file.hpp"

namespace xferbench::explain {

/// The smallest useful Options::least_share: smaller gains are within the error of the replay.
inline constexpr double kLeastOfAll = 0.001;

struct Options {
  std::optional<std::string> range{};  ///< NVTX range to analyze; none: the whole program
  double least_share = 0.01;           ///< findings that gain a smaller share of the wall time are left out
  std::vector<FindingKind> fixed{};    ///< if not empty, also estimate the time with only these kinds fixed
};

/// Analyzes one process. `baseline`: seconds that the analyzed window took in each run without the profiler.
/// `profiled`: wall time of the whole process with the profiler in seconds, if it was measured from outside. Throws
/// InputError if Options::range does not exist in the recording.
ProcessExplanation explain(const Recording& recording, const Costs& costs, const std::vector<double>& baseline,
                           std::optional<double> profiled, const Options& options);

/// Adds notes to processes that wait for each other in NCCL's kernels, and to the one for which they wait.
void note_waits_between(std::vector<ProcessExplanation>& processes);

}  // namespace xferbench::explain
