// Not a scenario: what staging moves.
#pragma once

#include <cstddef>

#include "device/memory.hpp"
#include "device/types.hpp"
#include "model/partition.hpp"

namespace xferbench {

/// A payload in ordinary host memory, its counterpart on the device, and the same in pinned memory to compare with.
struct StagedPayload {
  Direction direction;
  HostBuffer host;
  HostBuffer pinned;
  DeviceBuffer device;
  PayloadPart part{};  // of host and pinned

  [[nodiscard]] std::size_t bytes() const { return host.bytes; }
  /// `chunk` in bytes.
  [[nodiscard]] Copy copy(std::byte* on_host, const model::Chunk& chunk) const {
    std::byte* on_device = device.data + chunk.first;
    return direction == Direction::h2d ? Copy{on_device, on_host, chunk.count, Direction::h2d}
                                       : Copy{on_host, on_device, chunk.count, Direction::d2h};
  }
};

}  // namespace xferbench
