#include "validate/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"

namespace xferbench::validation {

// --- Cases that do the same work -------------------------------------------------------------------------------------

namespace {

constexpr std::array<std::string_view, 3> kWays{"strategy", "method", "host"};
constexpr std::array<std::string_view, 3> kAlwaysNamed{"size", "dir", "rounds"};

/// Returns the value of the axis as text; empty if the case has no such axis.
std::string text_of(const Case& c, std::string_view axis) {
  const Case::Param* param = c.find(axis);
  return param == nullptr ? std::string() : to_text(param->value, param->kind);
}

/// All values of an axis, by scenario and axis name. An empty text stands for a case that lacks the axis.
using Values = std::map<std::pair<std::string, std::string>, std::set<std::string>>;

Values values_of(std::span<const Work> cases) {
  Values values;
  for (const Work& work : cases) {
    for (const Case::Param& param : work.config->params()) values[{work.config->scenario(), param.name}];
  }
  for (auto& [of, its] : values) {
    for (const Work& work : cases) {
      if (work.config->scenario() == of.first) its.insert(text_of(*work.config, of.second));
    }
  }
  return values;
}

std::string name_of_size(std::uint64_t bytes) {
  const std::string rounded = format_size(bytes);
  return rounded.find('.') == std::string::npos ? rounded : format_size_readable(bytes);
}

// --- Accuracy of the predictions -------------------------------------------------------------------------------------

using Those = std::vector<const Prediction*>;

Errors errors_of_those(const Those& those) {
  const auto signed_errors = list_of(those, [](const Prediction* p) { return p->predicted / p->measured - 1; });
  const auto errors = list_of(signed_errors, [](double error) { return std::abs(error); });
  if (errors.empty()) return {};
  constexpr double kMost = 0.95;
  const auto close = std::ranges::count_if(errors, [](double e) { return e <= kClose; });
  return {errors.size(), statistics::median(signed_errors), statistics::median(errors),
          statistics::percentile(errors, kMost), static_cast<double>(close) / static_cast<double>(errors.size())};
}

bool meets(const Prediction& p) {
  const Interval measured = p.interval.value_or(Interval{p.measured, p.measured});
  return measured.low <= p.between->high && p.between->low <= measured.high;
}

std::vector<std::pair<std::string, Errors>> kinds_of_those(const Those& those) {
  return list_of(by_name(those, &Prediction::kind),
                 [](const auto& kind) { return std::pair(kind.first, errors_of_those(kind.second)); });
}

Group group_of(const std::string& name, const Those& those) {
  Group group{.name = name,
              .all = errors_of_those(those),
              .kinds = kinds_of_those(those),
              .fastest = {},
              .predicted_fastest = {}};
  const Prediction* fastest = *std::ranges::min_element(those, {}, &Prediction::measured);
  const Prediction* chosen = *std::ranges::min_element(those, {}, &Prediction::predicted);
  group.fastest = fastest->key;
  group.predicted_fastest = chosen->key;
  group.regret = chosen->measured / fastest->measured - 1;
  if (std::ranges::all_of(those, [](const Prediction* p) { return p->between.has_value(); })) {
    const auto held = std::ranges::count_if(those, [](const Prediction* p) { return meets(*p); });
    group.coverage = static_cast<double>(held) / static_cast<double>(those.size());
  }
  return group;
}

}  // namespace

std::vector<std::string> names_of_work(std::span<const Work> cases) {
  const Values values = values_of(cases);
  std::vector<std::string> names;
  for (const Work& work : cases) {
    const Case& c = *work.config;
    std::string& name = names.emplace_back(c.scenario());
    if (c.has("size")) name += " " + name_of_size(c.count("size"));
    if (c.has("dir")) name += " " + c.word("dir");
    if (c.count_or("rounds", 1) > 1) name += fmt::format(", {} rounds", c.count("rounds"));
    for (const Case::Param& param : c.params()) {
      const bool is_work = work.axes.empty() ? !has_item(kWays, param.name) : has_item(work.axes, param.name);
      if (has_item(kAlwaysNamed, param.name) || !is_work) continue;
      if (values.at({c.scenario(), param.name}).size() < 2) continue;
      name += fmt::format(", {}={}", param.name, to_text(param.value, param.kind));
    }
  }
  return names;
}

std::string kind_of(const Case& c) {
  for (const char* axis : {"strategy", "method", "way", "host", "op"}) {
    if (c.has(axis)) return c.word(axis);
  }
  return c.scenario();
}

std::vector<Group> groups_of(std::span<const Prediction> predictions) {
  return list_of(by_name(pointers_to(predictions), &Prediction::group),
                 [](const auto& group) { return group_of(group.first, group.second); });
}

std::vector<std::pair<std::string, Errors>> kinds_of(std::span<const Prediction> predictions) {
  return kinds_of_those(pointers_to(predictions));
}

Errors errors_of(std::span<const Prediction> predictions) { return errors_of_those(pointers_to(predictions)); }

}  // namespace xferbench::validation
