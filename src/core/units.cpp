#include "core/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace xferbench {

namespace {

struct Unit {
  const char* name;
  std::uint64_t bytes;
};
constexpr std::array<Unit, 4> kBinary{{{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}}};

}  // namespace

std::string format_size_exact(std::uint64_t bytes, std::string_view space) {
  for (const Unit& unit : kBinary) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0)
      return fmt::format("{}{}{}", bytes / unit.bytes, space, unit.name);
  }
  return fmt::format("{}{}B", bytes, space);
}

std::string format_size(std::uint64_t bytes) {
  for (const Unit& unit : kBinary) {
    if (bytes < unit.bytes) continue;
    if (bytes % unit.bytes == 0) return fmt::format("{} {}", bytes / unit.bytes, unit.name);
    return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit.bytes), unit.name);
  }
  return fmt::format("{} B", bytes);
}

std::string format_significant(double value) {
  const double magnitude = std::abs(value);
  if (magnitude == 0) return "0";
  if (!std::isfinite(value) || magnitude >= 1e7 || magnitude < 1e-4) return fmt::format("{:.3e}", value);
  // The exponent after rounding: 99.996 has three digits before the point.
  const std::string rounded = fmt::format("{:.3e}", magnitude);
  const int exponent = std::stoi(rounded.substr(rounded.find('e') + 1));
  return fmt::format("{:.{}f}", value, std::max(0, 3 - exponent));
}

std::string format_seconds(double seconds) {
  if (seconds < 0) return fmt::format("-{}", format_seconds(-seconds));
  if (seconds < 1e-6) return format_significant(seconds * 1e9) + " ns";
  if (seconds < 1e-3) return format_significant(seconds * 1e6) + " us";
  if (seconds < 1) return format_significant(seconds * 1e3) + " ms";
  return format_significant(seconds) + " s";
}

std::string format_percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

}  // namespace xferbench
