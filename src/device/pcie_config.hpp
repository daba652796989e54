// Reads maximum payload and read request sizes from PCI configuration space.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace xferbench {

/// Limits for the size of packets on a PCIe link, in bytes; both 0 if unknown.
struct PacketSizes {
  unsigned max_payload = 0;
  unsigned max_read_request = 0;
  friend bool operator==(const PacketSizes&, const PacketSizes&) = default;
};

/// Reads the limits from the Device Control register in a device's configuration space. Returns zeros if `space` is too
/// short: without privileges, sysfs shows only the first 64 bytes, which do not contain this register.
PacketSizes packet_sizes(std::span<const std::byte> space);

/// Returns the limits of a GPU's link, from the GPU's sysfs `folder`. The payload limit is the smaller of the GPU's and
/// the upstream port's; the read request limit is the GPU's. Unreadable values are 0.
PacketSizes packet_sizes_of_link(const std::filesystem::path& folder);

}  // namespace xferbench
