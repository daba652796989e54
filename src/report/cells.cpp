#include "report/cells.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace xferbench
