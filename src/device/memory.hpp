// Memory of a device and of the host, as views and as owners.
#pragma once

#include <cstddef>
#include <memory>

#include "device/owned.hpp"
#include "device/types.hpp"

namespace xferbench {

struct DeviceView {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

struct HostView {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  HostMemory kind = HostMemory::pageable;
};

/// Given back at once, or in a stream's order if a stream allocated it.
using DeviceBuffer = Owned<DeviceView>;
using HostBuffer = Owned<HostView>;
/// Memory that is pinned in place, and somebody else's. Ends the pinning.
using Registration = std::unique_ptr<Resource>;

/// Whether host memory gets its pages when it is allocated. Page-locked memory always does.
enum class Prefault { yes, no };

}  // namespace xferbench
