#include "run/health.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench {

namespace {

using Changes = std::vector<HealthChange>;

bool contains(const std::optional<std::vector<std::string>>& words, std::string_view word) {
  return words && std::ranges::find(*words, word) != words->end();
}

/// Returns by how much a counter grew; 0 if a reading is unknown or the counter was reset (driver reloaded).
template <class Count>
Count grown(const std::optional<Count>& before, const std::optional<Count>& after) {
  return before && after && *after > *before ? *after - *before : 0;
}

void add_errors(const Health& before, const Health& after, Changes& changes) {
  const std::uint64_t lost = grown(before.ecc_uncorrected, after.ecc_uncorrected);
  if (const std::uint64_t all = grown(before.ecc_corrected, after.ecc_corrected) + lost; all > 0) {
    changes.push_back({"ecc-errors", fmt::format("GPU memory had {} during the case, {} of them uncorrected; check "
                                                 "nvidia-smi -q -d ECC before you trust this GPU",
                                                 counted(all, "error"), lost)});
  }
  if (after.xids && !after.xids->empty()) {
    changes.push_back(
        {"xid", fmt::format("the driver reported critical GPU errors (Xid {}); look for NVRM: Xid in the kernel log",
                            fmt::join(*after.xids, ", "))});
  }
}

/// Whether the GPU was active at this reading. An idle GPU lowers its PCIe link generation, so that the reading says
/// nothing about the slot.
bool awake(const Health& health) { return health.throttle && !contains(health.throttle, "idle"); }

void add_link(const Health& before, const Health& after, Changes& changes) {
  constexpr const char* kAdvice = "check the card's slot and riser";
  if (const std::uint64_t replays = grown(before.pcie_replays, after.pcie_replays); replays > 0) {
    changes.push_back({"pcie-replays", fmt::format("the link resent {} during the case, which costs bandwidth; {}",
                                                   counted(replays, "packet"), kAdvice)});
  }
  if (before.link_width && after.link_width && *before.link_width != *after.link_width) {
    changes.push_back({"link-changed", fmt::format("the link had {} lanes before the case and {} after it; {}",
                                                   *before.link_width, *after.link_width, kAdvice)});
  } else if (awake(before) && awake(after) && grown(after.link_generation, before.link_generation) > 0) {
    changes.push_back(
        {"link-changed", fmt::format("the link dropped from generation {} to {} although the GPU was not idle; {}",
                                     *before.link_generation, *after.link_generation, kAdvice)});
  }
}

/// Formats a reading, for example " at 85 degrees C" or " at 698 W"; empty if it is unknown.
std::string at(const std::optional<double>& value, std::string_view unit) {
  return value ? fmt::format(" at {:.0f} {}", *value, unit) : "";
}

void add_clocks(const Health& before, const Health& after, Changes& changes) {
  const std::string heat = at(after.temperature, "degrees C");
  const std::string power = at(after.power, "W");
  // Throttle reasons that are normal are left out: an idle GPU, and clocks that a user has set (application clocks).
  const std::array<std::pair<std::string_view, std::string>, 5> reasons{{
      {"power-cap", "the power limit reduces the GPU's clocks" + power + "; check nvidia-smi -q -d POWER"},
      {"hw-slowdown", "hardware slowdown: the GPU reduced its clocks" + heat + "; check its cooling and power supply"},
      {"sw-thermal", "the GPU is too hot" + heat + ", so the driver reduces its clocks; check its cooling"},
      {"hw-thermal", "the GPU is too hot" + heat + ", so it reduces its clocks; check its cooling"},
      {"power-brake", "the server's power brake reduces the GPU's clocks" + power + "; check the power supplies"},
  }};
  for (const auto& [reason, sentence] : reasons) {
    if (!contains(after.throttle, reason)) continue;
    changes.push_back({fmt::format("throttle-{}", reason), sentence, contains(before.throttle, reason)});
  }
}

bool is_hot(const Health& health) {
  constexpr double kNear = 3;  // degrees Celsius; sensors resolve 1 degree, and a chip under load varies by 1 or 2
  return health.temperature && health.temperature_limit && *health.temperature >= *health.temperature_limit - kNear;
}

void add_heat(const Health& before, const Health& after, Changes& changes) {
  if (!is_hot(after)) return;
  changes.push_back({"hot",
                     fmt::format("the GPU is at {:.0f} degrees C and reduces its clocks at {:.0f}; check its cooling",
                                 *after.temperature, *after.temperature_limit),
                     is_hot(before)});
}

}  // namespace

std::vector<HealthChange> health_changes(const HealthRecord& record) {
  Changes changes;
  add_errors(record.before, record.after, changes);
  add_link(record.before, record.after, changes);
  add_clocks(record.before, record.after, changes);
  add_heat(record.before, record.after, changes);
  return changes;
}

void CaseHealth::note(const HealthRecord& record) {
  if (record == HealthRecord{}) return;
  latest_ = record;
  for (const HealthChange& change : health_changes(record)) {
    changes_[change.flag] = change.sentence + (change.lasts ? " (also before the case)" : "");
  }
}

void CaseHealth::add_to(Result& result) const {
  if (latest_) result.health = latest_;
  for (const auto& [flag, sentence] : changes_) {
    for (Measurement& m : result.measurements) add_new(m.flags, flag);
    result.warnings.push_back(fmt::format("{}: {}", flag, sentence));
  }
}

}  // namespace xferbench
