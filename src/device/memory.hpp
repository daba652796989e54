// Views and owners of device and host memory.
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
  bool read_only = false;  ///< a mapping that may not be written; page-locked for reading only
};

/// Owner of device memory. The destructor waits for the devices that can access the memory, and frees it.
using DeviceBuffer = Owned<DeviceView>;
using HostBuffer = Owned<HostView>;
/// Owner of the registration of host memory that was pinned in place. The destructor only unpins the memory.
using Registration = std::unique_ptr<Resource>;

/// Whether host memory is faulted in when it is allocated. Page-locked memory is always faulted in.
enum class Prefault { yes, no };

}  // namespace xferbench
