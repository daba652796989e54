// A kernel of the user's on a GPU.
#pragma once

#include <memory>

#include "device/cuda/opened_gpu.hpp"
#include "device/kernel_source.hpp"

namespace xferbench::cuda {

/// Compiles it for the GPU, unless the source says for which, and loads it. The GPU is current.
std::unique_ptr<LoadedKernel> load_kernel(const OpenedGpu& gpu, const KernelSource& source);

}  // namespace xferbench::cuda
