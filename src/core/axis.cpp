#include "core/axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/units.hpp"

namespace xferbench {

std::string to_text(const Value& value, AxisKind kind) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  const auto number = std::get<std::uint64_t>(value);
  return kind == AxisKind::size ? format_size_exact(number) : fmt::format("{}", number);
}

void Case::set(const Axis& axis, Value value) {
  key_ += fmt::format("/{}={}", axis.name, to_text(value, axis.kind));
  params_.push_back({axis.name, axis.kind, std::move(value)});
}

const Case::Param* Case::find(std::string_view axis) const {
  const auto found = std::ranges::find(params_, axis, &Param::name);
  return found == params_.end() ? nullptr : &*found;
}

namespace {

template <class T>
const T& get(const Case& c, std::string_view axis) {
  const Case::Param* param = c.find(axis);
  if (param == nullptr) throw std::logic_error(fmt::format("case {} has no axis {}", c.key(), axis));
  return std::get<T>(param->value);
}

}  // namespace

std::uint64_t Case::count(std::string_view axis) const { return get<std::uint64_t>(*this, axis); }
double Case::real(std::string_view axis) const { return get<double>(*this, axis); }
const std::string& Case::word(std::string_view axis) const { return get<std::string>(*this, axis); }

std::size_t Case::place_among(std::string_view axis, std::span<const std::string_view> words) const {
  const auto found = std::ranges::find(words, word(axis));
  if (found == words.end()) throw std::logic_error(fmt::format("case {} has no legal {}", key_, axis));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace xferbench
