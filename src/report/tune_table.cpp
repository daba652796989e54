#include "report/tune_table.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "report/table.hpp"

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

}  // namespace

std::string to_tune_table(const Report& report, const ScenarioView& scenario, const Style& style) {
  Report shown = report;
  shown.results = fastest(report);
  std::vector<Column> columns(scenario.columns.begin(), scenario.columns.end());
  columns.push_back({"predicted", Column::Source::seconds, "predicted"});
  columns.push_back({"residual", Column::Source::percent, "residual"});
  ScenarioView view = scenario;
  view.columns = columns;
  view.heat_map.reset();  // a search leaves holes
  return to_table(shown, {&view, 1}, style);
}

}  // namespace xferbench
