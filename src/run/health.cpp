#include "run/health.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "run/runner.hpp"

namespace xferbench {

namespace {

/// A counter may begin anew when the driver is loaded again; less than before is no error.
template <class Count>
bool grew(const std::optional<Count>& before, const std::optional<Count>& after) {
  return before && after && *after > *before;
}

}  // namespace

std::vector<std::string> health_flags(const HealthRecord& record) {
  // Those that are there in idle times or on purpose (application clocks) are none.
  constexpr std::array<std::string_view, 5> kThatMatter{"power-cap", "hw-slowdown", "sw-thermal", "hw-thermal",
                                                        "power-brake"};
  const auto& [before, after] = record;
  std::vector<std::string> flags;
  if (grew(before.ecc_corrected, after.ecc_corrected) || grew(before.ecc_uncorrected, after.ecc_uncorrected)) {
    flags.emplace_back("ecc-errors");
  }
  if (after.xids && !after.xids->empty()) flags.emplace_back("xid");
  if (grew(before.pcie_replays, after.pcie_replays)) flags.emplace_back("pcie-replays");
  if (before.link_width && after.link_width && *before.link_width != *after.link_width) {
    flags.emplace_back("link-changed");
  }
  if (!after.throttle) return flags;
  for (const std::string_view reason : kThatMatter) {
    if (std::ranges::find(*after.throttle, reason) == after.throttle->end()) continue;
    flags.push_back("throttle-" + std::string(reason));
  }
  return flags;
}

void CaseHealth::note(const HealthRecord& record) {
  if (record == HealthRecord{}) return;
  latest_ = record;
  for (std::string& flag : health_flags(record)) flags_.insert(std::move(flag));
}

void CaseHealth::add_to(Result& result) const {
  if (latest_) result.health = latest_;
  for (const std::string& flag : flags_) {
    for (Measurement& m : result.measurements) {
      if (std::ranges::find(m.flags, flag) == m.flags.end()) m.flags.push_back(flag);
    }
    // warn() tells of flags; without a measurement there is none to have it.
    if (result.measurements.empty()) result.warnings.push_back(flag + ": " + std::string(advice_on(flag)));
  }
}

}  // namespace xferbench
