// together: the same copies on one, two and all GPUs of a machine at once: total bandwidth, the share of each GPU, and
// which GPUs share a bottleneck.
#include <fmt/format.h>

#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "run/finding_text.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/peer_access.hpp"
#include "scenarios/together/case.hpp"
#include "scenarios/together/copies.hpp"

namespace xferbench {

namespace {

/// Returns the time from the common start to the end of the last copy in one direction, one sample per pass.
Measurement direction_of(const Series& series, std::string name, const GroupCopies& copies, Direction direction) {
  std::vector<double> samples;
  for (const std::vector<double>& times : series.stream_times) {
    double last = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      if (copies.copies()[i].direction == direction) last = std::max(last, times[i]);
    }
    samples.push_back(last);
  }
  return series_of_same_passes(series, std::move(name), std::move(samples));
}

void report_directions(const TogetherCase& c, const Series& series, const GroupCopies& copies, Result& result) {
  if (c.pattern != GroupPattern::both) return;
  const std::uint64_t bytes = c.gpus.size() * c.bytes;
  for (const auto& [name, direction] : {std::pair{"h2d", Direction::h2d}, std::pair{"d2h", Direction::d2h}}) {
    Measurement m = direction_of(series, name, copies, direction);
    result.add(fmt::format("{}_bandwidth", name), gigabytes_per_second(bytes, m.median), "GB/s");
    result.measurements.push_back(std::move(m));
  }
}

/// Adds the bandwidth of each GPU while all of them copy, and alone. `alone`: one series per member of the group.
void report_members(const TogetherCase& c, const GroupCopies& copies, const Series& together,
                    std::span<const Series> alone, Result& result) {
  double sum = 0;
  for (std::size_t i = 0; i < copies.members().size(); ++i) {
    const auto& [gpu, own] = copies.members()[i];
    const std::uint64_t bytes = own.size() * c.bytes;
    const double at_once = gigabytes_per_second(bytes, result.measurement(kGpuTime, gpu)->median);
    const double by_itself = gigabytes_per_second(bytes, alone[i].elapsed.median);
    result.add("gpu_bandwidth", at_once, "GB/s", gpu);
    result.add("gpu_alone_bandwidth", by_itself, "GB/s", gpu);
    result.add("gpu_of_alone", std::min(1.0, at_once / by_itself), "1", gpu);
    sum += by_itself;
  }
  result.add("of_alone", std::min(1.0, result.value("bandwidth") / sum), "1");
  result.add("skew", skew_of(together), "s");
}

void warn_of_short_copies(std::size_t gpus, Result& result) {
  const double time = result.median("together");
  if (gpus < 2 || time >= kShortestSample) return;
  result.warnings.push_back(
      fmt::format("the copies take only {}, and starting and joining {} GPUs is part of that; choose a larger --size",
                  format_seconds(time), gpus));
}

class Together final : public ScenarioOf<together_case> {
 public:
  using ScenarioOf::ScenarioOf;

  [[nodiscard]] std::vector<Case> expand(const Case& c, const GpusOfRun& run) const override {
    return groups_of(c, run);
  }
  /// Returns the GPUs of the case; only the first if the word for groups has not been replaced by GPU numbers yet.
  [[nodiscard]] std::vector<std::size_t> takes_part(const Case& c, const Environment& environment) const override {
    const std::vector<int> gpus = together_case(c).gpus;
    return gpus.empty() ? std::vector<std::size_t>{0} : places_of(gpus, environment);
  }

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const TogetherCase& c,
                                                         const Capabilities* can) const override {
    return together_skip_reason(c, can);
  }

  [[nodiscard]] MemoryNeeds memory_needs(const TogetherCase& c) const override {
    const std::uint64_t size = c.bytes;
    const std::uint64_t n = std::max<std::size_t>(c.gpus.size(), 1);
    switch (c.pattern) {
      case GroupPattern::h2d:
      case GroupPattern::d2h: return {.host = n * size, .device = size};
      case GroupPattern::both: return {.host = 2 * n * size, .device = 2 * size};
      case GroupPattern::ring: return {.host = size, .device = 2 * size};
      case GroupPattern::all_to_all: return {.host = size, .device = n * size};
      case GroupPattern::one_to_all: return {.host = size, .device = size};
      case GroupPattern::all_to_one: return {.host = size, .device = (n - 1) * size};
    }
    return {};
  }

  void measure(const TogetherCase& c, const RunContext& bench, Result& result) const override {
    const std::vector<Device*> group = devices_of(c.gpus, bench.machine);
    std::optional<PeerAccess> access;
    if (between_gpus(c.pattern)) access.emplace(group);
    GroupCopies copies(c, group, bench.seed);
    if (bench.needs_data()) copies.prepare();
    const Region together = copies.at_once();
    if (bench.verify) copies.verify(bench.machine, together, run_once);
    const bool several = copies.members().size() > 1;
    std::vector<Region> regions{together};
    if (several) {
      for (const GroupCopies::Member& member : copies.members()) regions.push_back(copies.alone(member));
    }
    const std::vector<Series> series = bench.sample(std::move(regions));
    add_measurements(series, result);
    const bool sampled = all_sampled(series);
    if (sampled) {
      const std::uint64_t bytes = copies.copies().size() * c.bytes;
      result.add("bandwidth", gigabytes_per_second(bytes, series.front().elapsed.median), "GB/s");
      report_directions(c, series.front(), copies, result);
      if (several) report_members(c, copies, series.front(), std::span(series).subspan(1), result);
      warn_of_short_copies(copies.members().size(), result);
    }
    if (bench.verifies_again()) copies.verify(bench.machine, together, run_at_full_speed);
    if (sampled) bench.trace_region(together, result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    return conclude_together(results);
  }
};

std::vector<MetricDeclaration> together_metrics() {
  using namespace declaring;
  std::vector<MetricDeclaration> metrics{
      measured("together", "time from the start of all copies to the end of the last")
          .as_headline()
          .column("time", {interval}),
      derived("bandwidth", "GB/s", higher, "bytes of all copies over that time").column("GB/s"),
      derived("of_alone", "1", higher, "bandwidth over the sum of the GPUs' bandwidths alone")
          .column("% of alone", percent),
      derived("h2d_bandwidth", "GB/s", higher,
              "both: H2D bytes of all GPUs, over the time until the last H2D copy ends")
          .column("H2D GB/s"),
      derived("d2h_bandwidth", "GB/s", higher,
              "both: D2H bytes of all GPUs, over the time until the last D2H copy ends")
          .column("D2H GB/s"),
      derived_time("skew", "time from the first GPU's end to the last GPU's end").column("skew"),
      measured(kAlone, "time of the copies of one GPU while no other GPU copies"),
      measured("h2d", "both: time from the start to the end of the last H2D copy"),
      measured("d2h", "both: time from the start to the end of the last D2H copy"),
      derived("gpu_bandwidth", "GB/s", higher, "bandwidth of one GPU while all copy: its bytes over its own time"),
      derived("gpu_alone_bandwidth", "GB/s", higher, "bandwidth of one GPU while no other GPU copies"),
      derived("gpu_of_alone", "1", higher, "bandwidth of one GPU while all copy, over its bandwidth alone"),
  };
  return with_shared(std::move(metrics), several_gpus_metrics(), timeline_metrics());
}

}  // namespace

const Scenario& together_scenario() {
  static const Together scenario({
      .name = "together",
      .summary = "the same copies on one, two and all GPUs at once, and which of them share a bottleneck",
      .axes = together_axes(),
      .metrics = together_metrics(),
      .gpu_bars = {{.at_once = "gpu_bandwidth",
                    .alone = "gpu_alone_bandwidth",
                    .panels = {"pattern", "memory", "size"}}},
      .answer = {.best = "bandwidth",
                 .text = "{bandwidth}, {of_alone} of what the GPUs reach alone",
                 .findings = {"gpus", "bottleneck"},
                 .each = {"pattern"}},
      .has_timeline = true,
      .gpus = UsesGpus::several,
      .note = ScenarioDescriptor::Note{"h2d_bandwidth", kEachOverItsOwnTime},
  });
  return scenario;
}

}  // namespace xferbench
