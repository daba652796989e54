#include "run/thresholds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <utility>

#include "run/findings.hpp"

namespace xferbench {

namespace {

/// The configuration to choose for one work.
struct ChosenCase {
  const Case* config;
  std::vector<Metric> metrics;
  bool confirmed;  // false: the search ended early, so another case may be faster
};

bool describes(const Finding& finding, const Case& c) {
  return std::ranges::all_of(c.params(), [&finding](const Case::Param& param) {
    return finding.label(param.name) == to_text(param.value, param.kind);
  });
}

const Finding* about(const Tuned& tuned, std::string_view what) {
  return found_in(tuned.findings, what, [](const Finding& f) { return f.label("about"); });
}

std::vector<ChosenCase> choices_of(const ScenarioDescriptor& scenario, std::span<const Tuned> works) {
  std::vector<ChosenCase> all;
  for (const Tuned& tuned : works) {
    const Finding* const simplest = about(tuned, "simplest");
    const Finding* const chosen = simplest != nullptr ? simplest : about(tuned, "winner");
    if (chosen == nullptr) continue;
    const auto result =
        std::ranges::find_if(tuned.results, [&](const Result& r) { return describes(*chosen, r.config); });
    if (result == tuned.results.end()) continue;
    ChosenCase choice{&result->config, {}, result->label("measured_in") != "search"};
    for (const Metric& m : chosen->metrics) {
      if (m.name == "makespan" || m.name == "behind_best") choice.metrics.push_back(m);
    }
    for (const Metric& m : result->metrics) {
      if (scenario.answer.text.find("{" + m.name + "}") != std::string::npos) choice.metrics.push_back(m);
    }
    all.push_back(std::move(choice));
  }
  return all;
}

bool is_work(const ScenarioDescriptor& scenario, std::string_view axis) { return has_item(scenario.work_axes, axis); }

std::string value_of(const Case& c, const std::string& axis) {
  const Case::Param* const param = c.find(axis);
  return param == nullptr ? "" : axis_text(*param);
}

/// Returns for example "staged up to 256 KiB, batch from 1 MiB on" for choices in the order of their values of `along`.
std::string runs_text(std::span<const ChosenCase* const> choices, const std::string& way, const std::string& along) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first < choices.size();) {
    const std::string chosen = value_of(*choices[first]->config, way);
    std::size_t last = first;
    while (last + 1 < choices.size() && value_of(*choices[last + 1]->config, way) == chosen) ++last;
    const std::string from = value_of(*choices[first]->config, along);
    const std::string to = value_of(*choices[last]->config, along);
    const bool begins = first == 0;
    const bool ends = last + 1 == choices.size();
    const std::string where = begins && ends  ? fmt::format("from {} to {}", from, to)
                              : begins        ? "up to " + to
                              : ends          ? fmt::format("from {} on", from)
                              : first == last ? "at " + from
                                              : fmt::format("from {} to {}", from, to);
    parts.push_back(fmt::format("{} {}", chosen, where));
    first = last + 1;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool is_always_default(const ScenarioDescriptor& scenario, const std::vector<const Case*>& cases,
                       const std::string& name) {
  const Axis* const axis = scenario.axis(name);
  return axis != nullptr && std::ranges::all_of(cases, [&](const Case* c) {
           const Case::Param* const param = c->find(name);
           return param == nullptr || to_text(param->value, param->kind) == axis->defaults;
         });
}

/// Returns the name of the first axis for which suits() is true; empty if there is none.
template <class Suits>
std::string first_axis(const ScenarioDescriptor& scenario, const Suits& suits) {
  const auto found = std::ranges::find_if(scenario.axes, suits);
  return found == scenario.axes.end() ? std::string() : found->name;
}

/// `way`: the axis that names what to choose; `varied`: the axes in which choices differ.
std::vector<Finding> thresholds(const ScenarioDescriptor& scenario, const std::vector<ChosenCase>& choices,
                                const std::string& way, const std::vector<std::string>& varied) {
  const auto varies = [&varied](const Axis& a) { return has_item(varied, a.name); };
  const std::string along =
      first_axis(scenario, [&](const Axis& a) { return varies(a) && is_work(scenario, a.name) && !is_word(a.kind); });
  if (along.empty() || way.empty()) return {};
  std::vector<std::string> others = varied;
  std::erase_if(others, [&](const std::string& axis) { return axis == along || !is_work(scenario, axis); });
  const auto group = [&](const ChosenCase* choice) { return others.empty() ? "" : name_of(*choice->config, others); };
  std::vector<Finding> findings;
  for (auto& [key, those] : by_name(pointers_to(choices), group)) {
    std::ranges::stable_sort(those, {}, [&](const ChosenCase* c) { return c->config->find(along)->value; });
    Labels labels{{"axis", way}, {"along", along}};
    std::ranges::move(labels_of(*those.front()->config, others), std::back_inserter(labels));
    findings.push_back({.scenario = scenario.name,
                        .kind = "threshold",
                        .labels = std::move(labels),
                        .metrics = {},
                        .text = fmt::format("{}{} by {}: {}", key, key.empty() ? way : ", " + way, along,
                                            runs_text(those, way, along))});
  }
  return findings;
}

}  // namespace

std::string work_key(const Case& c, std::span<const std::string_view> work_axes) {
  return key_of(c, [work_axes](std::string_view axis) { return has_item(work_axes, axis); });
}

std::vector<std::vector<Case>> by_work(std::span<const Case> cases, std::span<const std::string_view> work_axes) {
  return list_of(by_name(cases, [&](const Case& c) { return work_key(c, work_axes); }),
                 [](auto& group) { return std::move(group.second); });
}

std::vector<Finding> threshold_findings(const ScenarioDescriptor& scenario, std::span<const Tuned> works) {
  const std::vector<ChosenCase> choices = choices_of(scenario, works);
  if (choices.size() < 2) return {};
  const std::vector<const Case*> cases = list_of(choices, &ChosenCase::config);
  const std::string way = first_axis(scenario, [&](const Axis& a) {
    return a.kind == AxisKind::choice && !is_work(scenario, a.name) && cases.front()->has(a.name);
  });
  std::vector<Finding> findings = thresholds(scenario, choices, way, varying_axes(cases));
  const auto measured = flat_list_of(works, [](const Tuned& tuned) {
    return list_of(tuned.results, [](const Result& result) -> const Case* { return &result.config; });
  });
  std::vector<std::string> labels = varying_axes(measured);
  std::erase_if(labels,
                [&](const std::string& axis) { return axis != way && is_always_default(scenario, cases, axis); });
  for (const ChosenCase& choice : choices) {
    Finding finding{.scenario = scenario.name, .kind = "choice", .labels = {}, .metrics = choice.metrics, .text = {}};
    for (const std::string& axis : labels) {
      const Case::Param* const param = choice.config->find(axis);
      if (param != nullptr) finding.labels.emplace_back(axis, to_text(param->value, param->kind));
    }
    if (!choice.confirmed) finding.labels.emplace_back("measured_in", "search");
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace xferbench
