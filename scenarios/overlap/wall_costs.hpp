// Measures those parts of a pipeline's time to result in which the GPU does not work: before the GPU starts, and after
// the GPU's last operation until the host has noticed its end. Predicts the time to result from these parts.
#pragma once

#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

/// Costs of a pass in addition to its makespan, in seconds.
struct WallCosts {
  double around = 0;                 ///< from a launch call's return to the end of the wait, less the kernel time
  double graph_begin = 0;            ///< from the graph launch call to the GPU's start, for a graph without chunks
  double graph_begin_per_chunk = 0;  ///< increase of graph_begin with each chunk of the graph
};

/// Launches a kernel, and graphs of Strategy::engines with few and with many tiny chunks. Overwrites the buffers of
/// `work`.
WallCosts measure_wall_costs(const RunContext& bench, ChunkedWork& work, const StageCosts& costs);

/// Returns the predicted seconds from the first call to the result; nothing if the model does not cover the case.
std::optional<double> predicted_wall(const StageCosts& costs, const WallCosts& wall, const OverlapCase& c);

}  // namespace xferbench
