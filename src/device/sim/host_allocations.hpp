// Host memory that the simulated machine has handed out.
#pragma once

#include <cstddef>
#include <map>

#include "device/memory.hpp"
#include "device/pages.hpp"
#include "device/types.hpp"

namespace xferbench::sim {

/// By address: to know a pageable pointer as the driver does.
class HostAllocations {
 public:
  HostView add(std::size_t bytes, HostMemory kind);
  void remove(const std::byte* data) { allocations_.erase(data); }
  /// Throws DeviceError unless it is ordinary memory that was handed out and is not pinned yet.
  void pin(const HostView& memory);
  void unpin(const std::byte* data);
  /// Small pages for what is not touched yet of an allocation; false if it was not handed out here.
  bool prefer_small_pages(const std::byte* data);
  /// Whether the host's side of a copy is ordinary memory: what was not handed out here is.
  [[nodiscard]] bool pageable(const Copy& copy) const;

 private:
  struct Allocation {
    Pages pages;
    HostMemory kind;
    bool registered = false;
  };
  using ByAddress = std::map<const std::byte*, Allocation>;
  [[nodiscard]] ByAddress::const_iterator holder_of(const std::byte* address) const;

  ByAddress allocations_;
};

}  // namespace xferbench::sim
