#include "app/stored_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/values.hpp"
#include "core/error.hpp"
#include "run/runner.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::app {

namespace {

/// Parses a stored parameter by the rules and limits of its axis; returns the value in the type that the axis declares.
Value legal_value(const Axis& axis, const Case::Param& param) {
  const std::string text = to_text(param.value, axis.kind);
  const std::vector<Value> values = cli::parse_axis(axis, text, axis.name);
  const bool is_real = axis.kind == AxisKind::real || axis.kind == AxisKind::time;
  const bool whole_for_real = is_real && !std::holds_alternative<std::string>(param.value);
  if (values.size() != 1 || (values.front().index() != param.value.index() && !whole_for_real)) {
    throw UsageError(fmt::format("{}: '{}' is not a single value", axis.name, text));
  }
  return values.front();
}

}  // namespace

const Scenario* scenario_of(const Case& stored) {
  const auto found =
      std::ranges::find(scenarios(), stored.scenario(), [](const Scenario* s) { return s->descriptor().name; });
  return found == scenarios().end() ? nullptr : *found;
}

Case legal_case(const Scenario& scenario, const Case& stored) {
  Case legal(stored.scenario());
  for (const Case::Param& param : stored.params()) {
    if (const Axis* axis = scenario.descriptor().axis(param.name)) {
      legal.set(*axis, legal_value(*axis, param));
    } else {  // parameters without an axis: the GPUs of an expanded case, or parameters of older versions
      legal.set({.name = param.name, .kind = param.kind}, param.value);
    }
  }
  // skip_reason() throws if an axis is missing that the scenario needs.
  const std::string lacks = failure_of([&] { static_cast<void>(scenario.skip_reason(legal, nullptr)); });
  if (!lacks.empty()) throw UsageError(lacks);
  return legal;
}

void require_legal_params(const Report& report, const std::string& file) {
  for (const Result& r : report.results) {
    const Scenario* scenario = scenario_of(r.config);
    if (scenario == nullptr) continue;
    for (const Case::Param& param : r.config.params()) {
      const Axis* axis = scenario->descriptor().axis(param.name);
      try {
        if (axis != nullptr) static_cast<void>(legal_value(*axis, param));
      } catch (const UsageError& error) {
        throw InputError(
            fmt::format("{}: {}: {}; measure it again, or leave the case out", file, r.config.key(), error.what()));
      }
    }
  }
}

}  // namespace xferbench::app
