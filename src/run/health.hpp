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

/// Compares the two readings of a record. A value that is unknown in either reading causes no warning. Neither do
/// values that change with load: the link generation counts only if the GPU was active in both readings, and power and
/// temperature only explain other warnings.
std::vector<HealthChange> health_changes(const HealthRecord& record);

/// Collects the health of one case over all its turns (see measure/history.hpp). A warning from any turn is kept.
class CaseHealth {
 public:
  /// Adds the health record of one turn. A record without any values is ignored.
  void note(const HealthRecord& record);
  /// Adds to the result: the latest record, a warning for each flag, and all flags to each measurement.
  void add_to(Result& result) const;

 private:
  HeapOptional<HealthRecord> latest_;
  std::map<std::string, std::string> changes_;  ///< the latest warning sentence for each flag
};

}  // namespace xferbench
