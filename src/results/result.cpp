#include "results/result.hpp"

#include <algorithm>

#include "version.hpp"

namespace xferbench {

std::string_view to_text(Clock clock) {
  switch (clock) {
    case Clock::event_gated: return "event-gated";
    case Clock::event: return "event";
    case Clock::host: return "host";
    case Clock::cpu: return "cpu";
    case Clock::device: return "device";
  }
  return "";
}

std::string_view to_text(Stop stop) {
  switch (stop) {
    case Stop::ci: return "ci";
    case Stop::budget: return "budget";
    case Stop::max_samples: return "max-samples";
    case Stop::interrupted: return "interrupted";
  }
  return "";
}

std::string_view to_text(Status status) {
  switch (status) {
    case Status::ok: return "ok";
    case Status::failed: return "failed";
    case Status::skipped: return "skipped";
  }
  return "";
}

std::optional<double> relative_half_width(const Measurement& measurement) {
  if (!measurement.ci95 || measurement.median <= 0) return std::nullopt;
  return (measurement.ci95->high - measurement.ci95->low) / 2 / measurement.median;
}

const Measurement* headline_of(const Result& result, std::span<const MetricDeclaration> declared) {
  for (const MetricDeclaration& metric : declared) {
    const Measurement* m = metric.headline ? result.measurement(metric.name) : nullptr;
    if (m != nullptr && !m->samples.empty()) return m;
  }
  if (result.measurements.empty() || result.measurements.front().samples.empty()) return nullptr;
  return &result.measurements.front();
}

std::span<const MetricDeclaration> declared_for(const MetricsDeclared& all, std::string_view scenario) {
  const auto found = all.find(scenario);
  return found == all.end() ? std::span<const MetricDeclaration>() : found->second;
}

const Measurement* Result::measurement(std::string_view name) const {
  const auto found = std::ranges::find(measurements, name, &Measurement::name);
  return found == measurements.end() ? nullptr : &*found;
}

Tool this_tool() { return {build::kVersion, build::kGit, build::kCompiler, build::kCuda, build::kType}; }

std::string Result::label(std::string_view name) const {
  const auto found = std::ranges::find(labels, name, &Labels::value_type::first);
  return found == labels.end() ? "" : found->second;
}

const Metric* Result::metric(std::string_view name) const {
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  return found == metrics.end() ? nullptr : &*found;
}

}  // namespace xferbench
