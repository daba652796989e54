// Hand-made records for the tests of reports.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench::test {

inline const std::vector<Axis>& copy_axes() {
  static const std::vector<Axis> axes{{.name = "dir", .kind = AxisKind::choice, .choices = {"h2d", "d2h", "d2d"}},
                                      {.name = "host", .kind = AxisKind::choice, .choices = {"pinned", "pageable"}},
                                      {.name = "size", .kind = AxisKind::size}};
  return axes;
}

inline const ScenarioDescriptor& copy_descriptor() {
  using enum MetricDeclaration::Format;
  using enum MetricDeclaration::Companion;
  static const ScenarioDescriptor copy{
      .name = "copy",
      .summary = "copies",
      .axes = copy_axes(),
      .metrics = {measured("copy", "a copy").as_headline().column("time", {interval}),
                  derived("bandwidth", "GB/s", Better::higher, "payload over time").column("GB/s"),
                  derived("speedup", "1", Better::higher, "over another").column("speedup", ratio),
                  derived("of_limit", "1", Better::higher, "over the limit").column("of limit", percent, {interval}),
                  derived_time("blocked", "in the call").column("blocked")}};
  return copy;
}

/// A scenario without axes whose columns include percentiles.
inline const ScenarioDescriptor& tail_descriptor() {
  using enum MetricDeclaration::Companion;
  static const ScenarioDescriptor tail{
      .name = "tail",
      .summary = "tails",
      .axes = {},
      .metrics = {measured("copy", "a copy").as_headline().column("time", {p90, p99}),
                  derived("bandwidth", "GB/s", Better::higher, "payload over time").column("GB/s")}};
  return tail;
}

/// A scenario with a heat map of "efficiency", shown in `format`.
inline ScenarioDescriptor pipe_descriptor(MetricDeclaration::Format format = MetricDeclaration::Format::percent) {
  return {.name = "pipe",
          .summary = "pipes",
          .axes = {{.name = "size", .kind = AxisKind::size}, {.name = "streams"}, {.name = "chunks"}},
          .metrics = {derived("efficiency", "1", Better::higher, "close to the limit").column("of limit", format)},
          .heat_maps = {{"streams", "chunks", "efficiency"}}};
}

inline Result piped(std::uint64_t size, std::uint64_t streams, std::uint64_t chunks, double efficiency) {
  const ScenarioDescriptor pipe = pipe_descriptor();
  Case c(pipe.name);
  c.set(pipe.axes[0], size);
  c.set(pipe.axes[1], streams);
  c.set(pipe.axes[2], chunks);
  Result r(c);
  r.add("efficiency", efficiency, "1");
  return r;
}

/// A case of scenario "copy"; without an axis "host" if `host` is empty.
inline Case copy_case(const std::string& dir, const std::string& host, std::uint64_t size) {
  Case c("copy");
  c.set(copy_axes()[0], dir);
  if (!host.empty()) c.set(copy_axes()[1], host);
  c.set(copy_axes()[2], size);
  return c;
}

/// A measurement with a chosen summary; it is not computed from the samples.
inline Measurement measured(std::string name, Clock clock, std::vector<double> samples, double median, Interval ci95) {
  Measurement m;
  m.name = std::move(name);
  m.clock = clock;
  m.min = samples.front();
  m.max = samples.back();
  m.samples = std::move(samples);
  m.median = median;
  m.ci95 = ci95;
  m.stop = Stop::ci;
  return m;
}

inline Report real_report() {
  Report report;
  report.complete = true;
  report.started_at = "2026-11-21T10:00:00Z";
  report.command = {"xferbench", "copy"};
  report.environment.backend = "cuda";
  report.environment.gpu.name = "NVIDIA H200";
  report.environment.gpu.pcie = {5, 16, "nvml"};
  report.environment.driver = "580.1";
  report.environment.host.cpu = "Some CPU";
  return report;
}

inline Report simulated_report() {
  Report report = real_report();
  report.environment.backend = "simulated";
  report.environment.profile = "h200";
  report.environment.driver.clear();
  return report;
}

}  // namespace xferbench::test
