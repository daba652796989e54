// Compiles and loads a user's kernel on a GPU.
#pragma once

#include <memory>

#include "device/cuda/opened_gpu.hpp"
#include "device/kernel_source.hpp"

namespace xferbench::cuda {

/// Compiles the kernel and loads it on this GPU. It is compiled for this GPU's architecture unless the source names
/// one. The GPU must be current. Throws DeviceError.
std::unique_ptr<LoadedKernel> load_kernel(const OpenedGpu& gpu, const KernelSource& source);

}  // namespace xferbench::cuda
