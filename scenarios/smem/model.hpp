// How long a tile loop should take: what leads `tune`. Pure functions.
#pragma once

#include "kernels/smem/smem.hpp"

namespace xferbench {

/// What is measured before anything is predicted. Seconds of the whole payload, or of one tile.
struct SmemCosts {
  double memory = 0;   ///< of the traffic, at cudaMemcpyAsync's rate
  double compute = 0;  ///< of the arithmetic alone, on full multiprocessors
  double latency = 0;  ///< from the request for a tile to its end, results stored, where nothing else is under way
  unsigned multiprocessors = 1;
};

/// Seconds that the kernel should take with so many blocks at once on each multiprocessor: the longest of memory (by
/// Little's law), arithmetic with what each tile costs besides, and the counter of tiles. Its order matters more than
/// its scale.
double predict_smem(const SmemCosts& costs, const kernels::SmemShape& shape, unsigned blocks);

}  // namespace xferbench
