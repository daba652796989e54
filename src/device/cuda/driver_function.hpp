// Looks up functions of the driver, so that the program need not link to it.
#pragma once

#include <cuda_runtime.h>

namespace xferbench::cuda {

#if CUDART_VERSION >= 12080

/// Returns the driver's function `name` as of CUDA version `since`, for example 12040 for 12.4. Returns null if the
/// driver is older than that.
template <class Function>
Function* driver_function(const char* name, unsigned since) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &function, since, cudaEnableDefault, &found);
  if (status == cudaSuccess && found == cudaDriverEntryPointSuccess) return reinterpret_cast<Function*>(function);
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

#endif

}  // namespace xferbench::cuda
