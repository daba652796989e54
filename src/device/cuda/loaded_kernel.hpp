// Compiles and loads a user's kernel on a GPU.
#pragma once

#include <memory>

#include "device/cuda/opened_gpu.hpp"
#include "device/kernel_source.hpp"

namespace xferbench::cuda {

/// Compiles the kernel for `source.arch`, or for this GPU's architecture if that is empty, and loads it on this GPU.
/// The GPU must be current. Throws DeviceError.
std::unique_ptr<LoadedKernel> load_kernel(const OpenedGpu& gpu, const KernelSource& source);

}  // namespace xferbench::cuda
