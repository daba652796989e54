#include "report/run/tune_table.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "report/run/markdown.hpp"
#include "report/run/table.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kShown = 10;

double makespan(const Result& result) {
  const Metric* metric = result.metric("makespan");
  return metric == nullptr ? 0 : metric->value;
}

/// The fastest first; those measured only in the search after those that were measured again beside each other.
std::vector<Result> fastest(const Report& report) {
  std::vector<Result> ok;
  std::vector<Result> failed;
  for (const Result& r : report.results) (r.status == Status::ok ? ok : failed).push_back(r);
  std::ranges::stable_sort(
      ok, {}, [](const Result& r) { return std::pair(r.label("measured_in") != "confirmation", makespan(r)); });
  if (ok.size() > kShown) ok.erase(ok.begin() + kShown, ok.end());
  ok.insert(ok.end(), failed.begin(), failed.end());
  return ok;
}

/// What a tune shows of its results, drawn by `draw` from a report and a scenario.
template <class Draw>
std::string shown_by(const Report& report, const ScenarioView& scenario, const Draw& draw) {
  Report shown = report;
  shown.results = fastest(report);
  std::vector<Column> columns(scenario.columns.begin(), scenario.columns.end());
  columns.push_back({"predicted", Column::Source::seconds, "predicted"});
  columns.push_back({"residual", Column::Source::percent, "residual"});
  ScenarioView view = scenario;
  view.columns = columns;
  view.heat_map.reset();  // a search leaves holes
  return draw(shown, std::span<const ScenarioView>(&view, 1));
}

}  // namespace

std::string to_tune_table(const Report& report, const ScenarioView& scenario, const Style& style) {
  return shown_by(report, scenario, [&style](const Report& shown, std::span<const ScenarioView> view) {
    return to_table(shown, view, style);
  });
}

std::string to_tune_markdown(const Report& report, const ScenarioView& scenario) {
  return shown_by(report, scenario,
                  [](const Report& shown, std::span<const ScenarioView> view) { return to_markdown(shown, view); });
}

}  // namespace xferbench
