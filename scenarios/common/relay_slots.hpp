// Not a scenario: how a GPU passes on what is not for itself.
#pragma once

#include <cstddef>
#include <vector>

#include "device/device.hpp"

namespace xferbench {

/// Slots in the memory of one GPU, the helper, that copies between the host and another GPU go through, one after the
/// other: into a slot over one link by one stream, and on over the other link by another. What must be waited for
/// before what: the copy into a slot for the copy that emptied it, and the copy out of it for the copy into it. The
/// helper must reach the other GPU's memory.
class RelaySlots {
 public:
  RelaySlots(Device& helper, std::size_t slots, std::size_t slot_bytes);

  /// Passes on what `c` copies, between the host and memory of the other GPU, as number `turn` of a pass. It is no
  /// longer than a slot.
  void pass_on(const Copy& c, std::size_t turn);
  /// That it has arrived.
  [[nodiscard]] EventView arrived(std::size_t turn) const { return drained_[turn % drained_.size()]; }
  /// Where copies begin, and where they end.
  [[nodiscard]] StreamView fill() const { return fill_; }
  [[nodiscard]] StreamView drain() const { return drain_; }

  /// Before a verified pass: without it, what the pass before has left could be taken for what was not waited for.
  void poison();

 private:
  std::size_t slot_bytes_;
  DeviceBuffer memory_;
  Stream fill_;
  Stream drain_;
  std::vector<Event> filled_;  // by slot
  std::vector<Event> drained_;
};

}  // namespace xferbench
