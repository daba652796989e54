// Eager loading of kernels. Hazard: a lazily loaded kernel synchronizes with the GPU at its first launch.
#pragma once

namespace xferbench::kernels {

/// Loads all given kernels. Does not check errors; callers use cudaGetLastError.
template <class... KernelFunctions>
void load(KernelFunctions... functions) {
  cudaFuncAttributes attributes;
  (cudaFuncGetAttributes(&attributes, functions), ...);
}

}  // namespace xferbench::kernels
