#include "check/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "core/wildcards.hpp"

namespace xferbench::check {

namespace {

using Words = std::vector<std::string>;

/// The scenario and axis values that an expectation requires in its conditions or in its key pattern.
struct RequestedValues {
  std::string scenario;  ///< pattern for scenario names
  std::vector<Condition> where;
};

RequestedValues requested_values(const Expectation& e) {
  RequestedValues wish{e.scenario, e.where};
  if (e.cases.empty()) return wish;
  const Words parts = split(e.cases, '/');  // for example memcpy/dir=h2d/host=pinned*
  if (wish.scenario.empty()) wish.scenario = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == std::string::npos) continue;
    const std::string text = parts[i].substr(equals + 1);
    const auto quantity = parse_quantity(text);
    wish.where.push_back(
        {parts[i].substr(0, equals), {{text, Bound::equal, quantity ? std::optional(quantity->value) : std::nullopt}}});
  }
  return wish;
}

std::string number_text(const Axis& axis, double value) {
  if (axis.kind == AxisKind::real || axis.kind == AxisKind::time) return fmt::format("{}", value);
  return axis.kind == AxisKind::size ? format_size_exact(whole_bytes(value)) : fmt::format("{}", whole_bytes(value));
}

/// Returns a value of the axis that meets the condition: the bound itself or the next number beyond it. nullopt if
/// there is none.
std::optional<std::string> number_for(const Axis& axis, const Wanted& wanted) {
  if (!wanted.amount) return std::nullopt;
  double value = *wanted.amount;
  const double step = axis.kind == AxisKind::size ? value : 1;
  if (wanted.bound == Bound::more) value += step;
  if (wanted.bound == Bound::less) value -= axis.kind == AxisKind::size ? value / 2 : step;
  if (value < axis.min || value > axis.max) return std::nullopt;
  const bool is_whole = axis.kind == AxisKind::size || axis.kind == AxisKind::count;
  if (is_whole && value != std::floor(value)) return std::nullopt;
  return number_text(axis, value);
}

/// Returns the values of the axis, as written on a command line, that meet the condition; empty if there are none.
Words values_for(const Axis& axis, const Condition& condition) {
  Words values;
  for (const Wanted& wanted : condition.any_of) {
    if (axis.kind == AxisKind::choice) {
      for (const std::string& choice : axis.choices) {
        if (matches(wanted.text, choice)) add_new(values, choice);
      }
    } else if (is_word(axis.kind)) {
      if (wanted.text.find_first_of("*?") == std::string::npos) add_new(values, wanted.text);
    } else if (const auto number = number_for(axis, wanted)) {
      add_new(values, *number);
    }
  }
  return values;
}

bool has_requests(const Condition& condition) {
  return std::ranges::any_of(condition.any_of, [](const Wanted& wanted) { return wanted.text == "*"; });
}

/// The flags of one scenario that measure the cases of an expectation; axes without a condition keep their defaults.
class ScenarioFlags {
 public:
  explicit ScenarioFlags(const ScenarioDescriptor& scenario) : scenario_(scenario) {}

  /// Sets the flags for these conditions. Returns false if the scenario has no case that meets them.
  bool set(const std::vector<Condition>& where) {
    for (const Condition& condition : where) {
      if (condition.axis == kGpusOfCase) {
        if (!set_gpus(condition)) return false;
        continue;
      }
      const Axis* axis = scenario_.axis(condition.axis);
      if (axis == nullptr) return false;
      const bool any = has_requests(condition);
      const Words values = any ? Words{} : values_for(*axis, condition);
      if (!any && values.empty()) return false;
      if (!any) values_[axis->name] = values;
      named_.push_back(axis);
    }
    return std::ranges::all_of(named_, [this](const Axis* axis) { return provide_for(*axis); });
  }

  [[nodiscard]] std::string text() const {
    std::string text = "xferbench " + scenario_.name;
    for (const Axis& axis : scenario_.axes) {
      const auto found = values_.find(axis.name);
      if (found != values_.end())
        text += fmt::format(" --{} {}", axis.name, fmt::join(found->second, std::string(1, axis.separator)));
    }
    return gpus_.empty() ? text : text + " --gpus " + gpus_;
  }

 private:
  /// Sets --gpus to the first group of GPUs in the condition, because a run can select only one group.
  bool set_gpus(const Condition& condition) {
    if (scenario_.gpus == UsesGpus::one || scenario_.gpus == UsesGpus::several) return false;
    if (has_requests(condition) || scenario_.gpus == UsesGpus::each) gpus_ = "all";
    for (const Wanted& wanted : condition.any_of) {
      const std::vector<int> numbers = gpu_numbers(wanted.text);
      if (gpus_.empty() && numbers.size() > 1 && gpus_text(numbers) == wanted.text) gpus_ = gpus_text(numbers, ',');
    }
    return !gpus_.empty();
  }

  /// If `axis` depends on another axis, gives the other axis a suitable value. Returns false if that is impossible.
  bool provide_for(const Axis& axis) {
    if (axis.only_with_axis.empty()) return true;
    const Axis* other = scenario_.axis(axis.only_with_axis);
    if (other == nullptr) return false;
    if (axis.only_with_values.empty()) return values_.contains(other->name);
    const auto suits = [&](const std::string& value) { return has_item(axis.only_with_values, value); };
    if (const auto chosen = values_.find(other->name); chosen != values_.end()) {
      return std::ranges::any_of(chosen->second, suits);
    }
    const Words usual = split(other->defaults, ',');
    if (!has_item(usual, "all") && std::ranges::none_of(usual, suits))
      values_[other->name] = {axis.only_with_values.front()};
    return provide_for(*other);
  }

  const ScenarioDescriptor& scenario_;
  std::map<std::string, Words> values_;
  std::vector<const Axis*> named_;
  std::string gpus_;  ///< value of --gpus; empty: the flag is not needed
};

bool declares(const ScenarioDescriptor& scenario, const Expectation& e) { return scenario.metric(e.number) != nullptr; }

}  // namespace

std::string measuring_command(const Expectation& e, Descriptors scenarios) {
  const RequestedValues wish = requested_values(e);
  for (const ScenarioDescriptor* scenario : scenarios) {
    if (!wish.scenario.empty() && !matches(wish.scenario, scenario->name)) continue;
    if (!declares(*scenario, e)) continue;
    ScenarioFlags flags(*scenario);
    if (flags.set(wish.where)) return flags.text();
  }
  return {};
}

}  // namespace xferbench::check
