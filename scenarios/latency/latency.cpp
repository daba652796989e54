// latency: the cost of single small operations: a short copy, a launch, a graph, detecting the end of work, a hand-over
// to another stream, a load from memory. Reports percentiles, because a program that waits for operations also waits
// for the slow ones.
#include <fmt/format.h>

#include <utility>

#include "core/units.hpp"
#include "model/relation.hpp"
#include "results/metric_names.hpp"
#include "run/finding_text.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/chase.hpp"
#include "scenarios/latency/operations.hpp"

namespace xferbench {

namespace {

enum class LatencyOp { copy, launch, graph, wait, event_wait, chase };
constexpr std::array<std::string_view, 6> kOpNames{"copy", "launch", "graph", "wait", "event-wait", "chase"};
constexpr std::array<std::string_view, 3> kMethodNames{"stream", "event", "query"};
constexpr std::array<std::string_view, 4> kPolicyNames{"automatic", "spin", "yield", "blocking"};
constexpr std::array<std::string_view, 2> kMemoryNames{"device", "host"};

/// The parsed axes of a case; members that the operation does not use keep their defaults.
struct LatencyCase {
  LatencyOp op = LatencyOp::copy;
  TransferSpec copy{};
  std::size_t nodes = 1;
  WaitMethod method = WaitMethod::query;
  WaitPolicy policy = WaitPolicy::automatic;  ///< ignored by WaitMethod::query
  ChaseMemory memory = ChaseMemory::device;
  std::size_t buffer = 0;
};

/// Returns the default bytes of the chased buffer. A buffer on the device is larger than L2, so that loads miss the
/// cache. Loads from host memory cross the link with any size.
std::size_t usual_buffer(ChaseMemory memory) { return memory == ChaseMemory::device ? 256 * MiB : 4 * MiB; }

LatencyCase latency_case(const Case& c) {
  LatencyCase l{.op = c.one_of<LatencyOp>("op", kOpNames)};
  switch (l.op) {
    case LatencyOp::copy:
      l.copy.direction = c.is("dir", "h2d") ? Direction::h2d : Direction::d2h;
      l.copy.memory = c.is("host", "pageable") ? HostMemory::pageable : HostMemory::pinned;
      l.copy.bytes = c.count("size");
      break;
    case LatencyOp::graph: l.nodes = c.count("nodes"); break;
    case LatencyOp::wait:
      l.method = c.one_of<WaitMethod>("method", kMethodNames);
      if (c.has("schedule")) l.policy = c.one_of<WaitPolicy>("schedule", kPolicyNames);
      break;
    case LatencyOp::chase:
      l.memory = c.one_of<ChaseMemory>("memory", kMemoryNames);
      l.buffer = c.count_or("buffer", usual_buffer(l.memory));
      break;
    case LatencyOp::launch:
    case LatencyOp::event_wait: break;
  }
  return l;
}

/// Adds the measurement. Unless it is the main measurement, also adds its median as a metric of the same name.
void report(const Measurement& m, Result& result) {
  result.measurements.push_back(m);
  if (m.samples.empty() || m.name == kLatency) return;
  std::string metric = m.name;
  std::ranges::replace(metric, '-', '_');
  result.add(std::move(metric), m.median, "s");
}

/// Adds the measurements of an operation that consists of a call and the wait for the end of its work.
void report_calls(const Series& series, Result& result) {
  report(series.elapsed, result);
  report(series.part(kHostCall), result);
}

/// Returns a policy with enough passes for ten samples above the 99th percentile, unless the user asks for fewer.
SamplingPolicy for_percentiles(const SamplingPolicy& wanted, std::size_t samples_per_pass = 1) {
  constexpr std::size_t kForTheRarest = 1000;
  const auto passes = [=](std::size_t samples) { return (samples + samples_per_pass - 1) / samples_per_pass; };
  SamplingPolicy policy = wanted;
  policy.min_samples = passes(std::min(std::max(wanted.min_samples, kForTheRarest), wanted.max_samples));
  policy.max_samples = passes(wanted.max_samples);
  return policy;
}

// --- The operations --------------------------------------------------------------------------------------------------

void run_copy(TransferSpec spec, const RunContext& bench, Result& result) {
  spec.seed = bench.seed;
  SmallCopy copy(bench.device, spec);
  if (bench.needs_data()) copy.prepare();
  const Region region = copy.region();
  if (bench.verify) copy.check(bench.machine, run_once);
  report_calls(bench.sample({region}, for_percentiles(bench.policy)).front(), result);
  if (bench.verifies_again()) copy.check(bench.machine, run_at_full_speed);
}

void run_launch(const RunContext& bench, Result& result) {
  EmptyLaunch launch(bench.device);
  if (bench.verify) launch.check();
  const auto [synchronised, stamped] =
      bench.sample(std::array{launch.synchronised(), launch.stamped()}, for_percentiles(bench.policy));
  report_calls(synchronised, result);
  report(stamped.part(kKernelStart), result);
  result.add("clock_uncertainty", launch.clock_uncertainty(), "s");
  if (bench.verifies_again()) launch.check();
}

void run_graph(std::size_t nodes, const RunContext& bench, Result& result) {
  GraphReplay graph(bench.device, nodes);
  if (bench.verify) graph.check();
  const Series series = bench.sample({graph.region()}, for_percentiles(bench.policy)).front();
  report_calls(series, result);
  if (!series.elapsed.samples.empty()) result.add("per_node", series.elapsed.median / static_cast<double>(nodes), "s");
  if (bench.verifies_again()) graph.check();
}

void run_wait(const LatencyCase& c, const RunContext& bench, Result& result) {
  KernelWait wait(bench.device, c.method, c.policy);
  const Series series = bench.sample({wait.region()}, for_percentiles(bench.policy)).front();
  report(series.main_part(kLatency), result);
  report(series.part("waited"), result);
  report(series.part("cpu"), result);
  const double waited = series.part("waited").median;
  if (waited > 0) result.add("cpu_share", series.part("cpu").median / waited, "1");
  result.add("clock_uncertainty", wait.clock_uncertainty(), "s");
}

void run_event_wait(const RunContext& bench, Result& result) {
  StreamCrossing crossing(bench.device);
  const auto [across, within] =
      bench.sample(std::array{crossing.across(), crossing.within()}, for_percentiles(bench.policy));
  report(across.main_part(kLatency), result);
  report(within.part("one-stream"), result);
}

void run_chase(const LatencyCase& c, const RunContext& bench, Result& result) {
  PointerChase chase(bench.device, c.memory, c.buffer, bench.seed);
  const Series series = bench.sample({chase.region()}, for_percentiles(bench.policy, kernels::kChaseHops)).front();
  report(series.main_part(kLatency), result);
  if (chase.clock_rate() > 0) result.add("sm_clock", chase.clock_rate(), "Hz");
}

// --- Findings --------------------------------------------------------------------------------------------------------

/// Returns the first result whose case satisfies `wanted`, or null.
template <class Wanted>
const Result* find(std::span<const Result* const> results, const Wanted& wanted) {
  const auto found = std::ranges::find_if(results, [&](const Result* r) { return wanted(latency_case(r->config)); });
  return found == results.end() ? nullptr : *found;
}

const Result* find_launch(std::span<const Result* const> results) {
  return find(results, [](const LatencyCase& c) { return c.op == LatencyOp::launch; });
}

void conclude_launch(std::span<const Result* const> results, std::vector<Finding>& findings) {
  const Result* launch = find_launch(results);
  if (launch == nullptr) return;
  const double call = launch->median(kHostCall);
  const double start = launch->median(kKernelStart);
  const double whole = launch->median(kLatency);
  findings.push_back(
      {.kind = "launch",
       .metrics = {{kHostCall, call, "s"}, {kKernelStart, start, "s"}, {"synchronised", whole, "s"}},
       .text =
           fmt::format("launch: the call returns after {}, the kernel starts after {}, synchronizing returns after {}",
                       format_seconds(call), format_seconds(start), format_seconds(whole))});
}

/// Adds the cost per kernel: the slope between the smallest and the largest graph, without the fixed cost of a launch.
void conclude_graphs(std::span<const Result* const> results, std::vector<Finding>& findings) {
  const std::vector<const Result*> graphs =
      those_of(results, [](const Result* r) { return latency_case(r->config).op == LatencyOp::graph; });
  if (graphs.empty()) return;
  const auto nodes = [](const Result* r) { return latency_case(r->config).nodes; };
  const auto [least, most] = std::ranges::minmax_element(graphs, {}, nodes);
  if (nodes(*least) == nodes(*most)) return;
  const model::Estimate more = model::estimate_of(**most, kLatency);
  const model::Estimate fewer = model::estimate_of(**least, kLatency);
  const auto further = static_cast<double>(nodes(*most) - nodes(*least));
  const model::Estimate added = model::difference(more, fewer);
  if (model::relate(more, fewer) != model::Relation::slower) {
    findings.push_back(
        {.kind = "per-node",
         .text = fmt::format(
             "graph: cost of each further kernel not decided: {}",
             added.interval ? "the largest graph is not significantly slower than the smallest" : kTooFewSamples)});
    return;
  }
  const double slope = added.value / further;
  const Interval range{added.interval->low / further, added.interval->high / further};
  std::string text = fmt::format("graph: each further kernel adds {} ({} to {})", format_seconds(slope),
                                 format_seconds(range.low), format_seconds(range.high));
  if (const Result* launch = find_launch(results)) {
    text += fmt::format("; a launch of its own takes {} of host time", format_seconds(launch->median(kHostCall)));
  }
  findings.push_back(
      {.kind = "per-node",
       .metrics = {{"per_node", slope, "s"}, {"per_node_low", range.low, "s"}, {"per_node_high", range.high, "s"}},
       .text = std::move(text)});
}

void conclude_waiting(std::span<const Result* const> results, WaitMethod method, std::vector<Finding>& findings) {
  const auto with = [&](WaitPolicy policy) {
    return find(results, [&](const LatencyCase& c) { return c.method == method && c.policy == policy; });
  };
  const Result* spin = with(WaitPolicy::spin);
  const Result* block = with(WaitPolicy::blocking);
  if (spin == nullptr || block == nullptr) return;
  const model::Estimate fast = model::estimate_of(*spin, kLatency);
  const model::Estimate slow = model::estimate_of(*block, kLatency);
  const model::Estimate burnt = model::estimate_of(*spin, "cpu");
  const model::Estimate cpu = model::estimate_of(*block, "cpu");
  if (fast.value <= 0 || burnt.value <= 0) return;
  const std::string_view name = kMethodNames[static_cast<std::size_t>(method)];
  const bool later = model::relate(fast, slow) == model::Relation::faster;
  const std::string latency = later ? fmt::format("{:.1f} times as late as spinning", slow.value / fast.value)
                                    : "not significantly later than spinning";
  const bool decided = model::relate(cpu, burnt) == model::Relation::faster;
  findings.push_back(
      {.kind = "waiting",
       .labels = {{"method", std::string(name)}},
       .metrics = {{"latency_ratio", slow.value / fast.value, "1"}, {"cpu_ratio", cpu.value / burnt.value, "1"}},
       .text = fmt::format(
           "waiting for {} {}: blocking returns {} ({}, {}) and {}", method == WaitMethod::event ? "an" : "a", name,
           latency, format_seconds(slow.value), format_seconds(fast.value),
           decided ? fmt::format("uses {} of the CPU time of spinning", format_percent(cpu.value / burnt.value))
                   : "does not use significantly less CPU time")});
}

// --- The scenario ----------------------------------------------------------------------------------------------------

class Latency final : public ScenarioOf<latency_case> {
 public:
  using ScenarioOf::ScenarioOf;

  [[nodiscard]] MemoryNeeds memory_needs(const LatencyCase& c) const override {
    if (c.op == LatencyOp::copy) return {.host = c.copy.bytes, .device = c.copy.bytes};
    return c.op == LatencyOp::chase ? PointerChase::needs(c.memory, c.buffer) : MemoryNeeds{};
  }

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const LatencyCase& c, const Capabilities* can) const override {
    if (can == nullptr || !can->environment.simulated()) return std::nullopt;
    if (c.op == LatencyOp::chase) return SkipReason::unavailable("the simulator does not model memory latency");
    if (c.policy == WaitPolicy::yield || c.policy == WaitPolicy::blocking) {
      return SkipReason::unavailable("the simulated host supports only spin");
    }
    return std::nullopt;
  }

  void measure(const LatencyCase& c, const RunContext& bench, Result& result) const override {
    switch (c.op) {
      case LatencyOp::copy: return run_copy(c.copy, bench, result);
      case LatencyOp::launch: return run_launch(bench, result);
      case LatencyOp::graph: return run_graph(c.nodes, bench, result);
      case LatencyOp::wait: return run_wait(c, bench, result);
      case LatencyOp::event_wait: return run_event_wait(bench, result);
      case LatencyOp::chase: return run_chase(c, bench, result);
    }
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    std::vector<Finding> findings;
    conclude_launch(results, findings);
    conclude_graphs(results, findings);
    for (const WaitMethod method : {WaitMethod::stream, WaitMethod::event}) conclude_waiting(results, method, findings);
    return findings;
  }
};

std::vector<MetricDeclaration> latency_metrics() {
  using namespace declaring;
  // The table of a run already has nine columns, so p90 is only in the result file and in the table of a single case.
  return {
      measured(kLatency,
               "copy, launch, graph: time from the call to the end of the wait; wait: from the kernel's end to the "
               "return of the wait; event-wait: hand-over to another stream; chase: one dependent read")
          .as_headline()
          .column("time", {p99}),
      measured(kHostCall, "copy, launch, graph: host time in the call"),
      measured(kKernelStart, "launch: time from the call to the first instruction on the GPU"),
      measured("waited", "wait: time in the wait, most of it while the kernel runs"),
      measured("cpu", "wait: CPU time of the waiting thread during the wait"),
      measured("one-stream", "event-wait: a hand-over inside one stream, for comparison"),
      derived_time(kHostCall, "host time in the call").column("call"),
      derived_time(kKernelStart, "launch: time from the call to the first instruction on the GPU"),
      derived_time("waited", "wait: time in the wait, most of it while the kernel runs"),
      derived_time("cpu", "wait: CPU time of the waiting thread during the wait"),
      derived_time("one_stream", "event-wait: a hand-over inside one stream, for comparison"),
      derived_time("per_node", "graph: latency over the number of kernels, launch of the graph included"),
      derived("cpu_share", "1", lower, "wait: share of a 100 us wait in which the waiting thread uses a CPU")
          .column("CPU", percent),
      derived("sm_clock", "Hz", neither, "chase: SM clock, by which cycles were converted to seconds"),
      derived_time("clock_uncertainty", "launch, wait: maximum error of times between host and GPU"),
  };
}

std::vector<Axis> latency_axes() {
  const std::span policies(kPolicyNames);
  return {
      choice_axis("op", words(kOpNames), {.defaults = "all", .help = "operation to time"}),
      only_with("op", {"copy"}, choice_axis("dir", {"h2d", "d2h"}, {.defaults = "h2d,d2h", .help = "copy: direction"})),
      only_with("op", {"copy"},
                choice_axis("host", {"pinned", "pageable"}, {.help = "copy: kind of host memory; default: pinned"})),
      only_with("op", {"copy"}, size_axis("size", {.defaults = "8,4K,64K", .help = "copy: bytes to copy"})),
      only_with("op", {"graph"},
                {.name = "nodes", .defaults = "1,10,100", .help = "graph: number of empty kernels", .max = 10'000}),
      only_with("op", {"wait"},
                choice_axis("method", words(kMethodNames),
                            {.defaults = "all",
                             .help = "wait: synchronize a stream or an event, or query an event repeatedly"})),
      only_with("method", {"stream", "event"},
                choice_axis("schedule", words(policies.subspan(1)),
                            {.defaults = "all", .help = "wait: what the thread does while it waits"})),
      only_with("op", {"chase"},
                choice_axis("memory", words(kMemoryNames),
                            {.defaults = "device,host", .help = "chase: memory that the GPU reads"})),
      only_with("op", {"chase"},
                size_axis("buffer", {.help = "chase: bytes of the buffer; default: 256M on the device, 4M on the host",
                                     .min = 4096,
                                     .max = 64.0 * static_cast<double>(GiB)})),
  };
}

}  // namespace

const Scenario& latency_scenario() {
  static const Latency scenario({
      .name = "latency",
      .summary = "latency of short copies, launches, graphs, waits, hand-overs between streams and memory reads",
      .axes = latency_axes(),
      .metrics = latency_metrics(),
      .charts = {{.x = "size", .y = "latency", .panels = {"op"}}, {.x = "buffer", .y = "latency", .panels = {"op"}}},
      .answer = {.best = "latency", .text = "{latency}", .each = {"op"}, .largest = {}},
      .work_axes = {"op", "dir", "size", "nodes", "memory", "buffer"},
  });
  return scenario;
}

}  // namespace xferbench
