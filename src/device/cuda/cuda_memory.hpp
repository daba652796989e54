// Memory that CUDA gives, and ordinary memory from the system, pinned in place where asked.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "device/memory.hpp"

namespace xferbench::cuda {

/// On the current GPU.
[[nodiscard]] DeviceBuffer allocate(std::size_t bytes);
/// In the stream's order, and given back in it.
[[nodiscard]] DeviceBuffer allocate_pooled(std::size_t bytes, cudaStream_t stream);
[[nodiscard]] HostBuffer allocate_on_host(std::size_t bytes, HostMemory kind, Prefault faults);
[[nodiscard]] Registration pin(const HostView& memory);

}  // namespace xferbench::cuda
