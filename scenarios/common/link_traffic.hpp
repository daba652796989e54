// Measures the bytes on the link during copies, to compare them with a model of PCIe packets.
#pragma once

#include "measure/region.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Payload bytes per direction in one pass of a region.
struct LinkPayload {
  std::uint64_t to_gpu = 0;
  std::uint64_t to_host = 0;
};

/// Runs further passes of the region, untimed, while the driver counts the bytes on the link. Adds the metrics
/// link_to_gpu and link_to_host: bytes on the link per payload byte in that direction, each with the prediction of
/// model/pcie.hpp. Adds nothing if the driver has no counters, or if passes are so short that other traffic would
/// matter. The counters include traffic of other programs.
void report_link_traffic(const RunContext& bench, const Region& region, LinkPayload payload, Result& result);

}  // namespace xferbench
