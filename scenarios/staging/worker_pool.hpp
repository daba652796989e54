// The payload of scenario staging, and the threads that move it through pinned memory.
#pragma once

#include <cstddef>

#include "device/device.hpp"
#include "device/memory.hpp"
#include "device/types.hpp"
#include "model/partition.hpp"
#include "scenarios/common/slot_workers.hpp"
#include "scenarios/staging/case.hpp"

namespace xferbench {

/// A payload in pageable host memory, its counterpart on the device, and pinned memory of equal size for comparison.
struct StagedPayload {
  Direction direction;
  HostBuffer host;
  HostBuffer pinned;
  DeviceBuffer device;
  PayloadPart part{};  // the part of `host` and `pinned` that is moved

  [[nodiscard]] std::size_t bytes() const { return host.bytes; }
  /// Returns the copy between `on_host` and the place of `chunk` in device memory. Offset and length of `chunk` are in
  /// bytes.
  [[nodiscard]] Copy copy(std::byte* on_host, const model::Chunk& chunk) const {
    std::byte* on_device = device.data + chunk.first;
    return direction == Direction::h2d ? Copy{on_device, on_host, chunk.count, Direction::h2d}
                                       : Copy{on_host, on_device, chunk.count, Direction::d2h};
  }
};

/// Creates the threads of a case for which StagingCase::has_workers() is true. `payload` must outlive them.
std::unique_ptr<WorkerPool> make_worker_pool(Device& device, const StagedPayload& payload, const StagingCase& c);

}  // namespace xferbench
