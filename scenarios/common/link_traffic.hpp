// What a link carries while copies run, beside what their payload and its packets should make.
#pragma once

#include <cstdint>

#include "measure/region.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"

namespace xferbench {

/// Bytes of payload of one pass of a region.
struct LinkPayload {
  std::uint64_t to_gpu = 0;
  std::uint64_t to_host = 0;
};

/// Runs long passes again, untimed, while the driver counts the bytes on the link, and adds metrics link_to_gpu and
/// link_to_host: so many for each byte of payload one way, and what model/pcie.hpp says of them. Nothing where the
/// driver does not count, or passes are so short that other traffic would show. Other programs' traffic counts as well.
void report_link_traffic(const RunContext& bench, const Region& region, LinkPayload payload, Result& result);

}  // namespace xferbench
