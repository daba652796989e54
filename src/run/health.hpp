// What the state of a GPU before and after a case says of the case.
#pragma once

#include <string>
#include <vector>

#include "core/health.hpp"

namespace xferbench {

/// What changed for the worse while a case ran, and what held it back, as flags of its measurements: "ecc-errors",
/// "xid", "pcie-replays", "link-changed", "throttle-hw-thermal". What is not known on both sides is no change. The
/// link's generation says nothing: before and after, the link is idle, and trains down.
std::vector<std::string> health_flags(const HealthRecord& record);

}  // namespace xferbench
