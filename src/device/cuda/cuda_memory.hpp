// Memory that CUDA gives, and ordinary memory from the system, pinned in place where asked.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "device/cuda/opened_gpu.hpp"
#include "device/memory.hpp"

namespace xferbench::cuda {

[[nodiscard]] DeviceBuffer allocate(const OpenedGpu& gpu, std::size_t bytes);
/// In the order of a stream of that GPU, and given back in it.
[[nodiscard]] DeviceBuffer allocate_pooled(const OpenedGpu& gpu, std::size_t bytes, cudaStream_t stream);
/// Page-locked memory is so for all GPUs that the machine was opened with.
[[nodiscard]] HostBuffer allocate_on_host(const OpenedGpu& gpu, std::size_t bytes, HostMemory kind, Prefault faults);
[[nodiscard]] Registration pin(const OpenedGpu& gpu, const HostView& memory);

}  // namespace xferbench::cuda
