#include "device/sim/host_allocations.hpp"

#include <iterator>
#include <utility>

#include "core/error.hpp"

namespace xferbench::sim {

HostView HostAllocations::add(std::size_t bytes, HostMemory kind) {
  Pages pages(bytes);
  const HostView memory{pages.data(), bytes, kind};
  allocations_.emplace(memory.data, Allocation{std::move(pages), kind});
  return memory;
}

HostAllocations::ByAddress::const_iterator HostAllocations::holder_of(const std::byte* address) const {
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return allocations_.end();
  const auto before = std::prev(next);
  return address < before->first + before->second.pages.size() ? before : allocations_.end();
}

void HostAllocations::pin(const HostView& memory) {
  const auto holder = holder_of(memory.data);
  if (holder == allocations_.end() || !is_pageable(holder->second.kind) || holder->second.registered) {
    throw DeviceError("registering host memory", "it is not ordinary memory of this device");
  }
  allocations_.at(holder->first).registered = true;
}

void HostAllocations::unpin(const std::byte* data) {
  const auto holder = holder_of(data);
  if (holder != allocations_.end()) allocations_.at(holder->first).registered = false;
}

bool HostAllocations::prefer_small_pages(const std::byte* data) {
  const auto holder = holder_of(data);
  if (holder == allocations_.end()) return false;
  allocations_.at(holder->first).pages.prefer(PageSize::small);
  return true;
}

bool HostAllocations::pageable(const Copy& c) const {
  if (c.direction == Direction::d2d) return false;
  const auto holder = holder_of(c.direction == Direction::h2d ? c.source : c.destination);
  return holder == allocations_.end() || (is_pageable(holder->second.kind) && !holder->second.registered);
}

}  // namespace xferbench::sim
