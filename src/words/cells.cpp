#include "words/cells.hpp"

#include "core/units.hpp"

namespace xferbench {

std::string axis_text(const Result& result, const std::string& axis) {
  const Case::Param* param = result.config.find(axis);
  if (param == nullptr) return "-";
  if (param->kind == AxisKind::size) return format_size_readable(std::get<std::uint64_t>(param->value));
  return to_text(param->value, param->kind);
}

}  // namespace xferbench
