#include "words/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "words/case_keys.hpp"

namespace xferbench {

namespace {

using Results = std::vector<const Result*>;

/// Returns a number of the case as text, for example "55.45 GB/s ± 0.4 %", "94.9 %" or "1.75 times"; empty if the case
/// has no such number. Only the rate by which the best case is chosen gets its confidence interval.
std::string quantity(const ScenarioDescriptor& scenario, const MetricDeclaration& of, const Result& result) {
  if (of.kind == MetricDeclaration::Kind::label) return result.label(of.name);
  if (of.kind == MetricDeclaration::Kind::measurement) {
    const Measurement* m = result.measurement(of.name);
    return m == nullptr || m->samples.empty() ? "" : format_quantity(m->median, m->unit);
  }
  const Metric* metric = result.metric(of.name);
  if (metric == nullptr) return {};
  if (of.format == MetricDeclaration::Format::ratio) return fmt::format("{:.2f} times", metric->value);
  const std::string text = format_quantity(metric->value, metric->unit);
  // The relative confidence interval of a rate is that of the time from which the rate was computed.
  const Measurement* headline = metric->unit == "GB/s" ? headline_of(result, scenario.metrics) : nullptr;
  const auto width =
      headline == nullptr || of.name != scenario.answer.best ? std::nullopt : relative_half_width(*headline);
  return width ? text + " ± " + format_percent(*width) : text;
}

const Result* best_of(const ScenarioDescriptor& scenario, const Results& results) {
  const std::string& name = scenario.answer.best;
  const MetricDeclaration* declared = scenario.metric(name);
  if (declared == nullptr) return nullptr;
  const double sign = declared->better == Better::higher ? -1 : 1;
  std::optional<std::pair<double, const Result*>> best;
  for (const Result* r : results) {
    const Metric* metric = r->metric(name);
    const Measurement* m = r->measurement(name);
    if (metric == nullptr && (m == nullptr || m->samples.empty())) continue;
    const double value = sign * (metric != nullptr ? metric->value : m->median);
    if (!best || value < best->first) best = {value, r};
  }
  return best ? best->second : nullptr;
}

/// Returns the number for "{factor}" in ScenarioDescriptor::answer; empty if no case is slow in that way, or `best` is.
std::string factor_of(const ScenarioDescriptor& scenario, const Result& best, Results like) {
  const Answer& answer = scenario.answer;
  std::erase_if(like, [&](const Result* r) { return !r->config.is(answer.slow_axis, answer.slow_value); });
  const Result* slow = best_of(scenario, like);
  const Measurement* time = headline_of(best, scenario.metrics);
  const Measurement* slow_time = slow == nullptr ? nullptr : headline_of(*slow, scenario.metrics);
  if (time == nullptr || slow_time == nullptr || slow == &best) return {};
  return factor_text(slow_time->median / time->median);
}

/// Returns a clause of ScenarioDescriptor::answer with its numbers filled in; nullopt if one of them is unknown.
std::optional<std::string> filled(const std::string& clause, const ScenarioDescriptor& scenario, const Result& result,
                                  const Results& like) {
  std::string text;
  std::size_t from = 0;
  for (std::size_t at = clause.find('{'); at != std::string::npos; at = clause.find('{', from)) {
    const std::size_t end = clause.find('}', at);
    const std::string name = clause.substr(at + 1, end - at - 1);
    const MetricDeclaration* declared = scenario.metric(name);
    const std::string number = name == "factor"      ? factor_of(scenario, result, like)
                               : declared == nullptr ? ""
                                                     : quantity(scenario, *declared, result);
    if (number.empty()) return std::nullopt;
    text += clause.substr(from, at - from) + number;
    from = end + 1;
  }
  return text + clause.substr(from);
}

std::string sentence_of(const ScenarioDescriptor& scenario, const Result& result, const Results& like) {
  std::vector<std::string> parts;
  for (std::string& clause : split(scenario.answer.text, ';')) {
    clause.erase(0, clause.find_first_not_of(' '));
    if (auto text = filled(clause, scenario, result, like)) parts.push_back(*std::move(text));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Returns the cases that compete to be the best: those with the largest value of each of these axes.
Results largest(Results results, const std::vector<std::string>& axes) {
  for (const std::string& axis : axes) {
    const auto size = [&axis](const Result* r) { return r->config.has(axis) ? r->config.count(axis) : 0; };
    const std::uint64_t most = size(*std::ranges::max_element(results, {}, size));
    std::erase_if(results, [&](const Result* r) { return size(r) != most; });
  }
  return results;
}

/// Returns how the best case differs from the others, for example " (size 256 MiB; the best of 4 cases: host pinned; 1
/// FAILED)". `like`: the cases from which the best was chosen; `all`: all cases that the sentence is about.
std::string which(const ScenarioDescriptor& scenario, const Result& best, const Results& like, const Results& all) {
  const auto differs_in = [&best](const Axis& axis, const Results& results) {
    return best.config.has(axis.name) && std::ranges::any_of(results, [&](const Result* r) {
             return r->config.has(axis.name) && axis_text(*r, axis.name) != axis_text(best, axis.name);
           });
  };
  std::vector<std::string> fixed;
  std::vector<std::string> chosen;
  for (const Axis& axis : scenario.axes) {
    const std::string text = axis.name + " " + axis_text(best, axis.name);
    if (differs_in(axis, like)) {
      chosen.push_back(text);
    } else if (differs_in(axis, all)) {
      fixed.push_back(text);
    }
  }
  if (!chosen.empty()) fixed.push_back(fmt::format("the best of {} cases: {}", like.size(), fmt::join(chosen, ", ")));
  const auto failed = std::ranges::count(all, Status::failed, &Result::status);
  if (failed > 0) fixed.push_back(fmt::format("{} FAILED", failed));
  return fixed.empty() ? "" : fmt::format(" ({})", fmt::join(fixed, "; "));
}

}  // namespace

bool leads_answer(const ScenarioDescriptor& scenario, const Finding& finding) {
  return !finding.detail && !finding.row && !finding.text.empty() && has_item(scenario.answer.findings, finding.kind);
}

std::vector<std::string> answers_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results) {
  const Results run = those_of(results, [](const Result* r) { return r->status != Status::skipped; });
  const auto name_of = [&scenario](const Result* r) {
    const auto axes = those_of(scenario.answer.each, [r](const std::string& axis) { return r->config.has(axis); });
    const auto names = list_of(axes, [&](const std::string& axis) {
      // A path needs the name of its axis: "path . cold" rather than ". cold".
      const bool is_path = std::ranges::find(scenario.axes, axis, &Axis::name)->kind == AxisKind::file;
      return (is_path ? axis + " " : "") + axis_text(*r, axis);
    });
    return fmt::format("{}", fmt::join(names, " "));
  };
  std::vector<std::string> sentences;
  for (const auto& [name, all] : by_name(run, name_of)) {
    const Results measured = those_of(all, [](const Result* r) { return r->status == Status::ok; });
    if (measured.empty()) continue;
    const Results like = largest(measured, scenario.answer.largest);
    const Result* best = best_of(scenario, like);
    const std::string text = best == nullptr ? "" : sentence_of(scenario, *best, like);
    if (!text.empty())
      sentences.push_back(name + (name.empty() ? "" : ": ") + text + which(scenario, *best, like, all));
  }
  return sentences;
}

}  // namespace xferbench
