#include "model/pcie.hpp"

#include <algorithm>
#include <array>

namespace xferbench::model {

namespace {

// PCI Express Base Specification, revision 5.0. Each transaction layer packet has 8 extra bytes: a link CRC of 4
// bytes (3.6.2), and 4 bytes for framing and sequence number. From 8 GT/s on these are the STP token, which includes
// the sequence number (4.2.2.3.1); before, a 2-byte sequence number and the STP and END symbols (4.2.1.2). The
// optional digest with the end-to-end CRC (2.7.1) is normally off.
constexpr double kAround = 8;
// Memory requests above 4 GiB have a header of four double words, with a 64-bit address (2.2.4.1, 2.2.7).
constexpr double kRequest = 16 + kAround;
// Completions have no address: a header of three double words (2.2.9).
constexpr double kCompletion = 12 + kAround;

/// Returns bytes per second of a lane in one direction after line encoding: 128b/130b from 8 GT/s on (4.2.2), 8b/10b
/// before (4.2.1). Returns 0 for generation 6 and later, whose flits have another overhead.
double lane_rate(const Environment::Pcie& link) {
  constexpr std::array<double, 6> kTransfers{0, 2.5e9, 5e9, 8e9, 16e9, 32e9};  // transfers per second and lane
  if (link.generation >= kTransfers.size()) return 0;
  const double encoding = link.generation >= 3 ? 128.0 / 130.0 : 8.0 / 10.0;
  return kTransfers[link.generation] / 8 * link.width * encoding;
}

}  // namespace

PciePackets pcie_packets(const Environment::Pcie& link) {
  if (link.max_payload == 0 || link.max_read_request == 0) return {};
  // A GPU may use smaller requests than permitted. By NVML's counters, an H200 that was permitted 4096 bytes sent 0.094
  // bytes to the host per byte read, which corresponds to requests of 256 bytes.
  constexpr unsigned kAsksFor = 256;
  return {link.max_payload, std::min(link.max_read_request, kAsksFor), link.max_read_request};
}

PcieCost pcie_cost(const Environment::Pcie& link) {
  const PciePackets packets = pcie_packets(link);
  // A request may be answered by several completions, none larger than the maximum payload (2.2.2, 2.3.1.1).
  return {.completions = 1 + kCompletion / std::min(packets.payload, packets.read_request),
          .requests = kRequest / packets.read_request,
          .writes = 1 + kRequest / packets.payload};
}

PcieLimits pcie_limits(const std::optional<Environment::Pcie>& link) {
  if (!link) return {};
  const double rate = lane_rate(*link);
  const PcieCost cost = pcie_cost(*link);
  const double h2d = rate / cost.completions;
  // If as much payload moves H2D as D2H, the limit is the direction of the link with more bytes per payload byte.
  const double each_way = rate / std::max(cost.completions, cost.requests + cost.writes);
  return {.h2d = h2d, .d2h = rate / cost.writes, .both = 2 * each_way};
}

}  // namespace xferbench::model
