// Predicts the time of a tile kernel, to guide the search of `tune`. Pure functions.
#pragma once

#include "kernels/smem/smem.hpp"

namespace xferbench {

/// Measured input of the model, in seconds.
struct SmemCosts {
  double memory = 0;   ///< time of the payload's memory traffic at the rate of cudaMemcpyAsync
  double compute = 0;  ///< time of the payload's arithmetic alone, on fully occupied multiprocessors
  double latency = 0;  ///< time from the load of a tile until its results are stored, on an idle GPU
  unsigned multiprocessors = 1;
};

/// Predicted seconds with `blocks` concurrent blocks per multiprocessor: the maximum of memory time (by Little's law),
/// arithmetic including the fixed cost per tile, and the tile counter. Meant for ranking; the scale is less accurate.
double predict_smem(const SmemCosts& costs, const kernels::SmemShape& shape, unsigned blocks);

}  // namespace xferbench
