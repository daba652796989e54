// Reads maximum payload and read request sizes from PCI configuration space.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace xferbench {

/// Limits for packets on a PCIe link, in bytes; both 0 if unknown.
struct PacketSizes {
  unsigned max_payload = 0;
  unsigned max_read_request = 0;
  friend bool operator==(const PacketSizes&, const PacketSizes&) = default;
};

/// Reads the Device Control register of the PCI Express capability. Empty if `space` is too short: without
/// privileges, sysfs shows only the first 64 bytes, which point to the capabilities but do not contain them.
PacketSizes packet_sizes(std::span<const std::byte> space);

/// Packet sizes of a GPU's link, from its sysfs `folder`. The payload limit is the smaller of the GPU's and the
/// upstream port's; the read request limit is the GPU's. Unreadable values are unknown.
PacketSizes packet_sizes_of_link(const std::filesystem::path& folder);

}  // namespace xferbench
