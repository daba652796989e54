#include "core/metric_declaration.hpp"

#include <algorithm>
#include <utility>

namespace xferbench {

using Kind = MetricDeclaration::Kind;
using Format = MetricDeclaration::Format;
using Beside = MetricDeclaration::Beside;

MetricDeclaration MetricDeclaration::as_headline() && {
  headline = true;
  return std::move(*this);
}

MetricDeclaration MetricDeclaration::in(std::string its_unit, Better its_better) && {
  unit = std::move(its_unit);
  better = its_better;
  format = Format::number;
  return std::move(*this);
}

MetricDeclaration MetricDeclaration::column(std::string its_heading, std::vector<Beside> columns_beside) && {
  heading = std::move(its_heading);
  beside = std::move(columns_beside);
  return std::move(*this);
}

MetricDeclaration MetricDeclaration::column(std::string its_heading, Format its_format) && {
  heading = std::move(its_heading);
  format = its_format;
  return std::move(*this);
}

MetricDeclaration measured(std::string name, std::string help) {
  return {.name = std::move(name), .unit = "s", .better = Better::lower, .help = std::move(help)};
}

MetricDeclaration derived(std::string name, std::string unit, Better better, std::string help) {
  return {.name = std::move(name),
          .kind = Kind::metric,
          .unit = std::move(unit),
          .better = better,
          .format = Format::number,
          .help = std::move(help)};
}

MetricDeclaration derived_time(std::string name, std::string help) {
  MetricDeclaration time = measured(std::move(name), std::move(help));
  time.kind = Kind::metric;
  return time;
}

MetricDeclaration label(std::string name, std::string help) {
  return {.name = std::move(name), .kind = Kind::label, .format = Format::word, .help = std::move(help)};
}

std::string Column::header() const {
  if (!beside) return of->heading;
  return *beside == Beside::interval ? "+-" : std::string(to_text(*beside));
}

std::vector<Column> columns_of(std::span<const MetricDeclaration> metrics) {
  std::vector<Column> columns;
  for (const MetricDeclaration& metric : metrics) {
    if (metric.heading.empty()) continue;
    columns.push_back({.of = &metric});
    for (const Beside beside : metric.beside) columns.push_back({.of = &metric, .beside = beside});
  }
  return columns;
}

const MetricDeclaration* find(std::span<const MetricDeclaration> metrics, Kind kind, std::string_view name) {
  const auto found =
      std::ranges::find_if(metrics, [&](const MetricDeclaration& m) { return m.kind == kind && m.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

}  // namespace xferbench
