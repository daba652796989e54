#include "device/pcie_config.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

namespace xferbench {

namespace {

/// Reads a little-endian 16-bit word; 0 beyond the end of `space`.
unsigned word_at(std::span<const std::byte> space, std::size_t offset) {
  if (offset + 2 > space.size()) return 0;
  return std::to_integer<unsigned>(space[offset]) | std::to_integer<unsigned>(space[offset + 1]) << 8U;
}

/// Decodes a 3-bit size field: 128, 256, ... 4096 bytes; 0 for the two reserved encodings.
unsigned size_in(unsigned bits) {
  constexpr unsigned kLargest = 5;
  return (bits & 7U) <= kLargest ? 128U << (bits & 7U) : 0;
}

std::vector<std::byte> configuration_space(const std::filesystem::path& folder) {
  std::array<char, 256> text{};  // the capability list lies in the first 256 bytes (conventional PCI space)
  std::ifstream file(folder / "config", std::ios::binary);
  file.read(text.data(), text.size());
  std::vector<std::byte> space(static_cast<std::size_t>(file.gcount()));
  std::ranges::transform(text.begin(), text.begin() + file.gcount(), space.begin(),
                         [](char c) { return static_cast<std::byte>(c); });
  return space;
}

}  // namespace

// PCI Express Base Specification, revision 5.0, 7.5.1.1.11 (capabilities pointer), 7.5.3.1 (capability list)
// and 7.5.3.4 (Device Control).
PacketSizes packet_sizes(std::span<const std::byte> space) {
  constexpr std::size_t kFirstCapability = 0x34;
  constexpr std::size_t kHeader = 0x40;
  constexpr unsigned kPciExpress = 0x10;
  constexpr std::size_t kDeviceControl = 8;
  std::size_t at = word_at(space, kFirstCapability) & 0xFCU;
  // A damaged list of capabilities may be circular, so the loop is limited to the number of entries that fit.
  for (std::size_t left = (256 - kHeader) / 4; left > 0 && at >= kHeader && at < space.size(); --left) {
    const unsigned head = word_at(space, at);
    if ((head & 0xFFU) != kPciExpress) {
      at = head >> 8U & 0xFCU;
      continue;
    }
    if (at + kDeviceControl + 2 > space.size()) break;
    const unsigned control = word_at(space, at + kDeviceControl);
    const PacketSizes sizes{.max_payload = size_in(control >> 5U), .max_read_request = size_in(control >> 12U)};
    return sizes.max_payload > 0 && sizes.max_read_request > 0 ? sizes : PacketSizes{};
  }
  return {};
}

PacketSizes packet_sizes_of_link(const std::filesystem::path& folder) {
  PacketSizes sizes = packet_sizes(configuration_space(folder));
  const unsigned port = packet_sizes(configuration_space(folder / "..")).max_payload;
  if (port > 0 && sizes.max_payload > 0) sizes.max_payload = std::min(sizes.max_payload, port);
  return sizes;
}

}  // namespace xferbench
