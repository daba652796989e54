// What the configuration space of a PCI device says of its packets.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace xferbench {

/// In bytes; 0, both of them, is unknown.
struct PacketSizes {
  unsigned max_payload = 0;
  unsigned max_read_request = 0;
  friend bool operator==(const PacketSizes&, const PacketSizes&) = default;
};

/// From the Device Control register of the PCI Express capability. Nothing where `space` ends before it: without
/// privileges the system shows its first 64 bytes only, which hold where capabilities begin but none of them.
PacketSizes packet_sizes(std::span<const std::byte> space);

/// Of a link to a GPU, of which sysfs tells in `folder`: what a packet may carry for the GPU and for the port above it,
/// the smaller of both, and what the GPU may ask for at once. What was not readable is unknown.
PacketSizes packet_sizes_of_link(const std::filesystem::path& folder);

}  // namespace xferbench
