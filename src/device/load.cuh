// Loading of kernels before they are launched: a kernel that is loaded lazily waits for the GPU.
#pragma once

namespace xferbench::kernels {

/// Loads all of them now. Errors are left for cudaGetLastError.
template <class... KernelFunctions>
void load(KernelFunctions... functions) {
  cudaFuncAttributes attributes;
  (cudaFuncGetAttributes(&attributes, functions), ...);
}

}  // namespace xferbench::kernels
