// For kernels that launch kernels: the check behind every such launch.
#pragma once

#include "kernels/dynpar/device_launch.hpp"

namespace xferbench::kernels {

static_assert(kLaunchPendingCountExceeded == cudaErrorLaunchPendingCountExceeded);
static_assert(kLaunchMaxDepthExceeded == cudaErrorLaunchMaxDepthExceeded);

/// Right behind a launch, by the thread that made it: errors are kept for each thread (CUDA C++ Programming Guide, CUDA
/// Dynamic Parallelism, Errors and Launch Failures). Without this a launch that failed is a child that is missing.
__device__ inline void note_launch(LaunchStatus* status) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  atomicCAS(&status->error, 0U, static_cast<std::uint32_t>(error));
  atomicAdd(&status->failed, 1U);
}

}  // namespace xferbench::kernels
