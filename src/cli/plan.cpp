#include "cli/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "cli/values.hpp"
#include "core/error.hpp"

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

/// The values of every axis of one scenario, as written or by default.
class Product {
 public:
  /// `tuning`: where a flag is not given, the values that the axis is to be tuned over.
  Product(const ScenarioFlags& flags, bool tuning)
      : scenario_(*flags.scenario), axes_(described(scenario_).axes), texts_(flags.texts) {
    for (const Axis& axis : axes_) {
      const auto given = texts_.find(axis.name);
      const bool replaced = given == texts_.end() && is_replaced(axis);
      const std::string& own = tuning && !axis.tuning.empty() ? axis.tuning : axis.defaults;
      const std::string text = given != texts_.end() ? given->second : replaced ? "" : own;
      if (given == texts_.end() && text.empty()) {
        values_.emplace_back();  // absent from every case
      } else {
        values_.push_back(parse_axis(axis, text, "--" + axis.name));
      }
    }
  }

  [[nodiscard]] std::vector<PlannedCase> cases() const {
    std::vector<PlannedCase> all;
    expand(0, Case(name_of(scenario_)), all);
    reject_unused_flags(all);
    return with_meaning(all);
  }

 private:
  /// Whether a flag was given that takes this axis' place.
  [[nodiscard]] bool is_replaced(const Axis& axis) const {
    return std::ranges::any_of(
        axes_, [&](const Axis& other) { return other.alternative_to == axis.name && texts_.contains(other.name); });
  }

  /// Whether an axis means nothing beside the values chosen so far.
  static bool is_idle(const Axis& axis, const Case& so_far) {
    if (axis.only_with_axis.empty()) return false;
    const Case::Param* other = so_far.find(axis.only_with_axis);
    return other == nullptr ||
           std::ranges::find(axis.only_with_values, to_text(other->value, other->kind)) == axis.only_with_values.end();
  }

  void expand(std::size_t index, const Case& so_far, std::vector<PlannedCase>& all) const {
    if (index == values_.size()) {
      if (all.size() >= kMostCases) refuse_so_many();
      all.push_back({&scenario_, so_far});
      return;
    }
    const Axis& axis = axes_[index];
    if (is_idle(axis, so_far) || values_[index].empty()) return expand(index + 1, so_far, all);
    for (const Value& value : values_[index]) {
      Case next = so_far;
      next.set(axis, value);
      expand(index + 1, next, all);
    }
  }

  /// Without combinations that mean nothing; but of each value that was written at least one stays.
  [[nodiscard]] std::vector<PlannedCase> with_meaning(const std::vector<PlannedCase>& all) const {
    std::vector<bool> stays;
    for (const PlannedCase& c : all) stays.push_back(!reason_against(c, SkipReason::Kind::meaningless));
    if (std::ranges::find(stays, false) == stays.end()) return all;
    for (std::size_t axis = 0; axis < values_.size(); ++axis) {
      if (!texts_.contains(axes_[axis].name)) continue;
      for (const Value& value : values_[axis]) keep_one(axes_[axis], value, all, stays);
    }
    std::vector<PlannedCase> kept;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (stays[i]) kept.push_back(all[i]);
    }
    return kept;
  }

  /// The first case with that value stays, if no other with it does.
  static void keep_one(const Axis& axis, const Value& value, const std::vector<PlannedCase>& all,
                       std::vector<bool>& stays) {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Case::Param* param = all[i].config.find(axis.name);
      if (param == nullptr || param->value != value) continue;
      if (stays[i]) return;
      if (!first) first = i;
    }
    if (first) stays[*first] = true;
  }

  /// A flag that no case uses would be a flag that does nothing.
  void reject_unused_flags(const std::vector<PlannedCase>& all) const {
    for (const Axis& axis : axes_) {
      const bool used = std::ranges::any_of(all, [&](const PlannedCase& c) { return c.config.has(axis.name); });
      if (texts_.contains(axis.name) && !used) {
        throw UsageError(fmt::format("--{} does nothing here: it belongs to --{} {}; leave it out", axis.name,
                                     axis.only_with_axis, fmt::join(axis.only_with_values, ",")));
      }
    }
  }

  const Scenario& scenario_;
  std::span<const Axis> axes_;
  const AxisTexts& texts_;
  std::vector<std::vector<Value>> values_;
};

/// An axis and the one whose value it chooses cannot both be given.
void reject_alternatives(const ScenarioFlags& flags) {
  for (const Axis& axis : described(*flags.scenario).axes) {
    if (!flags.texts.contains(axis.name) || !flags.texts.contains(axis.alternative_to)) continue;
    throw UsageError(fmt::format("--{} and --{} contradict each other: --{} chooses the other's value", axis.name,
                                 axis.alternative_to, axis.name));
  }
}

std::vector<PlannedCase> cases_of(const ScenarioFlags& flags, bool tuning) {
  reject_alternatives(flags);
  return Product(flags, tuning).cases();
}

}  // namespace

bool has_axis(const Scenario& scenario, const std::string& name) {
  const auto& axes = described(scenario).axes;
  return std::ranges::find(axes, name, &Axis::name) != axes.end();
}

std::string lacks(const Scenario& scenario, const std::string& axis, std::span<const Scenario* const> all) {
  const auto owner = std::ranges::find_if(all, [&](const Scenario* s) { return has_axis(*s, axis); });
  std::vector<std::string> own;
  for (const Axis& a : described(scenario).axes) own.push_back("--" + a.name);
  return fmt::format("{} has no --{}, which belongs to {}; {} has {}", name_of(scenario), axis, name_of(**owner),
                     name_of(scenario), fmt::join(own, " "));
}

std::vector<PlannedCase> plan(std::span<const ScenarioFlags> scenarios, bool tuning) {
  std::vector<PlannedCase> cases;
  for (const ScenarioFlags& flags : scenarios) {
    try {
      for (PlannedCase& c : cases_of(flags, tuning)) cases.push_back(std::move(c));
    } catch (const UsageError& error) {
      if (scenarios.size() == 1) throw;
      throw UsageError(name_of(*flags.scenario) + ": " + error.what());
    }
    if (cases.size() > kMostCases) refuse_so_many();
  }
  // A combination that means nothing and is here all the same was asked for: it becomes a result that says why not.
  const auto impossible = [](const PlannedCase& c) { return reason_against(c, SkipReason::Kind::impossible); };
  if (std::ranges::all_of(cases, [&](const PlannedCase& c) { return impossible(c).has_value(); })) {
    throw UsageError(impossible(cases.front())->text);
  }
  return cases;
}

}  // namespace xferbench::cli
