// What the state of a GPU before and after a case says of the case.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/health.hpp"
#include "results/boxed.hpp"
#include "results/result.hpp"

namespace xferbench {

/// What changed for the worse between two looks, or held the GPU back in the second one.
struct HealthChange {
  std::string flag;      ///< of a case's measurements: "ecc-errors", "pcie-replays", "throttle-hw-thermal"
  std::string sentence;  ///< what it was, in numbers, and what to do
  bool lasts = false;    ///< it was so in the first look as well
  friend bool operator==(const HealthChange&, const HealthChange&) = default;
};

/// What is not known on both sides is no change. Nor is what comes and goes with work: an idle link trains down, so its
/// generation counts only where the GPU was awake in both looks; power and temperature rise under load, so they are
/// named where they are the reason for something.
std::vector<HealthChange> health_changes(const HealthRecord& record);

/// Of all times that a case was measured: what was said of the machine in any of them stays said.
class CaseHealth {
 public:
  /// One more time; nothing where nothing is known.
  void note(const HealthRecord& record);
  /// The latest record, all flags on the measurements, and a warning for each of them.
  void add_to(Result& result) const;

 private:
  Boxed<HealthRecord> latest_;
  std::map<std::string, std::string> changes_;  ///< sentences by flag, the latest of each
};

}  // namespace xferbench
