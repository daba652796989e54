// Converts CUDA status codes to exceptions that name the operation.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "core/error.hpp"

namespace xferbench::cuda {

/// Returns, for example, "an illegal memory access was encountered (cudaErrorIllegalAddress)".
inline std::string describe(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

/// Throws DeviceError if `status` is an error. Also resets CUDA's last error, so that it is reported once.
inline void check(cudaError_t status, const char* operation) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw DeviceError(operation, describe(status));
}

}  // namespace xferbench::cuda
