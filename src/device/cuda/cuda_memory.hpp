// Allocates device and host memory through CUDA, and ordinary system memory, which may be pinned in place.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "device/cuda/opened_gpu.hpp"
#include "device/memory.hpp"

namespace xferbench::cuda {

[[nodiscard]] DeviceBuffer allocate(const OpenedGpu& gpu, std::size_t bytes);
/// Allocates from a memory pool (cudaMallocAsync). Memory is allocated and freed in the order of `stream`, on `gpu`.
[[nodiscard]] DeviceBuffer allocate_pooled(const OpenedGpu& gpu, std::size_t bytes, cudaStream_t stream);
/// Allocates host memory. Page-locked memory is portable: it is pinned for all opened GPUs.
[[nodiscard]] HostBuffer allocate_on_host(const OpenedGpu& gpu, std::size_t bytes, HostMemory kind, Prefault faults);
[[nodiscard]] Registration pin(const OpenedGpu& gpu, const HostView& memory);

}  // namespace xferbench::cuda
