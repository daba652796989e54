// latency: what small things cost, one at a time: a short copy, a launch, a graph, noticing that work has ended,
// passing it on to another stream, one read of memory. Percentiles, not only medians: who waits for these waits for the
// slow ones, too.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "run/scenario.hpp"
#include "scenarios/latency/chase.hpp"
#include "scenarios/latency/operations.hpp"

namespace xferbench {

namespace {

bool is(const Case& c, std::string_view axis, std::string_view word) { return c.has(axis) && c.word(axis) == word; }
bool is_op(const Case& c, std::string_view op) { return c.word("op") == op; }

WaitMethod wait_method(const Case& c) {
  if (is(c, "method", "stream")) return WaitMethod::stream;
  return is(c, "method", "event") ? WaitMethod::event : WaitMethod::query;
}

/// Automatic for a poll, which the policy does not concern.
WaitPolicy wait_policy(const Case& c) {
  if (is(c, "schedule", "spin")) return WaitPolicy::spin;
  if (is(c, "schedule", "yield")) return WaitPolicy::yield;
  return is(c, "schedule", "blocking") ? WaitPolicy::blocking : WaitPolicy::automatic;
}

ChaseMemory chase_memory(const Case& c) { return is(c, "memory", "host") ? ChaseMemory::host : ChaseMemory::device; }

/// The GPU's memory is to be reached, and not its cache. Host memory is read over the link from buffers of any size.
std::size_t chase_bytes(const Case& c) {
  if (c.has("buffer")) return c.count("buffer");
  return chase_memory(c) == ChaseMemory::device ? 256 * MiB : 4 * MiB;
}

TransferSpec copy_of(const Case& c, std::uint64_t seed) {
  TransferSpec spec;
  spec.direction = is(c, "dir", "h2d") ? Direction::h2d : Direction::d2h;
  spec.memory = is(c, "host", "pageable") ? HostMemory::pageable : HostMemory::pinned;
  spec.bytes = c.count("size");
  spec.seed = seed;
  return spec;
}

/// So many that ten are slower than p99, unless the user wants fewer.
SamplingPolicy for_percentiles(const SamplingPolicy& wanted) {
  constexpr std::size_t kEnough = 1000;
  SamplingPolicy policy = wanted;
  policy.min_samples = std::min(std::max(wanted.min_samples, kEnough), wanted.max_samples);
  return policy;
}

/// The same where a pass gives many samples at once.
SamplingPolicy for_percentiles(const SamplingPolicy& wanted, std::size_t samples_per_pass) {
  SamplingPolicy policy = for_percentiles(wanted);
  const auto passes = [=](std::size_t samples) { return (samples + samples_per_pass - 1) / samples_per_pass; };
  policy.min_samples = passes(policy.min_samples);
  policy.max_samples = passes(policy.max_samples);
  return policy;
}

/// A part of a region that is what the case is about. What is wrong with the region's passes is wrong with it.
Measurement main_part(const Series& series, std::string_view name) {
  Measurement m = series.part(name);
  m.auxiliary = false;
  for (const std::string& flag : series.elapsed.flags) {
    if (flag == "not-warm" || flag == "throttled") m.flags.push_back(flag);
  }
  return m;
}

/// Adds a measurement, and where it is not the main one its median as a metric of the same name.
void report(const Measurement& m, Result& result) {
  result.measurements.push_back(m);
  if (m.samples.empty() || m.name == kLatency) return;
  std::string metric = m.name;
  std::ranges::replace(metric, '-', '_');
  result.add(std::move(metric), m.median, "s");
}

// --- The operations --------------------------------------------------------------------------------------------------

void run_copy(const Case& c, const RunContext& bench, Result& result) {
  SmallCopy copy(bench.device, copy_of(c, bench.seed));
  if (bench.verify || bench.device.capabilities().moves_data_when_timed) copy.prepare();
  const Region region = copy.region();
  if (bench.verify) copy.check([&] { run_once(bench.machine, region); });
  const Series series = bench.sample({region}, for_percentiles(bench.policy)).front();
  report(series.elapsed, result);
  report(series.part("call"), result);
  if (bench.verify) copy.check([&] { run_at_full_speed(bench.machine, region); });
}

void run_launch(const RunContext& bench, Result& result) {
  EmptyLaunch launch(bench.device);
  if (bench.verify) launch.check();
  const auto series = bench.sample({launch.synchronised(), launch.stamped()}, for_percentiles(bench.policy));
  report(series[0].elapsed, result);
  report(series[0].part("call"), result);
  report(series[1].part("start"), result);
  result.add("clock_uncertainty", launch.clock_uncertainty(), "s");
  if (bench.verify) launch.check();
}

void run_graph(const Case& c, const RunContext& bench, Result& result) {
  const std::size_t nodes = c.count("nodes");
  GraphReplay graph(bench.device, nodes);
  if (bench.verify) graph.check();
  const Series series = bench.sample({graph.region()}, for_percentiles(bench.policy)).front();
  report(series.elapsed, result);
  report(series.part("call"), result);
  if (!series.elapsed.samples.empty()) {
    result.add("per_node", series.elapsed.median / static_cast<double>(nodes), "s");
  }
  if (bench.verify) graph.check();
}

void run_wait(const Case& c, const RunContext& bench, Result& result) {
  KernelWait wait(bench.device, wait_method(c), wait_policy(c));
  const Series series = bench.sample({wait.region()}, for_percentiles(bench.policy)).front();
  report(main_part(series, kLatency), result);
  report(series.part("waited"), result);
  report(series.part("cpu"), result);
  const double waited = series.part("waited").median;
  if (waited > 0) result.add("cpu_share", series.part("cpu").median / waited, "1");
  result.add("clock_uncertainty", wait.clock_uncertainty(), "s");
}

void run_event_wait(const RunContext& bench, Result& result) {
  StreamCrossing crossing(bench.device);
  const auto series = bench.sample({crossing.across(), crossing.within()}, for_percentiles(bench.policy));
  report(main_part(series[0], kLatency), result);
  report(series[1].part("one-stream"), result);
}

void run_chase(const Case& c, const RunContext& bench, Result& result) {
  PointerChase chase(bench.device, chase_memory(c), chase_bytes(c), bench.seed);
  double clock_rate = 0;
  Region region;
  region.name = "pass";
  region.clock = Clock::host;
  region.parts = {{.name = kLatency, .clock = Clock::device, .decides = true}};
  region.steps = [&](LapTimer& laps) {
    const kernels::ChaseLog& log = chase.pass();
    const double seconds_per_cycle = 1e-9 * static_cast<double>(log.nanoseconds) / static_cast<double>(log.cycles);
    for (const std::uint32_t cycles : log.hops) laps.add(0, cycles * seconds_per_cycle);
    clock_rate = 1 / seconds_per_cycle;
  };
  const SamplingPolicy policy = for_percentiles(bench.policy, kernels::kChaseHops);
  const Series series = bench.sample({region}, policy).front();
  report(main_part(series, kLatency), result);
  if (clock_rate > 0) result.add("sm_clock", clock_rate, "Hz");
}

// --- Findings --------------------------------------------------------------------------------------------------------

using Wanted = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// The first result with these words on these axes, or nothing.
const Result* find(std::span<const Result* const> results, Wanted wanted) {
  const auto found = std::ranges::find_if(results, [&](const Result* r) {
    return std::ranges::all_of(wanted, [&](const auto& w) { return is(r->config, w.first, w.second); });
  });
  return found == results.end() ? nullptr : *found;
}

double median_of(const Result& r, std::string_view measurement) {
  const Measurement* m = r.measurement(measurement);
  return m == nullptr ? 0 : m->median;
}

Finding finding(const char* kind, std::string text, std::vector<Metric> metrics) {
  return {.scenario = {}, .kind = kind, .labels = {}, .metrics = std::move(metrics), .text = std::move(text)};
}

void conclude_launch(std::span<const Result* const> results, std::vector<Finding>& findings) {
  const Result* launch = find(results, {{"op", "launch"}});
  if (launch == nullptr) return;
  const double call = median_of(*launch, "call");
  const double start = median_of(*launch, "start");
  const double whole = median_of(*launch, kLatency);
  findings.push_back(finding(
      "launch",
      fmt::format("launch: the call returns after {}, the kernel begins after {}, a wait for its end returns after {}",
                  format_seconds(call), format_seconds(start), format_seconds(whole)),
      {{"call", call, "s"}, {"start", start, "s"}, {"synchronised", whole, "s"}}));
}

/// The slope between the smallest and the largest graph, from which what launching any graph costs has gone.
void conclude_graphs(std::span<const Result* const> results, std::vector<Finding>& findings) {
  std::vector<const Result*> graphs;
  std::ranges::copy_if(results, std::back_inserter(graphs), [](const Result* r) { return is_op(r->config, "graph"); });
  if (graphs.empty()) return;
  const auto nodes = [](const Result* r) { return r->config.count("nodes"); };
  const auto [least, most] = std::ranges::minmax_element(graphs, {}, nodes);
  if (nodes(*least) == nodes(*most)) return;
  const double slope =
      (median_of(**most, kLatency) - median_of(**least, kLatency)) / static_cast<double>(nodes(*most) - nodes(*least));
  if (slope <= 0) return;
  std::string text = fmt::format("graph: each further kernel adds {}", format_seconds(slope));
  if (const Result* launch = find(results, {{"op", "launch"}})) {
    text += fmt::format("; launching it by itself keeps the host for {}", format_seconds(median_of(*launch, "call")));
  }
  findings.push_back(finding("per-node", std::move(text), {{"per_node", slope, "s"}}));
}

void conclude_waiting(std::span<const Result* const> results, std::string_view method, std::vector<Finding>& findings) {
  const Result* spin = find(results, {{"method", method}, {"schedule", "spin"}});
  const Result* block = find(results, {{"method", method}, {"schedule", "blocking"}});
  if (spin == nullptr || block == nullptr) return;
  const double fast = median_of(*spin, kLatency);
  const double slow = median_of(*block, kLatency);
  const double burnt = median_of(*spin, "cpu");
  if (fast <= 0 || burnt <= 0) return;
  const double cpu = median_of(*block, "cpu") / burnt;
  Finding f =
      finding("waiting",
              fmt::format("waiting for {} {}: blocking notices its end {:.1f} times as late as spinning ({}, {}) "
                          "and takes {} of its CPU time",
                          method == "event" ? "an" : "a", method, slow / fast, format_seconds(slow),
                          format_seconds(fast), format_percent(cpu)),
              {{"latency_ratio", slow / fast, "1"}, {"cpu_ratio", cpu, "1"}});
  f.labels.emplace_back("method", method);
  findings.push_back(std::move(f));
}

// --- The scenario ----------------------------------------------------------------------------------------------------

class Latency final : public Scenario {
 public:
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override {
    static const ScenarioDescriptor scenario{
        .name = "latency",
        .summary = "what a short copy, a launch, a graph, a wait, a hand-over, one read of memory cost",
        .axes = all_axes(),
        .metrics = make_metrics()};
    return scenario;
  }

  [[nodiscard]] MemoryNeeds needs(const Case& c) const override {
    if (is_op(c, "copy")) return {.host = c.count("size"), .device = c.count("size")};
    return is_op(c, "chase") ? PointerChase::needs(chase_memory(c), chase_bytes(c)) : MemoryNeeds{};
  }

  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities* can) const override {
    if (can == nullptr || !can->environment.simulated()) return std::nullopt;
    if (is_op(c, "chase")) return SkipReason::unavailable("the simulated memory has no latency");
    if (c.has("schedule") && !is(c, "schedule", "spin")) {
      return SkipReason::unavailable("the simulated host only spins");
    }
    return std::nullopt;
  }

  void run(const Case& c, const RunContext& bench, Result& result) const override {
    if (is_op(c, "copy")) run_copy(c, bench, result);
    if (is_op(c, "launch")) run_launch(bench, result);
    if (is_op(c, "graph")) run_graph(c, bench, result);
    if (is_op(c, "wait")) run_wait(c, bench, result);
    if (is_op(c, "event-wait")) run_event_wait(bench, result);
    if (is_op(c, "chase")) run_chase(c, bench, result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    std::vector<Finding> findings;
    conclude_launch(results, findings);
    conclude_graphs(results, findings);
    for (const char* method : {"stream", "event"}) conclude_waiting(results, method, findings);
    return findings;
  }

 private:
  static std::vector<MetricDeclaration> make_metrics() {
    using enum Better;
    using enum MetricDeclaration::Format;
    using enum MetricDeclaration::Beside;
    // Nine axes make a wide table: p90 is in the file, and in the table of a single case.
    return {
        measured(kLatency,
                 "a short copy, a launch, a graph (each until the wait for it returns), how late a wait "
                 "notices that its kernel has ended, a hand-over to another stream, one dependent read of memory")
            .as_headline()
            .column("time", {p99}),
        measured("call", "copy, launch, graph: from the call to its return"),
        measured("start", "launch: from the call to the first instruction on the GPU"),
        measured("waited", "wait: in the wait, most of it while the kernel runs"),
        measured("cpu", "wait: CPU time of the waiting thread in the wait"),
        measured("one-stream", "event-wait: the same hand-over inside one stream"),
        derived_time("call", "how long the call kept the host").column("call"),
        derived_time("start", "launch: from the call to the first instruction on the GPU"),
        derived_time("waited", "wait: in the wait, most of it while the kernel runs"),
        derived_time("cpu", "wait: CPU time of the waiting thread in the wait"),
        derived_time("one_stream", "event-wait: the same hand-over inside one stream"),
        derived_time("per_node", "graph: latency over nodes; it contains its share of what launching the graph costs"),
        derived("cpu_share", "1", lower, "share of a wait of 100 us that the waiting thread burnt")
            .column("CPU", percent),
        derived("sm_clock", "Hz", neither, "chase: the rate by which cycles became seconds"),
        derived_time("clock_uncertainty", "launch, wait: how far times between host and GPU may be off as a whole"),
    };
  }

  static std::vector<Axis> all_axes() {
    return {
        {.name = "op",
         .kind = AxisKind::choice,
         .defaults = "all",
         .help = "what is timed",
         .choices = {"copy", "launch", "graph", "wait", "event-wait", "chase"}},
        only_with("op", {"copy"},
                  {.name = "dir",
                   .kind = AxisKind::choice,
                   .defaults = "h2d,d2h",
                   .help = "copy: where from and where to",
                   .choices = {"h2d", "d2h"}}),
        only_with("op", {"copy"},
                  {.name = "host",
                   .kind = AxisKind::choice,
                   .help = "copy: kind of host memory, pinned unless given",
                   .choices = {"pinned", "pageable"}}),
        only_with("op", {"copy"},
                  {.name = "size", .kind = AxisKind::size, .defaults = "8,4K,64K", .help = "copy: bytes of it"}),
        only_with("op", {"graph"},
                  {.name = "nodes", .defaults = "1,10,100", .help = "graph: empty kernels in it", .max = 10'000}),
        only_with("op", {"wait"},
                  {.name = "method",
                   .kind = AxisKind::choice,
                   .defaults = "all",
                   .help = "wait: for a stream, for an event, or by asking for an event again and again",
                   .choices = {"stream", "event", "query"}}),
        {.name = "schedule",
         .kind = AxisKind::choice,
         .defaults = "all",
         .help = "wait: what the thread does meanwhile",
         .choices = {"spin", "yield", "blocking"},
         .only_with_axis = "method",
         .only_with_values = {"stream", "event"}},
        only_with("op", {"chase"},
                  {.name = "memory",
                   .kind = AxisKind::choice,
                   .defaults = "device,host",
                   .help = "chase: whose memory the GPU reads",
                   .choices = {"device", "host"}}),
        only_with("op", {"chase"},
                  {.name = "buffer",
                   .kind = AxisKind::size,
                   .help = "chase: bytes of it, 256M on the device and 4M on the host unless given",
                   .min = 4096,
                   .max = 64.0 * static_cast<double>(GiB)}),
    };
  }
};

}  // namespace

const Scenario& latency_scenario() {
  static const Latency scenario;
  return scenario;
}

}  // namespace xferbench
