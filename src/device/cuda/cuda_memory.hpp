// Allocates device and host memory through CUDA, and ordinary system memory, which may be pinned in place.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <set>

#include "device/cuda/opened_gpu.hpp"
#include "device/memory.hpp"

namespace xferbench::cuda {

/// Allocates memory of the GPU. `accessing`: CUDA indices of the GPUs that may access it, itself included.
[[nodiscard]] DeviceBuffer allocate(const OpenedGpu& gpu, std::size_t bytes, GpuMemory kind,
                                    const std::set<int>& accessing);
/// Allocates host memory. Page-locked memory is portable: it is pinned for all opened GPUs, whose CUDA indices are
/// `gpus`.
[[nodiscard]] HostBuffer allocate_on_host(const OpenedGpu& gpu, std::size_t bytes, HostMemory kind, Prefault faults,
                                          const std::set<int>& gpus);
[[nodiscard]] Registration pin(const OpenedGpu& gpu, const HostView& memory);

}  // namespace xferbench::cuda
