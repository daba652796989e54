#include "words/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include "core/units.hpp"
#include "words/cells.hpp"

namespace xferbench {

namespace {

using Results = std::vector<const Result*>;

/// "55.45 GB/s +- 0.4 %" of what the best is chosen by, "94.9 %", "1.75 times"; empty where the case has no such
/// number.
std::string quantity(const ScenarioDescriptor& scenario, const MetricDeclaration& of, const Result& result) {
  if (of.kind == MetricDeclaration::Kind::label) return result.label(of.name);
  if (of.kind == MetricDeclaration::Kind::measurement) {
    const Measurement* m = result.measurement(of.name);
    return m == nullptr || m->samples.empty() ? "" : format_quantity(m->median, m->unit);
  }
  const Metric* metric = result.metric(of.name);
  if (metric == nullptr) return {};
  if (of.format == MetricDeclaration::Format::ratio) return fmt::format("{:.2f} times", metric->value);
  std::string text = format_quantity(metric->value, metric->unit);
  const Measurement* headline = headline_of(result, scenario.metrics);
  const auto width =
      headline == nullptr || of.name != scenario.answer.best ? std::nullopt : relative_half_width(*headline);
  return width ? text + " +- " + format_percent(*width) : text;
}

/// A clause with its numbers; nothing where one of them is not known.
std::optional<std::string> filled(const std::string& clause, const ScenarioDescriptor& scenario, const Result& result) {
  std::string text;
  std::size_t from = 0;
  for (std::size_t at = clause.find('{'); at != std::string::npos; at = clause.find('{', from)) {
    const std::size_t end = clause.find('}', at);
    const std::string name = clause.substr(at + 1, end - at - 1);
    const auto declared = std::ranges::find(scenario.metrics, name, &MetricDeclaration::name);
    const std::string number = declared == scenario.metrics.end() ? "" : quantity(scenario, *declared, result);
    if (number.empty()) return std::nullopt;
    text += clause.substr(from, at - from) + number;
    from = end + 1;
  }
  return text + clause.substr(from);
}

std::string sentence_of(const ScenarioDescriptor& scenario, const Result& result) {
  std::vector<std::string> parts;
  std::istringstream clauses(scenario.answer.text);
  for (std::string clause; std::getline(clauses, clause, ';');) {
    clause.erase(0, clause.find_first_not_of(' '));
    if (auto text = filled(clause, scenario, result)) parts.push_back(*std::move(text));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// Those that moved most: small ones say what a call costs, and not how fast data moves.
Results largest(const Results& results) {
  const auto size = [](const Result* r) { return r->config.has("size") ? r->config.count("size") : 0; };
  const std::uint64_t most = size(*std::ranges::max_element(results, {}, size));
  Results those;
  std::ranges::copy_if(results, std::back_inserter(those), [&](const Result* r) { return size(r) == most; });
  return those;
}

const Result* best_of(const ScenarioDescriptor& scenario, const Results& results) {
  const std::string& name = scenario.answer.best;
  const auto declared = std::ranges::find(scenario.metrics, name, &MetricDeclaration::name);
  if (declared == scenario.metrics.end()) return nullptr;
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

/// " (the best of 4 cases: host pinned, size 256 MiB)": what tells it from the others.
std::string which(const ScenarioDescriptor& scenario, const Result& best, const Results& results) {
  std::vector<std::string> axes;
  for (const Axis& axis : scenario.axes) {
    const auto differs = [&](const Result* r) { return axis_text(*r, axis.name) != axis_text(best, axis.name); };
    if (best.config.has(axis.name) && std::ranges::any_of(results, differs)) {
      axes.push_back(axis.name + " " + axis_text(best, axis.name));
    }
  }
  if (results.size() < 2 || axes.empty()) return {};
  return fmt::format(" (the best of {} cases: {})", results.size(), fmt::join(axes, ", "));
}

}  // namespace

std::vector<std::string> answers_of(const ScenarioDescriptor& scenario, std::span<const Result* const> results) {
  std::vector<std::string> order;
  std::map<std::string, Results> groups;
  for (const Result* r : results) {
    if (r->status != Status::ok) continue;
    std::vector<std::string> names;
    for (const std::string& axis : scenario.answer.each) {
      if (r->config.has(axis)) names.push_back(axis_text(*r, axis));
    }
    const std::string name = fmt::format("{}", fmt::join(names, " "));
    if (!groups.contains(name)) order.push_back(name);
    groups[name].push_back(r);
  }
  std::vector<std::string> sentences;
  for (const std::string& name : order) {
    const Results& all = groups[name];
    const Result* best = best_of(scenario, scenario.answer.any_size ? all : largest(all));
    const std::string text = best == nullptr ? "" : sentence_of(scenario, *best);
    if (!text.empty()) sentences.push_back(name + (name.empty() ? "" : ": ") + text + which(scenario, *best, all));
  }
  return sentences;
}

}  // namespace xferbench
