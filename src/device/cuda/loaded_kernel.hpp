// Compiles and loads a user's kernel on a GPU.
#pragma once

#include <memory>

#include "device/cuda/opened_gpu.hpp"
#include "device/kernel_source.hpp"

namespace xferbench::cuda {

/// Compiles the kernel, for this GPU unless the source names an architecture, and loads it. The GPU must be current.
/// Throws DeviceError.
std::unique_ptr<LoadedKernel> load_kernel(const OpenedGpu& gpu, const KernelSource& source);

}  // namespace xferbench::cuda
