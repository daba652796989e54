#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

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

std::uint64_t whole_bytes(double bytes) {
  // A conversion of what does not fit would be undefined. The comparison is false for what is no number.
  return bytes > 0 ? static_cast<std::uint64_t>(std::llround(std::min(bytes, 9e18))) : 0;
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
  const int exponent = std::atoi(rounded.c_str() + rounded.find('e') + 1);
  return fmt::format("{:.{}f}", value, std::max(0, 3 - exponent));
}

std::string format_seconds(double seconds) {
  if (seconds < 0) return fmt::format("-{}", format_seconds(-seconds));
  if (seconds < 1e-6) return fmt::format("{} ns", format_significant(seconds * 1e9));
  if (seconds < 1e-3) return fmt::format("{} us", format_significant(seconds * 1e6));
  if (seconds < 1) return fmt::format("{} ms", format_significant(seconds * 1e3));
  return fmt::format("{} s", format_significant(seconds));
}

std::string format_percent(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

bool is_whole(std::string_view unit) {
  constexpr std::array<std::string_view, 5> kWhole{"copies", "iterations", "launches", "round trips", "stages"};
  return std::ranges::find(kWhole, unit) != kWhole.end();
}

std::string format_quantity(double value, std::string_view unit) {
  if (!std::isfinite(value)) return {};
  if (unit == "s") return format_seconds(value);
  if (unit == "B") return format_size(whole_bytes(value));
  if (unit == "GB/s") return fmt::format("{} GB/s", format_significant(value));
  if (unit == "1") return format_percent(value);
  if (is_whole(unit)) return fmt::format("{:.0f}", value);
  return format_significant(value);
}

std::string format_with_unit(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 4> kWritten{"s", "B", "GB/s", "1"};  // by format_quantity() already
  const bool written = std::ranges::find(kWritten, unit) != kWritten.end();
  return format_quantity(value, unit) + (written ? "" : " " + std::string(unit));
}

}  // namespace xferbench
