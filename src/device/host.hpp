// The machine around the GPU.
#pragma once

#include <cstdint>
#include <optional>

#include "core/environment.hpp"

namespace xferbench {

/// Facts for reports: CPU, memory, kernel, and the NUMA node of the calling thread. Call it after place_process().
Environment::Host describe_host();

/// Bytes of host memory that can be taken now without swapping, within this process's control group and from the NUMA
/// nodes that the calling thread is bound to; nothing where the system does not tell.
std::optional<std::uint64_t> available_host_memory();

}  // namespace xferbench
