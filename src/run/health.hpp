// Derives warnings about a case from the health of a GPU (errors, PCIe link, clocks, temperature) before and after it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/health.hpp"
#include "results/heap_optional.hpp"
#include "results/result.hpp"

namespace xferbench {

/// A reason to distrust a case: a value got worse between the readings before and after, or the GPU was slowed down.
struct HealthChange {
  std::string flag;      ///< flag for the case's measurements, such as "pcie-replays" or "throttle-hw-thermal"
  std::string sentence;  ///< sentence for the user: what changed, in numbers, and what to do
  bool lasts = false;    ///< whether the condition was already present in the first reading
  friend bool operator==(const HealthChange&, const HealthChange&) = default;
};

/// Compares the two readings of a record. Unknown values cause no warning. Values that change with load count only in
/// part: the link generation only if the GPU was active in both readings, and the temperature only near its limit.
/// Power only explains other warnings.
std::vector<HealthChange> health_changes(const HealthRecord& record);

/// Collects the health of one case over all its turns (see measure/history.hpp). A warning from any turn is kept.
class CaseHealth {
 public:
  /// Adds the health record of one turn. A record without any values is ignored.
  void note(const HealthRecord& record);
  /// Adds the latest record and a warning for each flag to the result, and all flags to each of its measurements.
  void add_to(Result& result) const;

 private:
  HeapOptional<HealthRecord> latest_;
  std::map<std::string, std::string> changes_;  ///< the latest warning sentence for each flag
};

}  // namespace xferbench
