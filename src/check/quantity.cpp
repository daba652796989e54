#include "check/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench::check {

namespace {

struct Unit {
  std::string_view name;
  double factor;
  std::string_view base;
};

constexpr double kKi = 1024;
constexpr std::string_view kPercent = "%";

// Sizes are written as on the command line: K, M, G, T are powers of 1024, KB, MB, GB, TB powers of 1000.
constexpr std::array kUnits{
    Unit{"s", 1, "s"},
    Unit{"ms", 1e-3, "s"},
    Unit{"us", 1e-6, "s"},
    Unit{"ns", 1e-9, "s"},
    Unit{"MB/s", 1e-3, "GB/s"},
    Unit{"GB/s", 1, "GB/s"},
    Unit{"TB/s", 1e3, "GB/s"},
    Unit{"MiB/s", kKi* kKi / 1e9, "GB/s"},
    Unit{"GiB/s", kKi* kKi* kKi / 1e9, "GB/s"},
    Unit{"Hz", 1, "Hz"},
    Unit{"kHz", 1e3, "Hz"},
    Unit{"MHz", 1e6, "Hz"},
    Unit{"GHz", 1e9, "Hz"},
    Unit{kPercent, 1e-2, "1"},
    Unit{"B", 1, "B"},
    Unit{"K", kKi, "B"},
    Unit{"M", kKi* kKi, "B"},
    Unit{"G", kKi* kKi* kKi, "B"},
    Unit{"T", kKi* kKi* kKi* kKi, "B"},
    Unit{"KiB", kKi, "B"},
    Unit{"MiB", kKi* kKi, "B"},
    Unit{"GiB", kKi* kKi* kKi, "B"},
    Unit{"TiB", kKi* kKi* kKi* kKi, "B"},
    Unit{"KB", 1e3, "B"},
    Unit{"MB", 1e6, "B"},
    Unit{"GB", 1e9, "B"},
    Unit{"TB", 1e12, "B"},
};

std::string_view without_spaces(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Returns the unit in which `like` was written.
Unit shown_unit(const Quantity& like) {
  const std::string_view name = !like.written.empty() ? std::string_view(like.written) : std::string_view(like.unit);
  // A ratio that was written without a unit reads better in percent.
  const auto* const known = std::ranges::find(kUnits, name.empty() || name == "1" ? kPercent : name, &Unit::name);
  return known != kUnits.end() ? *known : Unit{name, 1, name};
}

std::string with_unit(const std::string& number, const Unit& unit) { return fmt::format("{} {}", number, unit.name); }

}  // namespace

Quantity in_base_unit(double value, std::string_view unit) {
  const auto known = std::ranges::find(kUnits, unit, &Unit::name);
  if (known == kUnits.end()) return {value, std::string(unit), std::string(unit)};
  return {value * known->factor, std::string(known->base), std::string(unit)};
}

std::vector<std::string> units_of_limits() {
  return list_of(kUnits, [](const Unit& unit) { return std::string(unit.name); });
}

std::string in_written_unit(double value, const Quantity& like) {
  const Unit unit = shown_unit(like);
  const std::string number = format_significant(value / unit.factor);
  const bool has_exponent = number.find('e') != std::string::npos;
  return has_exponent && unit.name == kPercent ? format_percent_short(value, 4) : with_unit(number, unit);
}

std::string written(const Quantity& limit) {
  constexpr int kDigits = 6;  // more digits would show rounding errors of the unit conversion
  const Unit unit = shown_unit(limit);
  if (unit.name == kPercent) return format_percent_short(limit.value, kDigits);
  return with_unit(fmt::format("{:.{}g}", limit.value / unit.factor, kDigits), unit);
}

std::optional<Quantity> parse_quantity(std::string_view text) {
  text = without_spaces(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return in_base_unit(value, without_spaces(text.substr(static_cast<std::size_t>(end - text.data()))));
}

}  // namespace xferbench::check
