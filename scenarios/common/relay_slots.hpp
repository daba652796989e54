// Relays copies between the host and one GPU through the memory of another GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.hpp"

namespace xferbench {

/// Owns slots (buffers) in the memory of a helper GPU that relays copies between the host and another GPU. Each such
/// copy goes into a slot over one link, in one stream, and out of the slot over the other link, in a second stream.
/// Events order them: a copy into a slot waits until the previous copy out of the slot has ended, and a copy out of a
/// slot waits until the copy into it has ended. The helper needs peer access to the other GPU.
class RelaySlots {
 public:
  /// Creates one slot per element of `slots`, which is the slot's size in bytes. Slots are aligned to kAlignment bytes.
  RelaySlots(Device& helper, std::span<const std::uint64_t> slots);
  static constexpr std::uint64_t kAlignment = 256;

  /// Enqueues copy `c` between the host and the other GPU. `turn` is the number of the copy in the pass, from 0. The
  /// copy uses slot `turn` modulo the number of slots. This slot must be at least as large as the copy.
  void pass_on(const Copy& c, std::size_t turn);
  /// Returns the event that is recorded when copy number `turn` has arrived at its destination.
  [[nodiscard]] EventView arrived(std::size_t turn) const { return drained_[turn % drained_.size()]; }
  /// The streams for copies into the slots and out of them.
  [[nodiscard]] StreamView fill() const { return fill_; }
  [[nodiscard]] StreamView drain() const { return drain_; }

  /// Overwrites the slots before a verified pass; otherwise stale data of an earlier pass could hide a missing wait.
  void poison();

 private:
  std::vector<std::uint64_t> offsets_;
  DeviceBuffer memory_;
  Stream fill_;
  Stream drain_;
  std::vector<Event> filled_;  // per slot: recorded when the copy into the slot has ended
  std::vector<Event> drained_;
};

}  // namespace xferbench
