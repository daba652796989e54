// Memory of the driver's virtual memory management: cuMemCreate takes it, on a GPU or on a NUMA node of the host, and
// cuMemMap gives it an address.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "device/owned.hpp"

namespace xferbench::cuda {

/// Waits for all work of these GPUs (CUDA indices), and ignores errors. Leaves one of them current.
void wait_for(const std::set<int>& gpus) noexcept;

/// Address and owner of mapped memory.
using Mapping = std::pair<std::byte*, std::unique_ptr<Resource>>;

/// Takes memory of the GPU, or of a NUMA node of the host, and maps it for the GPUs in `accessing` (CUDA indices) and,
/// on the host, for CPUs. Throws UnavailableError where that is not supported.
[[nodiscard]] Mapping map_memory(int gpu, std::size_t bytes, std::optional<int> host_node,
                                 const std::set<int>& accessing);

}  // namespace xferbench::cuda
