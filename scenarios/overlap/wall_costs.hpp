// Not a scenario: what a pipeline costs a program beside its time on the GPU: before the GPU begins, and until the
// program knows of the end. From these follows how long it is to the result.
#pragma once

#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

/// In seconds.
struct WallCosts {
  double around = 0;                 ///< one launch and the wait for it, without the call and the kernel
  double graph_begin = 0;            ///< from the call that launches a graph to the GPU's begin, of no chunks
  double graph_begin_per_chunk = 0;  ///< and of each
};

/// Launches one kernel, and graphs of engines over a few kilobytes in few chunks and in many. Uses the memory of
/// `work`.
WallCosts measure_wall_costs(const RunContext& bench, ChunkedWork& work, const StageCosts& costs);

/// Seconds from the first call to the result; nothing where the model does not cover the pipeline.
std::optional<double> predicted_wall(const StageCosts& costs, const WallCosts& wall, const OverlapCase& c);

}  // namespace xferbench
