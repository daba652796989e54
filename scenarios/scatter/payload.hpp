// The buffers of a scattered payload in one direction, with the copies of all pieces and the check of every byte.
#pragma once

#include <cstddef>
#include <string_view>

#include "device/device.hpp"
#include "device/memory.hpp"
#include "scenarios/scatter/case.hpp"

namespace xferbench {

class ScatteredPayload {
 public:
  /// Allocates all buffers. The case must be legal.
  ScatteredPayload(Device& device, const ScatterCase& c, Direction direction, std::uint64_t seed);

  /// Returns one copy for each piece, in the order of the pieces.
  [[nodiscard]] const std::vector<Copy>& copies() const { return copies_; }
  /// Returns one contiguous copy of as many bytes, in buffers that no other copy uses.
  [[nodiscard]] Copy whole() const;

  /// Fills the source, with other data in the gaps between pieces, and computes what the destination must hold.
  void prepare();
  /// Overwrites the destination, including the gaps.
  void poison();
  /// Throws VerificationError if a piece has a wrong byte, or if a byte of a gap was written. `what` begins its
  /// message.
  void check(std::string_view what);

 private:
  [[nodiscard]] bool source_on_host() const { return direction_ == Direction::h2d; }
  [[nodiscard]] bool destination_on_host() const { return direction_ == Direction::d2h; }
  /// Returns the source's contents in host memory.
  [[nodiscard]] std::span<std::byte> source_image();

  Device& device_;
  Direction direction_;
  std::uint64_t seed_;
  std::size_t bytes_;  // bytes of all pieces
  HostBuffer host_;    // source or destination of copies over the link
  DeviceBuffer source_;
  DeviceBuffer destination_;
  HostBuffer image_;     // contents of a source on the GPU
  HostBuffer expected_;  // contents of the destination after a pass
  HostBuffer arrived_;   // contents of a destination on the GPU, for the check
  HostBuffer whole_host_;
  DeviceBuffer whole_device_;
  DeviceBuffer whole_other_;  // second device buffer of whole(), for d2d
  std::vector<Copy> copies_;
};

MemoryNeeds needs_of(const ScatterCase& c);

}  // namespace xferbench
