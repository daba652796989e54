// Not a scenario: what staging moves, and threads that get it across together.
#pragma once

#include <cstddef>
#include <memory>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "device/memory.hpp"
#include "device/types.hpp"
#include "model/partition.hpp"
#include "scenarios/staging/case.hpp"

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

class Crew : NonCopyable {
 public:
  virtual ~Crew() = default;

  /// Gets the whole payload across once, and returns when it has arrived. Rethrows what a thread threw.
  virtual void carry() = 0;
};

/// The threads of a case that has such (StagingCase::has_crew()), with all that they need. The payload outlives them.
std::unique_ptr<Crew> make_crew(Device& device, const StagedPayload& payload, const StagingCase& c);

}  // namespace xferbench
