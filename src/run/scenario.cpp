#include "run/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "measure/tracing.hpp"
#include "model/occupancy.hpp"

namespace xferbench {

std::vector<std::size_t> places_of(std::span<const int> numbers, const Environment& environment) {
  const std::vector<int> all = environment.gpu_numbers();
  std::vector<std::size_t> places;
  for (const int number : numbers) {
    const auto found = std::ranges::find(all, number);
    if (found != all.end()) places.push_back(static_cast<std::size_t>(found - all.begin()));
  }
  return places;
}

std::vector<Device*> devices_of(std::span<const int> numbers, const Machine& machine) {
  return list_of(places_of(numbers, machine.device().capabilities().environment),
                 [&](const std::size_t place) { return &machine.device(place); });
}

std::optional<SkipReason> missing_gpus(std::span<const int> numbers, const Environment& environment) {
  if (places_of(numbers, environment).size() == numbers.size()) return std::nullopt;
  const std::vector<int> all = environment.gpu_numbers();
  return SkipReason::unavailable(
      fmt::format("this run uses GPU{} {} only; choose one of these, or add GPUs with --gpus",
                  all.size() == 1 ? "" : "s", fmt::join(all, ", ")));
}

std::optional<SkipReason> missing_access(std::span<const int> from, std::span<const int> to,
                                         const Environment& environment) {
  for (const int one : from) {
    for (const int other : to) {
      if (one == other || environment.link(one, other).access) continue;
      return SkipReason::unavailable(fmt::format(
          "GPU {} cannot access the memory of GPU {}; choose GPUs with peer access (xferbench list gpus shows them)",
          one, other));
    }
  }
  return std::nullopt;
}

void add_wall(const Series& wall, Result& result) {
  if (wall.elapsed.samples.empty()) return;
  result.measurements.push_back(wall.elapsed);
  result.measurements.push_back(wall.part(kWallCalls));
  result.add(kTimeToResult, wall.elapsed.median, "s");
}

std::span<const MetricDeclaration> wall_metrics() {
  static const std::array<MetricDeclaration, 2> metrics{{
      measured(kWall, "host time from the first call to the return of the wait, launch overhead included"),
      measured(kWallCalls, "part of it: host time in the calls that submit the work"),
  }};
  return metrics;
}

MetricDeclaration time_to_result() {
  return derived_time(kTimeToResult, "host time from the first call to the return of the wait, median")
      .column("time to result");
}

std::span<const MetricDeclaration> several_gpus_metrics() {
  static const std::array<MetricDeclaration, 3> metrics{{
      measured(kGpuTime, "several GPUs: GPU time of each GPU's part, by events on that GPU"),
      measured(kGpuEnd, "several GPUs: time from the common start to each GPU's end, on the first GPU's clock"),
      measured(kSinceOpening, "several GPUs: host time from opening the gates to the end of the last GPU"),
  }};
  return metrics;
}

namespace {

constexpr double kAgreement = 0.01;  // larger differences between clocks, as fractions of the makespan, cause a warning

void compare_clocks(const Trace& trace, Result& result) {
  if (trace.source != "cupti" || trace.event_makespan <= 0) return;
  const double makespan = model::makespan(trace);
  if (std::abs(makespan - trace.event_makespan) <= kAgreement * trace.event_makespan) return;
  result.warnings.push_back(
      fmt::format("timeline: the makespan is {} by the trace and {} by events around the same pass; only the events "
                  "include starting and joining the streams",
                  format_seconds(makespan), format_seconds(trace.event_makespan)));
}

}  // namespace

bool RunContext::stopped() const { return pace != nullptr ? pace->interrupted() : interrupted() != 0; }

bool RunContext::verifies_again() const { return verify && !stopped(); }

void RunContext::keep_moments(std::span<const Series> series) const {
  if (moments == nullptr) return;
  for (const Series& s : series) {
    std::vector<Lockstep::Moments>& all = (*moments)[s.elapsed.name];
    all.insert(all.end(), s.moments.begin(), s.moments.end());
  }
}

std::vector<Series> RunContext::sample(std::vector<Region> regions, const SamplingPolicy& wanted) const {
  const auto with_earlier_turns = [this](std::vector<Series> series) {
    keep_moments(series);
    return history ? history->continued(std::move(series)) : series;
  };
  if (history) history->repeat_as_before(regions);
  try {
    return with_earlier_turns(xferbench::sample(machine, std::move(regions), wanted, observe, checks(), pace));
  } catch (FailedCheck& failed) {
    failed.sampled = with_earlier_turns(std::move(failed.sampled));
    throw;
  }
}

std::vector<Series> sample_few(const RunContext& bench, std::vector<Region> regions, std::size_t samples) {
  SamplingPolicy few = bench.policy;
  few.min_samples = few.max_samples = samples;
  return sample(bench.machine, std::move(regions), few, bench.observe);
}

bool all_sampled(std::span<const Series> series) {
  return std::ranges::none_of(series, [](const Series& s) { return s.elapsed.samples.empty(); });
}

void add_measurements(std::span<const Series> series, Result& result) {
  for (const Series& s : series) {
    const bool about = &s == &series.front();
    if (s.elapsed.name == kWall) {
      add_wall(s, result);
      continue;
    }
    result.measurements.push_back(s.elapsed);
    result.measurements.back().auxiliary = !about;
    if (about) result.measurements.insert(result.measurements.end(), s.parts.begin(), s.parts.end());
  }
}

std::span<const MetricDeclaration> timeline_metrics() {
  static const std::array<MetricDeclaration, 5> metrics{{
      label("trace_source", "source of a timeline's times: cupti, events, or the simulated device"),
      derived_time("traced_makespan", "makespan of the traced pass: from the first start to the last end on the GPU"),
      derived_time("traced_makespan_by_events",
                   "makespan of the traced pass by events around it, as samples are timed"),
      derived("concurrency", "1", Better::higher,
              "mean number of copies and kernels that ran at once in the traced pass"),
      derived("kernel_concurrency", "1", Better::higher,
              "mean number of kernels that ran at once in the traced pass; needs cupti or the simulated device"),
  }};
  return metrics;
}

void RunContext::trace_region(const Region& region, Result& result) const {
  if (!trace || interrupted() != 0) return;
  try {
    result.trace = trace_pass(machine, region);
  } catch (const MeasurementError& error) {  // without a timeline, the samples are still valid
    result.warnings.push_back(fmt::format("no timeline: {}", error.what()));
    return;
  }
  const Trace& t = *result.trace;
  result.labels.emplace_back("trace_source", t.source);
  result.add("traced_makespan", model::makespan(t), "s");
  if (t.event_makespan > 0) result.add("traced_makespan_by_events", t.event_makespan, "s");
  result.add("concurrency", model::concurrency(t), "1");
  // Events cannot distinguish concurrent kernels from kernels that wait for each other.
  if (t.source != "events") result.add("kernel_concurrency", model::kernel_concurrency(t), "1");
  if (!t.note.empty()) result.warnings.push_back("timeline: " + t.note);
  compare_clocks(t, result);
}

}  // namespace xferbench
