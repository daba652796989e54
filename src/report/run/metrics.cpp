#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "core/units.hpp"
#include "report/openmetrics/openmetrics.hpp"
#include "report/run/run_report.hpp"
#include "results/utc.hpp"
#include "words/trust.hpp"

namespace xferbench {

namespace {

using openmetrics::Family;
using openmetrics::Sample;

/// The OpenMetrics base unit for a unit in results, and the factor to convert to it. Counts have no unit.
struct BaseUnit {
  std::string_view of_results;
  std::string_view base;
  double factor;
};
constexpr std::array kBaseUnits{
    BaseUnit{"s", "seconds", 1}, BaseUnit{"GB/s", "bytes_per_second", 1e9}, BaseUnit{"1", "ratio", 1},
    BaseUnit{"B", "bytes", 1},   BaseUnit{"MiB", "bytes", 1.0 * MiB},       BaseUnit{"Hz", "hertz", 1},
};

BaseUnit base_unit_of(std::string_view unit) {
  const auto* const found = std::ranges::find(kBaseUnits, unit, &BaseUnit::of_results);
  return found == kBaseUnits.end() ? BaseUnit{unit, "", 1} : *found;
}

/// Returns a text as a part of a metric's name: "gpu_begins" from "gpu-begins".
std::string name_part(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')); }, '_');
  return text;
}

Sample sample_of(const Result& result, double value) {
  Sample sample{.labels = {{"case", result.config.key()}}, .value = value};
  if (result.in_fleet) {
    sample.labels.emplace_back("rank", std::to_string(result.in_fleet->rank));
    sample.labels.emplace_back("pace", to_text(result.in_fleet->pace));
    sample.labels.emplace_back("round", std::to_string(result.in_fleet->round));
  }
  return sample;
}

/// Returns one family of metrics for each main measurement (headline) that the scenario declares.
std::vector<Family> headlines(const Report& report, const ScenarioDescriptor& scenario) {
  std::vector<Family> families;
  for (const MetricDeclaration& declared : scenario.metrics) {
    if (!declared.headline) continue;
    const BaseUnit unit = base_unit_of(declared.unit);
    Family family{.name = "xferbench_" + name_part(scenario.name) + "_" + name_part(declared.name),
                  .unit = std::string(unit.base),
                  .help = "Median of a case of " + scenario.name + ": " + declared.help};
    std::set<std::string> seen;  // if a case occurs twice, only its first number is used
    for (const Result& result : report.results) {
      if (result.config.scenario() != scenario.name || result.status != Status::ok) continue;
      const Measurement* headline = headline_of(result, scenario.metrics);
      if (headline == nullptr || headline->name != declared.name || !seen.insert(result.identity()).second) continue;
      family.samples.push_back(sample_of(result, headline->median * unit.factor));
    }
    families.push_back(std::move(family));
  }
  return families;
}

/// Returns metrics about the run itself, and about how far its numbers can be trusted.
std::vector<Family> about_run(const Report& report) {
  const Environment& e = report.environment;
  openmetrics::Labels labels{{"version", report.tool.version}, {"gpu", e.gpu.name}, {"driver", e.driver}};
  std::ranges::move(openmetrics::labels_of(trust_of(report)), std::back_inserter(labels));
  Family info{.name = "xferbench_run",
              .type = openmetrics::Type::info,
              .help = "The run that measured the numbers.",
              .samples = {{.labels = std::move(labels), .value = 1}}};
  Family started{.name = "xferbench_run_started_timestamp", .unit = "seconds", .help = "Start of the run."};
  if (const auto moment = parse_utc(report.started_at)) started.samples = {{.value = static_cast<double>(*moment)}};
  Family complete{.name = "xferbench_run_complete",
                  .help = "1 if the run is complete, 0 if it was stopped.",
                  .samples = {{.value = report.complete ? 1.0 : 0.0}}};
  Family cases{.name = "xferbench_run_cases", .help = "Number of cases with this status."};
  for (const std::string_view status : texts_of(Status{})) {
    const auto count =
        std::ranges::count_if(report.results, [&](const Result& result) { return to_text(result.status) == status; });
    cases.samples.push_back({.labels = {{"status", std::string(status)}}, .value = static_cast<double>(count)});
  }
  return {info, started, complete, cases};
}

}  // namespace

std::string to_openmetrics(const Report& report, Descriptors scenarios) {
  std::vector<Family> families = about_run(report);
  for (const ScenarioDescriptor* scenario : scenarios) {
    for (Family& family : headlines(report, *scenario)) families.push_back(std::move(family));
  }
  return openmetrics::to_text(families);
}

}  // namespace xferbench
