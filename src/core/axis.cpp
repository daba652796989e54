#include "core/axis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench {

std::string to_text(const Value& value, AxisKind kind) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  const auto number = std::get<std::uint64_t>(value);
  return kind == AxisKind::size ? format_size_exact(number) : fmt::format("{}", number);
}

std::vector<int> gpu_numbers(std::string_view value) {
  std::vector<int> numbers;
  while (!value.empty()) {
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    value.remove_prefix(static_cast<std::size_t>(end - value.data()));
    if (!value.empty()) value.remove_prefix(1);
  }
  return numbers;
}

std::vector<std::string> in_ranges(std::vector<int> numbers) {
  std::ranges::sort(numbers);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    const bool one = end == i + 1;
    parts.push_back(one ? fmt::format("{}", numbers[i]) : fmt::format("{} to {}", numbers[i], numbers[end - 1]));
    i = end;
  }
  return parts;
}

std::string gpus_text(std::span<const int> numbers, char joined_by) {
  return fmt::format("{}", fmt::join(numbers, std::string_view(&joined_by, 1)));
}

namespace {

/// Escapes a value for a case key, in which slashes separate the parameters.
std::string in_key(std::string_view value) {
  std::string text;
  for (const char c : value) text += c == '/' ? "%2F" : c == '%' ? "%25" : std::string(1, c);
  return text;
}

template <class T>
const T& get(const Case& c, std::string_view axis) {
  const Case::Param* param = c.find(axis);
  if (param == nullptr) throw std::logic_error(fmt::format("case {} has no axis {}", c.key(), axis));
  return std::get<T>(param->value);
}

}  // namespace

Case::Case(std::string scenario) : choice_(std::make_shared<Choice>()) {
  choice_->key = scenario;
  choice_->scenario = std::move(scenario);
}

Case::Choice& Case::own() {
  if (choice_.use_count() > 1) choice_ = std::make_shared<Choice>(*choice_);
  return *choice_;
}

void Case::append(Param param) {
  Choice& choice = own();
  // Allocate no spare capacity, because a long run has many thousands of cases.
  choice.key = fmt::format("{}/{}={}", choice.key, param.name, in_key(to_text(param.value, param.kind)));
  choice.params.reserve(choice.params.size() + 1);
  choice.params.push_back(std::move(param));
}

void Case::set(const Axis& axis, Value value) { append({axis.name, axis.kind, std::move(value)}); }

Case Case::with(std::string_view axis, std::span<const Param> instead) const {
  Case other(scenario());
  for (const Param& param : params()) {
    for (const Param& one : param.name == axis ? instead : std::span(&param, 1)) other.append(one);
  }
  return other;
}

const Case::Param* Case::find(std::string_view axis) const { return found_in(params(), axis, &Param::name); }

std::uint64_t Case::count(std::string_view axis) const { return get<std::uint64_t>(*this, axis); }
double Case::real(std::string_view axis) const { return get<double>(*this, axis); }
const std::string& Case::word(std::string_view axis) const { return get<std::string>(*this, axis); }

std::size_t Case::place_among(std::string_view axis, std::span<const std::string_view> words) const {
  const auto found = std::ranges::find(words, word(axis));
  if (found == words.end()) throw std::logic_error(fmt::format("case {} has no valid {}", key(), axis));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace xferbench
