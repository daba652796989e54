// Not a scenario: how a GPU passes on what is not for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.hpp"

namespace xferbench {

/// Slots in the memory of one GPU, the helper, that copies between the host and another GPU go through, one after the
/// other: into a slot over one link by one stream, and on over the other link by another. What must be waited for
/// before what: the copy into a slot for the copy that emptied it, and the copy out of it for the copy into it. The
/// helper must reach the other GPU's memory.
class RelaySlots {
 public:
  /// A slot of so many bytes each. A slot begins at a multiple of kAlignment, as memory of its own would.
  RelaySlots(Device& helper, std::span<const std::uint64_t> slots);
  static constexpr std::uint64_t kAlignment = 256;

  /// Passes on what `c` copies, between the host and memory of the other GPU, as number `turn` of a pass. It is no
  /// longer than the slot whose turn that is: turns take the slots one after the other.
  void pass_on(const Copy& c, std::size_t turn);
  /// That it has arrived.
  [[nodiscard]] EventView arrived(std::size_t turn) const { return drained_[turn % drained_.size()]; }
  /// Where copies begin, and where they end.
  [[nodiscard]] StreamView fill() const { return fill_; }
  [[nodiscard]] StreamView drain() const { return drain_; }

  /// Before a verified pass: without it, what the pass before has left could be taken for what was not waited for.
  void poison();

 private:
  std::vector<std::uint64_t> offsets_;  // by slot
  DeviceBuffer memory_;
  Stream fill_;
  Stream drain_;
  std::vector<Event> filled_;  // by slot
  std::vector<Event> drained_;
};

}  // namespace xferbench
