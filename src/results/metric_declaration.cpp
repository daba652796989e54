#include "results/metric_declaration.hpp"

#include "core/lists.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

std::vector<Column> columns_of(std::span<const MetricDeclaration> metrics) {
  std::vector<Column> columns;
  for (const MetricDeclaration& metric : metrics) {
    if (metric.heading.empty()) continue;
    columns.push_back({.of = &metric});
    for (const auto companion : metric.companion) columns.push_back({.of = &metric, .companion = companion});
  }
  return columns;
}

const MetricDeclaration* find(std::span<const MetricDeclaration> metrics, MetricDeclaration::Kind kind,
                              std::string_view name) {
  return found_in(metrics, std::pair(kind, name),
                  [](const MetricDeclaration& m) { return std::pair(m.kind, std::string_view(m.name)); });
}

const Axis* ScenarioDescriptor::axis(std::string_view its_name) const { return found_in(axes, its_name, &Axis::name); }

const MetricDeclaration* ScenarioDescriptor::metric(std::string_view its_name) const {
  return found_in(metrics, its_name, &MetricDeclaration::name);
}

}  // namespace xferbench
