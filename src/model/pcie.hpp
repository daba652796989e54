// What the packets of a PCI Express link leave of it for payload. Pure functions.
// Derivation, and what is left out: docs/lab/memcpy.md, "The PCIe limit".
#pragma once

#include <optional>

#include "core/environment.hpp"

namespace xferbench::model {

/// Bytes of payload of a packet, and of what a read request asks for. Configuration space tells the first, and what a
/// GPU may ask for, not what it asks for: that is taken to be 256 where so much is allowed, since the rates of an H200
/// that copies both ways fit such requests. Where it does not tell, payloads are taken to be 256, too, as is common.
struct PciePackets {
  unsigned payload = 256;
  unsigned read_request = 256;              ///< always assumed
  std::optional<unsigned> allowed_request;  ///< read, as the payload then is; else both are assumed
};
PciePackets pcie_packets(const Environment::Pcie& link);

/// Bytes on the link for each byte of payload. To the GPU data comes as completions of its read requests, which
/// themselves go the other way; from the GPU it goes as memory writes.
struct PcieCost {
  double completions = 1;  ///< towards the GPU, for a byte to the GPU
  double requests = 0;     ///< towards the host, for a byte to the GPU
  double writes = 1;       ///< towards the host, for a byte to the host
};
PcieCost pcie_cost(const Environment::Pcie& link);

/// Bytes of payload per second that a link carries at most. 0 where that is not known.
struct PcieLimits {
  double h2d = 0;
  double d2h = 0;
  double both = 0;  ///< of both directions together, while as much goes each way: writes share their lane with requests
};
/// Of a link of which nothing is known, or of a generation that these functions do not know, nothing is.
PcieLimits pcie_limits(const std::optional<Environment::Pcie>& link);

}  // namespace xferbench::model
