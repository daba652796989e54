#include "cli/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/pages.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/shell.hpp"

namespace xferbench::cli {

namespace {

constexpr std::size_t kMostCases = 100'000;

[[noreturn]] void refuse_so_many() {
  throw UsageError(fmt::format("more than {} cases; give fewer values", kMostCases));
}

std::optional<SkipReason> reason_against(const PlannedCase& c, SkipReason::Kind kind) {
  auto reason = c.scenario->skip_reason(c.config, nullptr);
  return reason && reason->kind == kind ? reason : std::nullopt;
}

/// Makes the cases of one scenario: the Cartesian product of the values of its axes.
class Product {
 public:
  /// With `tuning`, an axis without a flag takes the values that `tune` tries.
  Product(const ScenarioFlags& flags, bool tuning)
      : scenario_(*flags.scenario), axes_(descriptor_of(scenario_).axes), texts_(flags.texts), tuning_(tuning) {
    reject_alternatives();
    cases_.push_back({&scenario_, Case(name_of(scenario_))});
    for (const Axis& axis : axes_) {
      const std::vector<Value> values = values_of(axis);
      if (!values.empty()) multiply_by(axis, values);
    }
    reject_unused_flags();
  }

  /// Returns the cases without meaningless combinations, but at least one case for each value that the user gave.
  [[nodiscard]] std::vector<PlannedCase> cases() && {
    std::vector<bool> stays;
    for (const PlannedCase& c : cases_) stays.push_back(!reason_against(c, SkipReason::Kind::meaningless));
    for (const Axis& axis : axes_) {
      if (given(axis.name)) keep_one_of_each(axis.name, stays);
    }
    std::vector<PlannedCase> kept;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (stays[i]) kept.push_back(std::move(cases_[i]));
    }
    return kept;
  }

 private:
  [[nodiscard]] bool given(const std::string& axis) const { return texts_.contains(axis); }

  /// Throws UsageError if an axis and its `alternative_to` are both given, because they set the same value.
  void reject_alternatives() const {
    for (const Axis& axis : axes_) {
      if (!given(axis.name) || !given(axis.alternative_to)) continue;
      throw UsageError(fmt::format("{0} and --{1} contradict each other: both set the same value", flag_of(axis),
                                   axis.alternative_to));
    }
  }

  /// Returns the values that the user gave for the axis, else the defaults; empty if no case has the axis.
  [[nodiscard]] std::vector<Value> values_of(const Axis& axis) const {
    const auto takes_its_place = [&](const Axis& o) { return o.alternative_to == axis.name && given(o.name); };
    std::string text = tuning_ && !axis.tuning.empty() ? axis.tuning : axis.defaults;
    if (given(axis.name)) {
      text = texts_.at(axis.name);
    } else if (text.empty() || std::ranges::any_of(axes_, takes_its_place)) {
      return {};
    }
    return parse_axis(axis, text, flag_of(axis));
  }

  /// Returns whether the axis has no effect in this case, because the axis that it needs (Axis::only_with_axis) is
  /// missing or has another value than required.
  [[nodiscard]] bool is_idle(const Axis& axis, const Case& so_far) const {
    if (axis.only_with_axis.empty()) return false;
    const Case::Param* other = so_far.find(axis.only_with_axis);
    if (other == nullptr) return true;
    if (axis.only_with_values.empty()) return !given(axis.only_with_axis);
    return std::ranges::find(axis.only_with_values, to_text(other->value, other->kind)) == axis.only_with_values.end();
  }

  void multiply_by(const Axis& axis, const std::vector<Value>& values) {
    const bool also_without = tuning_ && axis.tuned_without && !given(axis.name);
    std::vector<PlannedCase> all;
    for (const PlannedCase& so_far : cases_) {
      const bool idle = is_idle(axis, so_far.config);
      if (also_without && !idle) all.push_back(so_far);
      if (idle) {
        all.push_back(so_far);
      } else {
        for (const Value& value : values) all.emplace_back(so_far).config.set(axis, value);
      }
      if (all.size() > kMostCases) refuse_so_many();
    }
    cases_ = std::move(all);
  }

  /// For each value of the axis: if all cases with that value would be removed, keeps the first of these cases.
  void keep_one_of_each(const std::string& axis, std::vector<bool>& stays) const {
    struct Cases {
      std::size_t first;
      bool one_stays;
    };
    std::map<Value, Cases> with;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const Case::Param* param = cases_[i].config.find(axis);
      if (param == nullptr) continue;
      Cases& cases = with.try_emplace(param->value, Cases{i, false}).first->second;
      cases.one_stays = cases.one_stays || stays[i];
    }
    for (const auto& [value, cases] : with) {
      if (!cases.one_stays) stays[cases.first] = true;
    }
  }

  /// Throws UsageError for a flag whose axis no case has, because the flag would have no effect.
  void reject_unused_flags() const {
    for (const Axis& axis : axes_) {
      if (!given(axis.name)) continue;
      if (std::ranges::any_of(cases_, [&](const PlannedCase& c) { return c.config.has(axis.name); })) continue;
      throw UsageError(fmt::format("{} does nothing here: it belongs to {}; {}leave it out", flag_of(axis),
                                   requirements_text(axis),
                                   axis.only_with_values.empty() ? "give that, too, or " : ""));
    }
  }

  const Scenario& scenario_;
  std::span<const Axis> axes_;
  const AxisTexts& texts_;
  bool tuning_;
  std::vector<PlannedCase> cases_;
};

bool takes(const Axis& axis, const std::string& text) {
  try {
    return !parse_axis(axis, text, "").empty();
  } catch (const UsageError&) {
    return false;
  }
}

/// Called if scenario `refusing` does not accept the value of a flag. If another chosen scenario accepts the value,
/// returns the advice to write the flag directly after that scenario, so that it applies only there; otherwise empty.
std::string scenarios_with_flag(const ScenarioFlags& refusing, std::span<const ScenarioFlags> all) {
  for (const Axis& axis : descriptor_of(*refusing.scenario).axes) {
    const auto given = refusing.texts.find(axis.name);
    if (given == refusing.texts.end() || takes(axis, given->second)) continue;
    for (const ScenarioFlags& other : all) {
      const Axis* same = descriptor_of(*other.scenario).axis(axis.name);
      if (same == nullptr || !takes(*same, given->second)) continue;
      return fmt::format("; {0} takes it: write --{1} {2} after {0}", name_of(*other.scenario), axis.name,
                         given->second);
    }
  }
  return {};
}

bool is_default(const Axis& axis, const Value& value) {
  return !axis.defaults.empty() && parse_axis(axis, axis.defaults, flag_of(axis)) == std::vector<Value>{value};
}

/// Returns the flag that selects these GPUs. A single GPU needs --gpu, because --gpus with one number means a count.
std::vector<std::string> gpus_flag(const GpuSelection& selection) {
  if (selection.first) return {"--gpus", std::to_string(*selection.first)};
  if (selection.numbers.empty()) return {"--gpus", "all"};
  if (selection.numbers.size() == 1) return {"--gpu", std::to_string(selection.numbers.front())};
  return {"--gpus", fmt::format("{}", fmt::join(selection.numbers, ","))};
}

}  // namespace

bool has_axis(const Scenario& scenario, const std::string& name) {
  return descriptor_of(scenario).axis(name) != nullptr;
}

std::string lacks(const Scenario& scenario, const std::string& axis, std::span<const Scenario* const> all) {
  const auto owners = list_of(those_of(all, [&](const Scenario* s) { return has_axis(*s, axis); }),
                              [](const Scenario* s) { return name_of(*s); });
  const auto own = list_of(descriptor_of(scenario).axes, [](const Axis& a) { return flag_of(a); });
  return fmt::format("{} has no --{}, which belongs to {}; {} has {}", name_of(scenario), axis, fmt::join(owners, ", "),
                     name_of(scenario), fmt::join(own, " "));
}

std::vector<PlannedCase> plan(std::span<const ScenarioFlags> scenarios, bool tuning) {
  std::vector<PlannedCase> cases;
  for (const ScenarioFlags& flags : scenarios) {
    try {
      std::ranges::move(Product(flags, tuning).cases(), std::back_inserter(cases));
    } catch (const UsageError& error) {
      if (scenarios.size() == 1) throw;
      throw UsageError(name_of(*flags.scenario) + ": " + error.what() + scenarios_with_flag(flags, scenarios));
    }
    if (cases.size() > kMostCases) refuse_so_many();
  }
  // The user requested the meaningless cases that are left, so each becomes a result that says why it cannot run.
  const auto impossible = [](const PlannedCase& c) { return reason_against(c, SkipReason::Kind::impossible); };
  if (std::ranges::all_of(cases, [&](const PlannedCase& c) { return impossible(c).has_value(); })) {
    throw UsageError(impossible(cases.front())->text);
  }
  return cases;
}

// --- Back to a command line -----------------------------------------------------------------------------------------

std::vector<std::string> flags_of(const DeviceChoice& device) {
  std::vector<std::string> words;
  if (device.simulate) words.insert(words.end(), {"--simulate", *device.simulate});
  if (device.gpu) words.insert(words.end(), {"--gpu", std::to_string(*device.gpu)});
  if (device.gpus) std::ranges::move(gpus_flag(*device.gpus), std::back_inserter(words));
  if (device.numa.kind == NumaPolicy::Kind::none) words.insert(words.end(), {"--numa", "none"});
  if (device.numa.kind == NumaPolicy::Kind::node) {
    words.insert(words.end(), {"--numa", std::to_string(device.numa.node)});
  }
  return words;
}

std::string command_line(const TuneCommand& command, const PlannedCase& planned) {
  std::vector<std::string> words{"xferbench", planned.config.scenario()};
  for (const Axis& axis : descriptor_of(*planned.scenario).axes) {
    const Case::Param* param = planned.config.find(axis.name);
    if (param == nullptr) continue;
    const bool given = std::ranges::find(command.given, axis.name) != command.given.end();
    if (given || !is_default(axis, param->value)) {
      const std::string text = to_text(param->value, param->kind);
      words.insert(words.end(), {flag_of(axis), param->kind == AxisKind::file ? shell_word(text) : shell_quoted(text)});
    }
  }
  for (std::string& word : flags_of(command.measuring.device)) words.push_back(std::move(word));
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace xferbench::cli
