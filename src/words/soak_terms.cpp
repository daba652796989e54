#include "words/soak_terms.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/lists.hpp"

namespace xferbench {

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string duration_text(double seconds) {
  constexpr std::array<std::pair<double, const char*>, 3> kUnits{{{86400, "days"}, {3600, "h"}, {60, "min"}}};
  for (const auto& [unit, name] : kUnits) {
    if (seconds >= 2 * unit && std::fmod(seconds, unit) == 0) return fmt::format("{:.0f} {}", seconds / unit, name);
  }
  return fmt::format("{:g} s", seconds);
}

std::uint64_t wrong_bytes_of(const SoakTotals& totals, int gpu) {
  return total_of(totals.loads, [gpu](const SoakLoadTotals& load) { return load.gpu == gpu ? load.wrong : 0; });
}

}  // namespace xferbench
