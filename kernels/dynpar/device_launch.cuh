// Error check after a launch from device code.
#pragma once

#include "kernels/dynpar/device_launch.hpp"

namespace xferbench::kernels {

static_assert(kLaunchPendingCountExceeded == cudaErrorLaunchPendingCountExceeded);
static_assert(kLaunchMaxDepthExceeded == cudaErrorLaunchMaxDepthExceeded);

/// Records an error of a launch. Must be called right after it in the same thread, because errors are kept per thread
/// (CUDA C++ Programming Guide, CUDA Dynamic Parallelism, Errors and Launch Failures). Without this check a failed
/// launch is only a missing child kernel.
__device__ inline void note_launch(LaunchStatus* status) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  atomicCAS(&status->error, 0U, static_cast<std::uint32_t>(error));
  atomicAdd(&status->failed, 1U);
}

}  // namespace xferbench::kernels
