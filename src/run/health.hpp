// Derives warnings about a case from the state of a GPU before and after it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/health.hpp"
#include "results/heap_optional.hpp"
#include "results/result.hpp"

namespace xferbench {

/// A change for the worse between two readings, or a condition that slowed the GPU down in the second one.
struct HealthChange {
  std::string flag;      ///< flag for the case's measurements: "ecc-errors", "pcie-replays", "throttle-hw-thermal"
  std::string sentence;  ///< what changed, in numbers, and what to do
  bool lasts = false;    ///< the condition was already there in the first reading
  friend bool operator==(const HealthChange&, const HealthChange&) = default;
};

/// Compares two readings. A value that is unknown in either one is no change. Nor is a value that depends on load: an
/// idle link trains down, so its generation counts only if the GPU was active in both readings. Power and temperature
/// rise under load, so they are only named as causes.
std::vector<HealthChange> health_changes(const HealthRecord& record);

/// The health of a case over all its turns. A warning from any turn is kept.
class CaseHealth {
 public:
  /// Adds a turn. Ignores a record without values.
  void note(const HealthRecord& record);
  /// Adds the latest record to the result, all flags to its measurements, and a warning for each flag.
  void add_to(Result& result) const;

 private:
  HeapOptional<HealthRecord> latest_;
  std::map<std::string, std::string> changes_;  ///< latest sentence for each flag
};

}  // namespace xferbench
