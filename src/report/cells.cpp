#include "report/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/units.hpp"

namespace xferbench {

std::string axis_text(const Result& result, const std::string& axis) {
  const Case::Param* param = result.config.find(axis);
  if (param == nullptr) return "-";
  if (param->kind == AxisKind::size) return format_size_exact(std::get<std::uint64_t>(param->value), " ");
  return to_text(param->value, param->kind);
}

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t to, bool left) {
  const std::string space(to - std::min(to, width(text)), ' ');
  return left ? text + space : space + text;
}

std::string simulated_text(const std::string& profile) {
  return fmt::format("SIMULATED by profile {}: modelled times, not measurements", profile);
}

bool is_whole(const Metric& metric) {
  constexpr std::array kWhole{"copies", "iterations", "launches", "round trips"};
  return std::ranges::find(kWhole, metric.unit) != kWhole.end();
}

std::string metric_text(const Metric& metric) {
  if (!std::isfinite(metric.value)) return {};
  if (metric.unit == "s") return format_seconds(metric.value);
  // Beyond 2^63 no size is meant, and the conversion would be undefined.
  if (metric.unit == "B")
    return format_size(static_cast<std::uint64_t>(std::llround(std::clamp(metric.value, 0., 9e18))));
  if (metric.unit == "GB/s") return format_significant(metric.value) + " GB/s";
  if (metric.unit == "1") return format_percent(metric.value);
  if (is_whole(metric)) return fmt::format("{:.0f}", metric.value);
  return format_significant(metric.value);
}

std::string amount_text(const Metric& metric) {
  constexpr std::array kWritten{"s", "B", "GB/s", "1"};  // by metric_text() already
  const bool written = std::ranges::find(kWritten, metric.unit) != kWritten.end();
  return metric_text(metric) + (written ? "" : " " + metric.unit);
}

}  // namespace xferbench
