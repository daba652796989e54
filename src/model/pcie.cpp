#include "model/pcie.hpp"

#include <algorithm>
#include <array>

namespace xferbench::model {

namespace {

// PCI Express Base Specification, revision 5.0. Around each packet of the transaction layer lie a sequence number and
// a link CRC of 4 bytes (3.6.2) and framing: from 8 GT/s on the STP token, 4 bytes that hold the sequence number too
// (4.2.2.3.1); before, a sequence number of 2 bytes between an STP and an END symbol (4.2.1.2). Both make 8 bytes. The
// digest with the end-to-end CRC (2.7.1) is off unless somebody asked for it.
constexpr double kAround = 8;
// Requests for memory above 4 GiB have a header of four double words, as addresses there take 64 bits (2.2.4.1, 2.2.7).
constexpr double kRequest = 16 + kAround;
// Completions carry no address: three double words (2.2.9).
constexpr double kCompletion = 12 + kAround;

/// Bytes per second of each direction's lanes, less their encoding: 128b/130b from 8 GT/s on (4.2.2), 8b/10b before
/// (4.2.1). Generation 6 sends flits, whose overhead is another.
double lane_rate(const Environment::Pcie& link) {
  constexpr std::array<double, 6> kTransfers{0, 2.5e9, 5e9, 8e9, 16e9, 32e9};  // per second and lane
  if (link.generation >= kTransfers.size()) return 0;
  const double encoding = link.generation >= 3 ? 128.0 / 130.0 : 8.0 / 10.0;
  return kTransfers[link.generation] / 8 * link.width * encoding;
}

}  // namespace

PciePackets pcie_packets(const Environment::Pcie& link) {
  if (link.max_payload == 0 || link.max_read_request == 0) return {};
  // What a GPU may ask for is not what it asks for: an H200 that was allowed 4096 bytes sent 0.094 bytes to the host
  // for each that it read, by NVML's counters, which are requests of 256.
  constexpr unsigned kAsksFor = 256;
  return {link.max_payload, std::min(link.max_read_request, kAsksFor), link.max_read_request};
}

PcieCost pcie_cost(const Environment::Pcie& link) {
  const PciePackets packets = pcie_packets(link);
  // One request may be answered by several completions, none larger than a packet may be (2.2.2, 2.3.1.1).
  return {.completions = 1 + kCompletion / std::min(packets.payload, packets.read_request),
          .requests = kRequest / packets.read_request,
          .writes = 1 + kRequest / packets.payload};
}

PcieLimits pcie_limits(const std::optional<Environment::Pcie>& link) {
  if (!link) return {};
  const double rate = lane_rate(*link);
  const PcieCost cost = pcie_cost(*link);
  const double h2d = rate / cost.completions;
  // Each byte both ways puts that much on the busier of the two directions.
  const double each_way = rate / std::max(cost.completions, cost.requests + cost.writes);
  return {.h2d = h2d, .d2h = rate / cost.writes, .both = 2 * each_way};
}

}  // namespace xferbench::model
