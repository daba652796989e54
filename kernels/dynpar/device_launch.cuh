// Error check after a launch from device code.
#pragma once

#include "kernels/dynpar/device_launch.hpp"

namespace xferbench::kernels {

static_assert(kLaunchPendingCountExceeded == cudaErrorLaunchPendingCountExceeded);
static_assert(kLaunchMaxDepthExceeded == cudaErrorLaunchMaxDepthExceeded);

/// Records the error of a failed launch. Must be called right after the launch in the same thread, because CUDA keeps
/// errors per thread (CUDA C++ Programming Guide, CUDA Dynamic Parallelism, Errors and Launch Failures). Without this
/// call a failed launch would go unnoticed.
__device__ inline void note_launch(LaunchStatus* status) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  atomicCAS(&status->error, 0U, static_cast<std::uint32_t>(error));
  atomicAdd(&status->failed, 1U);
}

}  // namespace xferbench::kernels
