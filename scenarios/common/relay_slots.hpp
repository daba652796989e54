// Relays copies between the host and one GPU through the memory of another GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device/device.hpp"

namespace xferbench {

/// Slots in the memory of a helper GPU. Each copy between the host and another GPU goes into a slot over one link, by
/// one stream, and out of it over the other link, by a second stream. Events order them: a copy into a slot waits for
/// the copy that emptied it, and a copy out of it waits for the copy that filled it. The helper needs peer access to
/// the other GPU.
class RelaySlots {
 public:
  /// One slot per element of `slots`, with that many bytes, aligned to kAlignment as a separate allocation would be.
  RelaySlots(Device& helper, std::span<const std::uint64_t> slots);
  static constexpr std::uint64_t kAlignment = 256;

  /// Enqueues copy `c`, between the host and memory of the other GPU, as number `turn` of a pass. Uses slot turn modulo
  /// the number of slots, which must be at least as large as the copy.
  void pass_on(const Copy& c, std::size_t turn);
  /// Event recorded when copy number `turn` has arrived at its destination.
  [[nodiscard]] EventView arrived(std::size_t turn) const { return drained_[turn % drained_.size()]; }
  /// The streams for copies into the slots and out of them.
  [[nodiscard]] StreamView fill() const { return fill_; }
  [[nodiscard]] StreamView drain() const { return drain_; }

  /// Overwrites the slots before a verified pass; otherwise stale data of an earlier pass could hide a missing wait.
  void poison();

 private:
  std::vector<std::uint64_t> offsets_;  // byte offset of each slot
  DeviceBuffer memory_;
  Stream fill_;
  Stream drain_;
  std::vector<Event> filled_;  // per slot
  std::vector<Event> drained_;
};

}  // namespace xferbench
