#include "words/case_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench {

std::string axis_text(const Result& result, const std::string& axis) {
  const Case::Param* param = result.config.find(axis);
  if (param == nullptr) return "-";
  if (param->kind == AxisKind::size) return format_size_readable(std::get<std::uint64_t>(param->value));
  return to_text(param->value, param->kind);
}

std::vector<std::string> parts_of_key(std::string key) {
  if (const std::size_t ranks = key.find(" pace="); ranks != std::string::npos) {
    std::replace(key.begin() + static_cast<std::ptrdiff_t>(ranks), key.end(), ' ', '/');
  }
  return split(key, '/');
}

std::string CommonKey::text() const { return fmt::format("{}", fmt::join(parts, ", ")); }

std::vector<std::string> CommonKey::own(const std::string& key) const {
  std::vector<std::string> own = parts_of_key(key);
  std::erase_if(own, [this](const std::string& part) { return has_item(parts, part); });
  return own;
}

std::string CommonKey::rest(const std::string& key) const {
  const std::vector<std::string> own_parts = own(key);
  return own_parts.empty() ? key : fmt::format("{}", fmt::join(own_parts, "/"));
}

CommonKey common_key(const std::vector<std::string>& keys) {
  if (keys.empty()) return {};
  CommonKey common{parts_of_key(keys.front())};
  for (const std::string& key : keys) {
    const std::vector<std::string> own = parts_of_key(key);
    std::erase_if(common.parts, [&own](const std::string& part) { return !has_item(own, part); });
  }
  return common;
}

}  // namespace xferbench
