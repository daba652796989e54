// What CUDA, NVML and the system say of a GPU.
#pragma once

#include <optional>
#include <string>

#include "device/types.hpp"

namespace xferbench::cuda {

[[nodiscard]] std::string pci_bus_id(int gpu);
/// That the GPU is attached to, if the system knows.
[[nodiscard]] std::optional<int> numa_node_of(int gpu);
/// Of the current GPU, which has a context; all but what it says of the host. Looks at the link under load.
[[nodiscard]] Capabilities describe_device(int gpu);

}  // namespace xferbench::cuda
