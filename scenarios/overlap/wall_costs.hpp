// Measures the parts of a pipeline's time to result that are not GPU time: before the GPU starts, and until the program
// knows of the end. Predicts the time to result from them.
#pragma once

#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

/// In seconds.
struct WallCosts {
  double around = 0;                 ///< a launch and the wait for it, without the launch call and the kernel
  double graph_begin = 0;            ///< from the graph launch call to the GPU's start, without any chunks
  double graph_begin_per_chunk = 0;  ///< additional graph_begin per chunk of the graph
};

/// Launches a kernel, and graphs of Strategy::engines with few and with many tiny chunks. Overwrites the buffers of
/// `work`.
WallCosts measure_wall_costs(const RunContext& bench, ChunkedWork& work, const StageCosts& costs);

/// Predicted time in seconds from the first call to the result; nothing if the model does not cover the case.
std::optional<double> predicted_wall(const StageCosts& costs, const WallCosts& wall, const OverlapCase& c);

}  // namespace xferbench
