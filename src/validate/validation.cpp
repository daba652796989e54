#include "validate/validation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/lists.hpp"
#include "measure/statistics.hpp"

namespace xferbench::validation {

namespace {

using Those = std::vector<const Prediction*>;

Errors errors_of_those(const Those& those) {
  std::vector<double> signed_errors;
  std::vector<double> errors;
  for (const Prediction* p : those) {
    signed_errors.push_back(p->predicted / p->measured - 1);
    errors.push_back(std::abs(signed_errors.back()));
  }
  if (errors.empty()) return {};
  constexpr double kMost = 0.95;
  return {errors.size(), statistics::median(signed_errors), statistics::median(errors),
          statistics::percentile(errors, kMost)};
}

bool meets(const Prediction& p) {
  const Interval measured = p.interval.value_or(Interval{p.measured, p.measured});
  return measured.low <= p.between->high && p.between->low <= measured.high;
}

Group group_of(const std::string& name, const Those& those) {
  Group group{.name = name, .all = errors_of_those(those), .kinds = {}, .fastest = {}, .predicted_fastest = {}};
  for (const auto& [kind, of_kind] : by_name(those, &Prediction::kind)) {
    group.kinds.emplace_back(kind, errors_of_those(of_kind));
  }
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

Those pointers(std::span<const Prediction> predictions) {
  Those those;
  for (const Prediction& p : predictions) those.push_back(&p);
  return those;
}

}  // namespace

std::vector<Group> groups_of(std::span<const Prediction> predictions) {
  std::vector<Group> groups;
  for (const auto& [name, those] : by_name(pointers(predictions), &Prediction::group)) {
    groups.push_back(group_of(name, those));
  }
  return groups;
}

Errors errors_of(std::span<const Prediction> predictions) { return errors_of_those(pointers(predictions)); }

}  // namespace xferbench::validation
