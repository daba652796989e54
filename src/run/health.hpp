// What the state of a GPU before and after a case says of the case.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/health.hpp"
#include "results/result.hpp"

namespace xferbench {

/// What changed for the worse while a case ran, and what held it back, as flags of its measurements: "ecc-errors",
/// "xid", "pcie-replays", "link-changed", "throttle-hw-thermal". What is not known on both sides is no change. The
/// link's generation says nothing: before and after, the link is idle, and trains down.
std::vector<std::string> health_flags(const HealthRecord& record);

/// Of all times that a case was measured: what was said of the machine in any of them stays said.
class CaseHealth {
 public:
  /// One more time; nothing where nothing is known.
  void note(const HealthRecord& record);
  /// The latest record, and all flags on the measurements; as warnings where there is no measurement to have them.
  void add_to(Result& result) const;

 private:
  std::optional<HealthRecord> latest_;
  std::set<std::string> flags_;
};

}  // namespace xferbench
