#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace xferbench {

namespace {

struct Unit {
  const char* name;
  std::uint64_t bytes;
};
constexpr std::array<Unit, 4> kBinary{{{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}}};

constexpr std::array<Unit, 4> kDecimal{
    {{"TB", 1'000'000'000'000}, {"GB", 1'000'000'000}, {"MB", 1'000'000}, {"KB", 1'000}}};

struct TimeUnit {
  const char* name;
  double seconds;
};
constexpr std::array<TimeUnit, 4> kTimes{{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};

/// Formats the size in a unit that is a power of 1000; nullopt if it is not a whole number in any of these units.
std::optional<std::string> in_decimal_unit(std::uint64_t bytes) {
  const auto unit = std::ranges::find_if(kDecimal, [bytes](const Unit& u) { return bytes % u.bytes == 0; });
  if (bytes < KiB || unit == kDecimal.end()) return std::nullopt;
  return fmt::format("{} {}", bytes / unit->bytes, unit->name);
}

std::size_t digits(const std::string& size) { return size.find(' '); }

std::string in_percent(double fraction, const char* format, int digits) {
  constexpr double kMost = 1e6;
  const double percent = fraction * 100;
  if (std::isnan(percent)) return "-";
  if (std::abs(percent) <= kMost) {
    std::string text = fmt::format(fmt::runtime(format), percent, digits);
    const bool is_zero = text.find_first_of("123456789") == std::string::npos;
    return is_zero ? fmt::format(fmt::runtime(format), 0., digits) : text;  // never -0.0 %
  }
  return fmt::format("{} {:.0f} %", percent > 0 ? "over" : "below", std::copysign(kMost, percent));
}

}  // namespace

std::string format_size_readable(std::uint64_t bytes) {
  const std::string binary = format_size_exact(bytes, " ");
  const std::optional<std::string> decimal = in_decimal_unit(bytes);
  return decimal && digits(*decimal) < digits(binary) ? *decimal : binary;
}

std::string format_size_exact(std::uint64_t bytes, std::string_view space) {
  for (const Unit& unit : kBinary) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0)
      return fmt::format("{}{}{}", bytes / unit.bytes, space, unit.name);
  }
  return fmt::format("{}{}B", bytes, space);
}

std::uint64_t whole_bytes(double bytes) {
  // llround() of a value that does not fit is undefined. The comparison is false for NaN.
  return bytes > 0 ? static_cast<std::uint64_t>(std::llround(std::min(bytes, 9e18))) : 0;
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::size_t kFewDigits = 4;
  const std::optional<std::string> decimal = in_decimal_unit(bytes);
  if (decimal && digits(*decimal) <= kFewDigits && digits(*decimal) < digits(format_size_exact(bytes, " "))) {
    return *decimal;
  }
  return format_memory(bytes);
}

std::string format_memory(std::uint64_t bytes) {
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
  // Use the exponent after rounding, because 99.996 is shown as 100.0.
  const std::string rounded = fmt::format("{:.3e}", magnitude);
  const int exponent = std::atoi(rounded.c_str() + rounded.find('e') + 1);
  return fmt::format("{:.{}f}", value, std::max(0, 3 - exponent));
}

std::string unit_for_all(std::span<const double> seconds) {
  constexpr double kMost = 1e6;
  double least = 0;
  double most = 0;
  for (const double value : seconds) {
    const double size = std::abs(value);
    if (!(size > 0) || !std::isfinite(size)) continue;  // 0 and infinity do not matter for the choice of the unit
    least = least > 0 ? std::min(least, size) : size;
    most = std::max(most, size);
  }
  if (most == 0) return seconds.empty() ? "" : "ns";
  for (const TimeUnit& unit : kTimes) {
    const bool is_of_least = least < 1000 * unit.seconds;
    if (is_of_least && most < kMost * unit.seconds) return unit.name;
  }
  return "s";
}

double in_a_second(std::string_view unit) { return unit == "ns" ? 1e9 : unit == "us" ? 1e6 : unit == "ms" ? 1e3 : 1; }

std::string format_seconds_in(double seconds, std::string_view unit) {
  const auto* const found = std::ranges::find_if(kTimes, [unit](const TimeUnit& u) { return u.name == unit; });
  if (found == kTimes.end()) return format_seconds(seconds);
  return fmt::format("{} {}", format_significant(seconds / found->seconds), found->name);
}

std::string format_seconds(double seconds) {
  if (seconds < 0) return fmt::format("-{}", format_seconds(-seconds));
  if (seconds < 1e-6) return fmt::format("{} ns", format_significant(seconds * 1e9));
  if (seconds < 1e-3) return fmt::format("{} us", format_significant(seconds * 1e6));
  if (seconds < 1) return fmt::format("{} ms", format_significant(seconds * 1e3));
  return fmt::format("{} s", format_significant(seconds));
}

std::string format_percent(double fraction, int decimals) { return in_percent(fraction, "{:.{}f} %", decimals); }

std::string format_change(double fraction, int decimals) { return in_percent(fraction, "{:+.{}f} %", decimals); }

std::string format_percent_short(double fraction, int digits) {
  const std::string text = in_percent(fraction, "{:.{}g} %", digits);
  if (text.find("e-") != std::string::npos) return "under 0.0001 %";
  return text.find("e+") == std::string::npos ? text : format_percent(fraction, 0);
}

std::string factor_text(double factor) {
  constexpr double kTwoDecimals = 1.095;  // smaller factors would read 1.0 with one decimal
  constexpr double kNoDecimals = 9.95;
  const int decimals = factor < kTwoDecimals ? 2 : (factor < kNoDecimals ? 1 : 0);
  return fmt::format("{:.{}f}", factor, decimals);
}

bool is_whole(std::string_view unit) {
  constexpr std::array<std::string_view, 6> kWhole{"copies",          "iterations",  "launches",
                                                   "multiprocessors", "round trips", "stages"};
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
  // units that the text of format_quantity() already contains
  constexpr std::array<std::string_view, 4> kWritten{"s", "B", "GB/s", "1"};
  const bool written = std::ranges::find(kWritten, unit) != kWritten.end();
  return format_quantity(value, unit) + (written ? "" : " " + std::string(unit));
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view several) {
  if (count == 1 || several.empty()) return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
  return fmt::format("{} {}", count, several);
}

}  // namespace xferbench
