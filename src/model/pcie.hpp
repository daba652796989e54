// Computes the payload rate of a PCIe link from its packet overhead. Pure functions. Derivation and omissions:
// docs/lab/memcpy.md, "The PCIe limit".
#pragma once

#include <optional>

#include "core/environment.hpp"

namespace xferbench::model {

/// Bytes of payload per packet, and bytes per read request. Configuration space gives the maximum of both, but not the
/// size of the GPU's actual requests. That size is assumed to be 256 if permitted, because 256 explains the rates of an
/// H200 that copies in both directions. Without configuration data the payload is assumed to be 256 as well, a common
/// value.
struct PciePackets {
  unsigned payload = 256;
  unsigned read_request = 256;              ///< actual request size in bytes; always an assumption
  std::optional<unsigned> allowed_request;  ///< maximum read request in bytes; nothing if unknown
};
PciePackets pcie_packets(const Environment::Pcie& link);

/// Bytes on the link per byte of payload. Data to the GPU arrives as completions of read requests, which the GPU sends
/// in the other direction; data from the GPU is sent as memory writes.
struct PcieCost {
  double completions = 1;  ///< bytes sent to the GPU per byte of an H2D copy
  double requests = 0;     ///< bytes sent to the host per byte of an H2D copy
  double writes = 1;       ///< bytes sent to the host per byte of a D2H copy
};
PcieCost pcie_cost(const Environment::Pcie& link);

/// Maximum payload rate of a link in bytes per second; 0 if unknown.
struct PcieLimits {
  double h2d = 0;
  double d2h = 0;
  double both = 0;  ///< sum of both directions with equal payloads; D2H writes share lanes with read requests
};
/// Returns the limits of a link; all are 0 for an unknown link and for generations 6 and later.
PcieLimits pcie_limits(const std::optional<Environment::Pcie>& link);

}  // namespace xferbench::model
