// Predicts the time of a tile kernel, to guide the search of `tune`. Pure functions.
#pragma once

#include "kernels/smem/smem.hpp"

namespace xferbench {

/// Measured times from which the model predicts others, in seconds.
struct SmemCosts {
  double memory = 0;   ///< time of the payload's memory traffic at the rate of cudaMemcpyAsync
  double compute = 0;  ///< time of the payload's arithmetic alone, on fully occupied multiprocessors
  double latency = 0;  ///< time from the load of a tile until its results are stored, on an idle GPU
  unsigned multiprocessors = 1;
};

/// Returns the predicted seconds with `blocks` concurrent blocks per multiprocessor: the maximum of the memory time (by
/// Little's law), the time of arithmetic including the fixed cost per tile, and the time of the tile counter. The
/// prediction is meant for ranking; its absolute value is less accurate.
double predict_smem(const SmemCosts& costs, const kernels::SmemShape& shape, unsigned blocks);

}  // namespace xferbench
