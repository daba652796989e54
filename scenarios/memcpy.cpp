// memcpy: single copies, in one direction or both at once, with all kinds of host memory, by copy engines or kernels:
// the bandwidth of the link without a pipeline.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/interrupt.hpp"
#include "core/lists.hpp"
#include "core/units.hpp"
#include "device/cpu_cache.hpp"
#include "measure/statistics.hpp"
#include "measure/worker.hpp"
#include "model/pcie.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/alike_gpus.hpp"
#include "scenarios/common/link_traffic.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

namespace {

struct MemcpyCase {
  std::string dir;
  std::string host;                   ///< empty for copies inside the GPU
  std::vector<Direction> directions;  ///< two directions: both at once
  TransferSpec transfer;              ///< the same for each direction
  std::optional<int> node{};          ///< NUMA node of the host memory, if each node is measured
  std::vector<int> gpus{};            ///< the GPU of the case, if each of several is measured; else empty
  double oversubscribed = 0;          ///< see MemoryNeeds
  unsigned back_to_back = 0;          ///< number of copies per sample; 0: as many as the clock's resolution requires

  [[nodiscard]] bool both_ways() const { return directions.size() > 1; }
  [[nodiscard]] bool inside_gpu() const { return directions.front() == Direction::d2d; }
  [[nodiscard]] bool by_kernel() const { return transfer.engine == Engine::multiprocessors; }
  [[nodiscard]] bool is_managed() const { return transfer.memory == HostMemory::managed; }
  [[nodiscard]] bool is_touched() const { return transfer.touch != Touch::as_it_is; }
  /// Whether blocking copies run in both directions at once; this requires two threads and timing by the host's clock.
  [[nodiscard]] bool blocks_both_ways() const { return both_ways() && transfer.blocks_host(); }
  /// Payload bytes of all directions together.
  [[nodiscard]] std::uint64_t bytes() const { return directions.size() * transfer.bytes; }
  friend bool operator==(const MemcpyCase&, const MemcpyCase&) = default;
};

constexpr std::string_view kBothWays = "bidirectional";
constexpr std::string_view kOnDemand = "managed-faults";

MemcpyCase memcpy_case(const Case& c) {
  MemcpyCase m{.dir = c.word("dir"), .host = c.has("host") ? c.word("host") : "", .directions = {}, .transfer = {}};
  m.directions = {Direction::h2d, Direction::d2h};
  if (m.dir != kBothWays) m.directions = {c.one_of<Direction>("dir", kDirections)};
  const bool on_demand = m.host == kOnDemand;
  if (!m.host.empty()) m.transfer.memory = on_demand ? HostMemory::managed : host_memory(m.host);
  if (m.is_managed()) m.transfer.engine = on_demand ? Engine::page_faults : Engine::prefetch;
  if (c.is("engine", "sm")) m.transfer.engine = Engine::multiprocessors;
  if (c.has("api")) m.transfer.api = c.one_of<CopyApi>("api", kCopyApis);
  if (c.has("device-memory")) m.transfer.gpu_memory = c.one_of<GpuMemory>("device-memory", kGpuMemoryNames);
  if (c.has("touch")) m.transfer.touch = c.is("touch", "warm") ? Touch::warm : Touch::cold;
  m.transfer.bytes = c.count("size");
  if (c.has("oversubscribe")) m.oversubscribed = c.real("oversubscribe");
  if (c.has("oversubscribe")) m.transfer.window = 32 * MiB;
  if (c.has("numa")) m.node = static_cast<int>(c.count("numa"));
  if (c.has("gpus")) m.gpus = gpu_numbers(c.word("gpus"));
  m.back_to_back = static_cast<unsigned>(c.count_or("back-to-back", 0));
  return m;
}

/// Names of the regions that measure one direction while the other is busy throughout; indexed like
/// MemcpyCase::directions.
constexpr std::array<const char*, 2> kConcurrent{"h2d-beside", "d2h-beside"};

/// Owns the transfers of one case, and builds the timed regions from them.
class Copies {
 public:
  Copies(const MemcpyCase& c, const RunContext& bench)
      : device_(bench.device),
        streams_{device_.make_stream(StreamKind::nonblocking), device_.make_stream(StreamKind::nonblocking)},
        back_to_back_(c.back_to_back) {
    for (const Direction direction : c.directions) {
      TransferSpec spec = c.transfer;
      spec.direction = direction;
      spec.seed = bench.seed + transfers_.size();
      transfers_.push_back(make_transfer(device_, spec));
    }
    if (both_ways() && first().blocks_host()) worker_.emplace(device_.host());
  }

  void prepare() { for_each(&Transfer::prepare); }
  [[nodiscard]] std::span<const std::unique_ptr<Transfer>> transfers() const { return transfers_; }

  Region region() {
    Region r = checked_region("copy");
    // A blocking copy has ended before an event could be recorded after it, so two blocking copies cannot be timed by
    // events.
    if (!first().in_stream() || (both_ways() && first().blocks_host())) {
      describe_for_host_clock(r);
    } else {
      describe_for_events(r);
    }
    return r;
  }

  /// Returns one region per direction. Each copies in that direction, in the first stream, while a copy of twice the
  /// size runs in the other direction and outlasts it. Requires a case with both directions, timed by events.
  std::vector<Region> overlapped_by_longer_copy() {
    std::vector<Region> regions;
    for (std::size_t i = 0; i < transfers_.size(); ++i) {
      const std::size_t other = 1 - i;
      Region r = checked_region(kConcurrent[i]);
      r.clock = Clock::event_gated;
      r.streams = {streams_[i], streams_[other]};
      r.operations = 2;
      r.per_stream = true;
      r.warmed_by_another = true;
      r.submit = [this, i, other] {
        for (std::size_t times = 0; times < 2; ++times) transfers_[other]->submit(streams_[other]);
        transfers_[i]->submit(streams_[i]);
      };
      regions.push_back(std::move(r));
    }
    return regions;
  }

 private:
  [[nodiscard]] Transfer& first() const { return *transfers_.front(); }
  [[nodiscard]] bool both_ways() const { return transfers_.size() > 1; }

  Region checked_region(const char* name) {
    Region r{.name = name};
    r.check = [this] { for_each(&Transfer::check); };
    if (first().needs_reset()) r.reset = [this] { for_each(&Transfer::reset); };
    return r;
  }

  void for_each(void (Transfer::*step)()) {
    for (const auto& t : transfers_) (t.get()->*step)();
  }

  void describe_for_events(Region& r) {
    // Hazard: a blocking call must not be behind a gate. The call would wait for the gate, and the host opens the gate
    // only after the call returns: deadlock.
    r.clock = first().blocks_host() ? Clock::event : Clock::event_gated;
    r.streams.assign(streams_.begin(), streams_.begin() + std::ssize(transfers_));
    r.operations = transfers_.size();
    r.per_stream = both_ways();
    r.batch = back_to_back_;
    r.submit = [this] {
      for (std::size_t i = 0; i < transfers_.size(); ++i) transfers_[i]->submit(streams_[i]);
    };
  }

  void describe_for_host_clock(Region& r) {
    r.clock = Clock::host;
    if (!both_ways()) {
      r.submit = [this] { first().submit(streams_[0]); };
      return;
    }
    r.parts = {{.name = "h2d"}, {.name = "d2h"}};
    r.steps = [this](LapTimer& laps) {
      const double begun = device_.host().now();
      worker_->start([this] { ends_[1] = run_to_end(1); });
      ends_[0] = run_to_end(0);
      worker_->finish();
      for (std::size_t i = 0; i < ends_.size(); ++i) laps.add(i, ends_[i] - begun);
    };
  }

  /// Runs transfer `which`. Returns the host time at which the data has arrived, which may be later than the return of
  /// the call.
  double run_to_end(std::size_t which) {
    transfers_[which]->submit(streams_[which]);
    streams_[which].synchronize();
    return device_.host().now();
  }

  Device& device_;
  std::array<Stream, 2> streams_;
  unsigned back_to_back_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::array<double, 2> ends_{};  // time by the host's clock at which each direction ended
  std::optional<Worker> worker_;  // last member: its thread uses all other members
};

/// Returns a measurement of the time at which the stream with index `stream` finished, one sample per pass.
Measurement stream_measurement(const Series& series, std::string name, std::size_t stream) {
  return series_of_same_passes(series, std::move(name),
                               list_of(series.stream_times, [stream](const auto& times) { return times[stream]; }));
}

/// Maximum of --back-to-back. A closed gate can hold back this many copies in both directions, so no sample has fewer
/// copies than requested.
constexpr double kMostBackToBack = 64;

/// Data of at least this many times the size of L2 is mostly not cached.
constexpr std::uint64_t kTimesCache = 4;

class Memcpy final : public ScenarioOf<memcpy_case> {
 public:
  Memcpy()
      : ScenarioOf({.name = "memcpy",
                    .summary = "copies between host and GPU, in one direction or both at once, and inside the GPU",
                    .axes = make_axes(),
                    .metrics = make_metrics(),
                    .heat_maps = {{.rows = "numa", .columns = "gpus", .metric = "bandwidth", .at_largest = "size"}},
                    .charts = {{.x = "size", .y = "bandwidth", .panels = {"dir"}, .limit = "limit"}},
                    .answer = {.best = "bandwidth",
                               .text = "{bandwidth}, {of_limit} of the specified limit",
                               .findings = {"gpus", "numa", "slow-pinned"},
                               .each = {"dir"},
                               .ranks_ways = true},
                    .work_axes = {"dir", "size", "touch", "back-to-back"},
                    .gpus = UsesGpus::each,
                    .from_each_node = true,
                    .note = ScenarioDescriptor::Note{"h2d_bandwidth", kEachOverItsOwnTime}}) {}

  [[nodiscard]] std::vector<Case> expand(const Case& c, const GpusOfRun& run) const override {
    std::vector<Case> all{c};
    if (run.asked_for && run.count() > 1) {
      all = list_of(run.numbers(), [&](const int gpu) {
        Case on_one = c;
        on_one.set(gpus_axis("gpus", {}, {}), gpus_text(std::array{gpu}));
        return on_one;
      });
    }
    const std::vector<int>& nodes = run.environment.host.numa_nodes;
    if (!run.each_node || nodes.empty() || memcpy_case(c).inside_gpu()) return all;
    return flat_list_of(all, [&](const Case& of_gpu) {
      return list_of(nodes, [&](const int node) {
        Case from_one = of_gpu;
        from_one.set({.name = "numa", .kind = AxisKind::count}, static_cast<std::uint64_t>(node));
        return from_one;
      });
    });
  }
  [[nodiscard]] std::vector<std::size_t> takes_part(const Case& c, const Environment& environment) const override {
    const std::vector<std::size_t> places = places_of(memcpy_case(c).gpus, environment);
    return places.empty() ? std::vector<std::size_t>{0} : places;
  }

  [[nodiscard]] DataPath data_path(const Case& c) const override {
    return memcpy_case(c).inside_gpu() ? DataPath::gpu : DataPath::link;
  }

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const MemcpyCase& c, const Capabilities* can) const override {
    if (const char* reason = broken_rule(c)) return SkipReason::impossible(reason);
    if (can == nullptr) return std::nullopt;
    if (auto missing = missing_gpus(c.gpus, can->environment)) return missing;
    const char* reason = missing_on(*can, c);
    return reason == nullptr ? std::nullopt : std::optional(SkipReason::unavailable(reason));
  }

  [[nodiscard]] MemoryNeeds memory_needs(const MemcpyCase& c) const override {
    // The check of managed memory keeps a copy of the data in a pageable host buffer or in a device buffer.
    if (c.is_managed()) {
      const std::uint64_t seen = c.transfer.window == 0 ? c.bytes() : c.directions.size() * c.transfer.window;
      return {c.transfer.bytes, seen, c.bytes(), c.oversubscribed};
    }
    const std::uint64_t device = c.inside_gpu() ? 2 * c.bytes() : c.bytes();
    if (is_reserved(c.transfer.memory)) return {.device = device};
    // The time to pin memory in place is measured with an additional host buffer.
    return {c.bytes() + (is_registered(c.transfer.memory) ? c.transfer.bytes : 0), device};
  }

  void measure(const MemcpyCase& c, const RunContext& bench, Result& result) const override {
    std::optional<PlacedHost> placed;
    if (c.node) placed.emplace(bench.machine, c.node);
    if (c.is_managed() && c.bytes() > bench.device.memory().free_bytes) {
      result.warnings.emplace_back(
          "the managed memory is larger than what is free on the GPU: pages are evicted while others are copied, which "
          "the time includes");
    }
    Copies copies(c, bench);
    HostBuffer to_pin;
    if (is_registered(c.transfer.memory)) {
      to_pin = bench.device.allocate_host(c.transfer.bytes, before_registration(c.transfer.memory));
    }
    if (bench.needs_data()) copies.prepare();
    const Region region = copies.region();
    if (bench.verify) verify(copies.transfers(), bench.machine, region, run_once);
    std::vector<Region> regions{region};
    // A pass timed by the host's clock already measures the time to result.
    if (region.clock != Clock::host) regions.push_back(wall_region(region));
    if (region.clock == Clock::event_gated && c.both_ways()) {
      std::ranges::move(copies.overlapped_by_longer_copy(), std::back_inserter(regions));
    }
    const std::vector<Series> series = bench.sample(std::move(regions));
    report(c, bench.device.capabilities().environment.gpu, series.front(), result);
    report_wall(series, result);
    report_concurrent(c.transfer.bytes, series, result);
    if (bench.verifies_again()) verify(copies.transfers(), bench.machine, region, run_at_full_speed);
    if (to_pin) report_pinning(c, to_pin, bench, result);
    if (!c.inside_gpu() && !c.is_managed()) report_link_traffic(bench, region, payload_of(c), result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    for (const Result* r : results) r->needed_measurement("copy");
    std::vector<Finding> findings = compare_gpus(works_of_each("gpus", results));
    std::ranges::move(compare_nodes(works_of_each("numa", results)), std::back_inserter(findings));
    std::ranges::move(both_ways_at_once(results), std::back_inserter(findings));
    const std::vector<Path> all_paths = paths(results, "copy");
    std::ranges::move(fits_and_crossovers(all_paths, "host"), std::back_inserter(findings));
    std::ranges::move(sizes_of_near_best(all_paths), std::back_inserter(findings));
    const auto but_host = [](const Result& r) { return r.config.with("host", {}).key(); };
    std::map<std::string, std::vector<const Result*>> alike;
    for (const Result* r : results) alike[but_host(*r)].push_back(r);
    const std::vector<std::string> axes = axes_of_registered(results);
    for (const Result* r : results) {
      if (auto finding = pinning_break_even(*r, axes, alike[but_host(*r)])) findings.push_back(std::move(*finding));
      if (auto finding = slow_pinned(*r, alike[but_host(*r)])) findings.push_back(std::move(*finding));
    }
    fold_into_rows(findings, "break-even", 1);
    for (const char* kind : {"both-ways", "near-best"}) fold_into_rows(findings, kind, 4);
    return findings;
  }

 private:
  static std::vector<Axis> make_axes() {
    const std::vector<std::string> over_the_link{"h2d", "d2h", std::string(kBothWays)};
    std::vector<std::string> hosts = words(kHostMemoryNames);
    hosts.emplace_back(kOnDemand);
    return {
        choice_axis("dir", {"h2d", "d2h", "d2d", std::string(kBothWays)},
                    {.defaults = "all", .help = "direction; bidirectional: H2D and D2H at once"}),
        only_with("dir", over_the_link,
                  choice_axis("host", hosts,
                              {.defaults = "pinned,pageable",
                               .help = "kind of host memory; managed migrates by prefetch, managed-faults on demand"})),
        choice_axis(
            "engine", {"ce", "sm"},
            {.defaults = "ce", .help = "what copies: a copy engine (ce), or a kernel on the multiprocessors (sm)"}),
        only_with("engine", {"ce"},
                  choice_axis("api", words(kCopyApis),
                              {.defaults = "async",
                               .help = "async: cudaMemcpyAsync, timed on the GPU; sync: cudaMemcpy, timed on the host; "
                                       "graph: cudaGraphLaunch of one copy, timed on the GPU"})),
        only_with("dir", over_the_link,
                  choice_axis("touch", {"warm", "cold"},
                              {.help = "before each pass, load the host buffer into the CPU's caches (warm) or flush "
                                       "it from them (cold)"})),
        size_axis("size", {.defaults = "256M", .help = "bytes per direction"}),
        {.name = "back-to-back",
         .help = "copies per sample, back to back; default: as many as take 200 us",
         .max = kMostBackToBack},
        device_memory_axis(),
        only_with("host", {"managed", std::string(kOnDemand)}, oversubscribe_axis()),
    };
  }

  static std::vector<MetricDeclaration> make_metrics() {
    using namespace declaring;
    std::vector<MetricDeclaration> metrics{
        measured("copy", "time of the copy; bidirectional: from the start of both to the end of the later one")
            .as_headline()
            .column("time", {interval}),
        time_to_result(),
        measured("copy-submit", "host time in the calls that submit the copy"),
        measured("h2d", "bidirectional: time from the common start to the end of the H2D copies"),
        measured("d2h", "bidirectional: time from the common start to the end of the D2H copies"),
        measured("pinning", "time to pin pageable memory of this size in place and unpin it"),
        derived("bandwidth", "GB/s", higher, "payload over time; bidirectional counts both directions").column("GB/s"),
        derived("h2d_bandwidth", "GB/s", higher,
                "bidirectional: H2D payload over the time of the H2D copies; absent if several copies share a sample")
            .column("H2D GB/s"),
        derived("d2h_bandwidth", "GB/s", higher, "bidirectional: D2H payload over the time of the D2H copies")
            .column("D2H GB/s"),
        measured("h2d-beside",
                 "bidirectional: H2D copy while D2H copies of twice the size keep the other direction busy"),
        measured("d2h-beside",
                 "bidirectional: D2H copy while H2D copies of twice the size keep the other direction busy"),
        derived("h2d_beside_bandwidth", "GB/s", higher,
                "bidirectional: H2D bandwidth while D2H copies keep the other direction busy throughout"),
        derived("d2h_beside_bandwidth", "GB/s", higher,
                "bidirectional: D2H bandwidth while H2D copies keep the other direction busy throughout"),
        derived("memory_traffic", "GB/s", higher, "d2d: twice the bandwidth, because every byte is read and written"),
        derived("limit", "GB/s", higher,
                "highest payload rate of the PCIe link after encoding and packet headers, in that direction or both "
                "(xferbench info shows whether packet sizes were read or assumed); d2d: half the bandwidth of the "
                "GPU's memory")
            .column("limit GB/s"),
        derived("of_limit", "1", higher, "bandwidth over the limit").column("% of limit", percent),
        derived_time("host_blocked",
                     "host time in the call: almost none for pinned memory, the whole copy for pageable memory")
            .column("submit time"),
        derived("link_to_gpu", "1", lower,
                "bytes on the link to the GPU, packet overhead included, per byte copied one way, by the driver's "
                "counters; absent without counters and below 64 MiB")
            .column("link in"),
        derived("link_to_gpu_model", "1", lower,
                "bytes on the link to the GPU per byte copied, computed from the sizes of packets and requests"),
        derived("link_to_host", "1", lower,
                "bytes on the link to the host, packet overhead included, per byte copied one way, by the driver's "
                "counters")
            .column("link out"),
        derived("link_to_host_model", "1", lower,
                "bytes on the link to the host per byte copied, computed from the sizes of packets and requests"),
        derived_time("pinning", "time to pin the host memory of this case in place and unpin it").column("pinning"),
    };
    return with_shared(std::move(metrics), wall_metrics());
  }

  /// Returns the copies of the largest size that differ only in `param`, "gpus" or "numa", for each way of copying.
  static std::vector<SameWork> works_of_each(const char* param, std::span<const Result* const> results) {
    std::vector<SameWork> works;
    const std::vector<std::string> axes = varying_axes(results);
    const std::uint64_t size = most_of(results, [](const Result* r) { return memcpy_case(r->config).transfer.bytes; });
    const auto but_param = [param](const Result& r) { return r.config.with(param, {}).key(); };
    for (const auto& alike : grouped(results, but_param)) {
      const MemcpyCase c = memcpy_case(alike.front()->config);
      if (c.transfer.bytes != size || !alike.front()->config.has(param)) continue;
      works.push_back({.words = c.host.empty() ? c.dir : c.dir + ", " + c.host,
                       .labels = {},
                       .bytes = static_cast<double>(c.bytes()),
                       .rivals = {}});
      for (const auto& [axis, value] : labels_of(alike.front()->config, axes)) {
        if (axis == param || axis == "size") continue;
        works.back().labels.emplace_back(axis, value);
        if (axis == "dir" || axis == "host") continue;
        works.back().words += fmt::format(", {} {}", axis == "gpus" ? "GPU" : axis == "numa" ? "node" : axis, value);
      }
      for (const Result* r : those_of(alike, [](const Result* each) { return each->median("copy") > 0; })) {
        works.back().rivals.push_back({std::stoi(axis_text(*r->config.find(param))), model::estimate_of(*r, "copy")});
      }
      if (works.back().rivals.size() < 2) works.pop_back();
    }
    return works;
  }

  /// Returns the reason why the case makes no sense on any machine; null if the case is valid.
  static const char* broken_rule(const MemcpyCase& c) {
    if (c.is_managed()) {
      if (c.by_kernel()) return "managed memory migrates and is not copied by an engine; leave out --engine";
      if (c.transfer.api != CopyApi::async) return "managed memory migrates and is not copied; leave out --api";
      if (c.transfer.gpu_memory != GpuMemory::whole) return "managed memory migrates; leave out --device-memory";
      if (c.is_touched()) return "managed memory is not in the CPU's caches while the GPU has it; leave out --touch";
    }
    if (c.back_to_back > 0 &&
        (c.is_managed() || c.is_touched() || c.transfer.api == CopyApi::sync || c.blocks_both_ways())) {
      return "copies timed by the host's clock, or prepared before each pass, are timed one at a time; leave out "
             "--back-to-back";
    }
    if (c.transfer.api == CopyApi::sync && c.inside_gpu()) {
      return "cudaMemcpy inside the GPU returns before the copy ends, so --api sync cannot time it";
    }
    if (c.transfer.api == CopyApi::graph && !c.inside_gpu() && is_pageable(c.transfer.memory)) {
      return "a graph cannot hold copies of pageable memory; choose --host pinned, or leave out --api";
    }
    return nullptr;
  }

  /// Returns what the device lacks for the case; null if it lacks nothing.
  static const char* missing_on(const Capabilities& can, const MemcpyCase& c) {
    const bool simulated = can.environment.simulated();
    if (c.is_managed() && simulated) return "the simulator does not model page faults and migration";
    if (c.is_managed() && !can.managed_memory) {
      return "this GPU or its driver does not support concurrent access to managed memory";
    }
    if (c.is_touched() && simulated) return "the simulator does not model CPU caches";
    if (c.is_touched() && !can_flush_cache()) return "flushing the caches is not implemented for this kind of CPU";
    if (c.by_kernel() && !c.inside_gpu() && is_pageable(c.transfer.memory) && !can.pageable_access) {
      return simulated ? "kernels of the simulated device cannot access pageable host memory"
                       : "kernels of this GPU cannot access pageable host memory; choose pinned memory";
    }
    if (c.by_kernel() && c.both_ways() && simulated) return "the simulated device runs one kernel at a time";
    return nullptr;
  }

  /// Returns the axes that distinguish results with memory pinned in place. They become labels of findings.
  static std::vector<std::string> axes_of_registered(std::span<const Result* const> results) {
    std::vector<std::string> axes{"dir", "host", "size"};
    for (const std::string& axis : varying_axes(with_metric(results, "pinning"))) add_new(axes, axis);
    return axes;
  }

  /// Returns the number of copies after which pinning in place has paid off against the same copies from pageable
  /// memory. `axes`: axes to add as labels of the finding. Nothing if `all` has no such copies from pageable memory.
  static std::optional<Finding> pinning_break_even(const Result& registered, std::span<const std::string> axes,
                                                   std::span<const Result* const> all) {
    const Metric* pinning = registered.metric("pinning");
    if (pinning == nullptr) return std::nullopt;
    const MemcpyCase c = memcpy_case(registered.config);
    HostMemory ordinary = before_registration(c.transfer.memory);
    if (ordinary == HostMemory::pageable_small) ordinary = HostMemory::pageable;
    const Result* plain = same_copy_from(ordinary, c, all);
    if (plain == nullptr) plain = same_copy_from(ordinary = HostMemory::pageable, c, all);
    if (plain == nullptr) return std::nullopt;
    const model::BreakEven found =
        model::break_even(setup_of(registered, *pinning), model::estimate_of(plain->needed_measurement("copy")),
                          model::estimate_of(registered.needed_measurement("copy")));
    const std::string what = fmt::format("{}: registering {} ({})", c.dir, format_size(c.transfer.bytes), c.host);
    const std::string against =
        found.outcome == model::BreakEven::Outcome::pays ? fmt::format(", against {}", to_text(ordinary)) : "";
    Finding f{.kind = "break-even", .labels = labels_of(registered.config, axes)};
    f.labels.emplace_back("against", to_text(ordinary));
    f.labels.emplace_back("outcome", outcome_label(found));
    f.text = fmt::format("{} {}{}", what, break_even_text(found, to_text(ordinary)), against);
    add_copies(found, "copies", f);
    return f;
  }

  /// Returns a finding if large copies from or to pinned memory are slower than those of pageable memory among `all`.
  static std::optional<Finding> slow_pinned(const Result& pinned, std::span<const Result* const> all) {
    const MemcpyCase c = memcpy_case(pinned.config);
    if (c.transfer.memory != HostMemory::pinned || c.transfer.bytes < MiB) return std::nullopt;
    const Result* plain = same_copy_from(HostMemory::pageable, c, all);
    if (plain == nullptr || pinned.metric("bandwidth") == nullptr) return std::nullopt;
    if (model::relate(model::estimate_of(pinned, "copy"), model::estimate_of(*plain, "copy")) !=
        model::Relation::slower) {
      return std::nullopt;
    }
    Finding f{.kind = "slow-pinned",
              .labels = labels_of(pinned.config, std::array<std::string, 2>{"dir", "size"}),
              .metrics = {pinned.needed_metric("bandwidth")}};
    f.text = fmt::format(
        "{}: pinned memory is slower than pageable: {} GB/s against {} GB/s; see whether the link is "
        "narrow (xferbench info) or the memory is that of another NUMA node (--numa all)",
        c.dir, format_significant(pinned.value("bandwidth")), format_significant(plain->value("bandwidth")));
    return f;
  }

  /// Returns how much more both directions at once move than the faster one alone, for each kind of copy of the largest
  /// size that was measured both ways.
  static std::vector<Finding> both_ways_at_once(std::span<const Result* const> results) {
    std::vector<std::string> axes = varying_axes(results);
    std::erase(axes, "dir");
    const std::uint64_t size = most_of(results, [](const Result* r) { return memcpy_case(r->config).transfer.bytes; });
    std::vector<Finding> findings;
    for (const auto& alike : grouped(results, [](const Result& r) { return r.config.with("dir", {}).key(); })) {
      const Result* both = nullptr;
      const Result* one = nullptr;
      for (const Result* r : with_metric(alike, "bandwidth")) {
        const MemcpyCase c = memcpy_case(r->config);
        if (c.transfer.bytes != size || c.inside_gpu()) continue;
        if (c.both_ways()) both = r;
        if (!c.both_ways() && (one == nullptr || r->value("bandwidth") > one->value("bandwidth"))) one = r;
      }
      if (both == nullptr || one == nullptr) continue;
      const double times = both->value("bandwidth") / one->value("bandwidth");
      Finding f{
          .kind = "both-ways", .labels = labels_of(both->config, axes), .metrics = {{"times_one_way", times, "1"}}};
      f.text =
          fmt::format("{}: both directions at once move {} GB/s, {:.2f} times one alone ({} GB/s)",
                      name_of(both->config, axes.empty() ? std::vector<std::string>{"host"} : axes),
                      format_significant(both->value("bandwidth")), times, format_significant(one->value("bandwidth")));
      const bool by_link = !is_pageable(memcpy_case(both->config).transfer.memory);
      if (by_link && both->metric("limit") != nullptr && one->metric("limit") != nullptr) {
        f.text += fmt::format("; the link allows {:.2f}, as requests and acknowledgements travel against the data",
                              both->value("limit") / one->value("limit"));
      }
      findings.push_back(std::move(f));
    }
    return findings;
  }

  /// Returns from which size on each path reaches 90 % of its best rate, for paths with at least four sizes.
  static std::vector<Finding> sizes_of_near_best(std::span<const Path> paths) {
    constexpr double kNear = 0.9;
    std::vector<Finding> findings;
    for (const Path& path : paths) {
      if (path.points.size() < 4) continue;
      std::vector<model::TransferPoint> points = path.points;
      std::ranges::sort(points, {}, &model::TransferPoint::bytes);
      const auto rate = [](const model::TransferPoint& p) { return p.bytes / p.seconds; };
      const double best = most_of(points, rate);
      std::size_t first = points.size();
      while (first > 0 && rate(points[first - 1]) >= kNear * best) --first;
      if (first == points.size()) continue;
      const auto from = static_cast<std::uint64_t>(points[first].bytes);
      Finding f{.kind = "near-best",
                .labels = path.labels,
                .metrics = {{"near_best_from", points[first].bytes, "B"}, {"best_rate", best / 1e9, "GB/s"}}};
      const auto words = list_of(path.labels, [](const auto& label) { return label.second; });
      f.text = fmt::format("{}: 90 % of its best rate, {} GB/s, from {} on", fmt::join(words, ", "),
                           format_significant(best / 1e9), format_size(from));
      findings.push_back(std::move(f));
    }
    return findings;
  }

  /// Returns the time to pin and unpin the buffers of all directions, as each direction has a buffer of its own.
  static model::Estimate setup_of(const Result& registered, const Metric& pinning) {
    const Measurement* once = registered.measurement("pinning");
    if (once == nullptr || !once->ci95 || once->median <= 0) return {pinning.value};
    const double times = pinning.value / once->median;
    return {pinning.value, Interval{times * once->ci95->low, times * once->ci95->high}};
  }

  /// Returns the first result of case `c` with its host memory replaced by kind `memory`; null if there is none.
  static const Result* same_copy_from(HostMemory memory, MemcpyCase c, std::span<const Result* const> all) {
    c.host = to_text(memory);
    c.transfer.memory = memory;
    const auto found = std::ranges::find_if(all, [&](const Result* r) {
      return memcpy_case(r->config) == c && !r->needed_measurement("copy").samples.empty();
    });
    return found == all.end() ? nullptr : *found;
  }

  /// Times pinning memory of the case's size in place, and unpinning it. There is no output to check.
  static void report_pinning(const MemcpyCase& c, const HostView& memory, const RunContext& bench, Result& result) {
    if (interrupted() != 0) return;
    const Region pinning{.name = "pinning",
                         .clock = Clock::host,
                         .parts = {{.name = "register"}, {.name = "unregister"}},
                         .steps = [&](LapTimer& laps) {
                           Registration pinned = bench.device.register_host(memory);
                           laps.lap(0);
                           pinned = Registration();
                           laps.lap(1);
                         }};
    Measurement elapsed = sample_few(bench, {pinning}, 6).front().elapsed;
    if (elapsed.samples.empty()) return;
    elapsed.auxiliary = true;
    result.add("pinning", static_cast<double>(c.directions.size()) * elapsed.median, "s");
    result.measurements.push_back(std::move(elapsed));
  }

  static void report(const MemcpyCase& c, const Environment::Gpu& gpu, const Series& series, Result& result) {
    result.measurements = {series.elapsed};
    if (series.elapsed.clock != Clock::host) result.measurements.push_back(series.submit);
    if (series.elapsed.samples.empty()) return;
    const double bandwidth = gigabytes_per_second(c.bytes(), series.elapsed.median);
    result.add("bandwidth", bandwidth, "GB/s");
    report_directions(c.transfer.bytes, series, result);
    if (c.inside_gpu()) result.add("memory_traffic", 2 * bandwidth, "GB/s");
    report_limit(c, gpu, bandwidth, result);
    // With the host's clock, a pass is the call plus the wait for the copy, so the time that the call alone blocks the
    // host is not known. Exception: with cudaMemcpy in one direction, a pass is only the call.
    if (series.elapsed.clock != Clock::host || (c.transfer.api == CopyApi::sync && !c.both_ways())) {
      result.add("host_blocked", series.submit.median, "s");
    }
    if (c.transfer.touch == Touch::warm) warn_of_small_cache(c.transfer.bytes, result);
  }

  static void report_wall(std::span<const Series> series, Result& result) {
    const Measurement& copy = series.front().elapsed;
    const auto wall = std::ranges::find(series, kWall, [](const Series& s) { return s.elapsed.name; });
    if (wall != series.end()) return add_wall(*wall, result);
    if (!copy.samples.empty()) result.add(kTimeToResult, copy.median, "s");
  }

  static void report_directions(std::size_t size, const Series& series, Result& result) {
    for (const auto& [name, index] : {std::pair{"h2d", 0U}, std::pair{"d2h", 1U}}) {
      Measurement m;
      if (!series.stream_times.empty()) m = stream_measurement(series, name, index);
      if (!series.parts.empty()) m = series.parts[index];  // timed by the host's clock: one region part per direction
      if (m.samples.empty()) continue;
      result.measurements.push_back(m);
      result.add(std::string(name) + "_bandwidth", gigabytes_per_second(size, m.median), "GB/s");
    }
  }

  static void report_concurrent(std::size_t size, std::span<const Series> series, Result& result) {
    for (const Series& s : series) {
      if (!has_item(kConcurrent, s.elapsed.name) || s.stream_times.empty()) continue;
      Measurement m = stream_measurement(s, s.elapsed.name, 0);
      if (m.samples.empty()) continue;
      m.auxiliary = true;
      result.add(m.name.substr(0, 3) + "_beside_bandwidth", gigabytes_per_second(size, m.median), "GB/s");
      result.measurements.push_back(std::move(m));
    }
  }

  static void report_limit(const MemcpyCase& c, const Environment::Gpu& gpu, double bandwidth, Result& result) {
    const bool cached = c.inside_gpu() && 2 * c.transfer.bytes < kTimesCache * gpu.l2_bytes;
    if (cached) {
      result.warnings.push_back(
          fmt::format("source and destination are not much larger than the L2 cache of {}, so this is not the "
                      "bandwidth of the memory; choose a larger --size",
                      format_size(gpu.l2_bytes)));
    }
    if (cached) return;
    report_specified_limit(payload_limit(c, gpu) / 1e9, bandwidth,
                           c.inside_gpu()
                               ? "faster than the clock and width of the GPU's memory allow: its limit is unknown"
                               : "faster than the PCIe limit: this GPU is attached by another link, whose limit is "
                                 "unknown",
                           result);
  }

  static void warn_of_small_cache(std::size_t size, Result& result) {
    const std::uint64_t cache = last_level_cache_bytes();
    if (cache == 0 || size <= cache) return;
    result.warnings.push_back(
        fmt::format("--touch warm: the buffer is larger than the CPU's cache of {}, so only its end is in the cache",
                    format_size(cache)));
  }

  static LinkPayload payload_of(const MemcpyCase& c) {
    const auto goes = [&c](Direction d) { return has_item(c.directions, d); };
    return {.to_gpu = goes(Direction::h2d) ? c.transfer.bytes : 0,
            .to_host = goes(Direction::d2h) ? c.transfer.bytes : 0};
  }

  /// Returns the upper limit of payload bytes per second, all directions together. For copies inside the GPU the limit
  /// is half the memory bandwidth, because a copy reads and writes; otherwise it is the limit of the link. 0: unknown.
  static double payload_limit(const MemcpyCase& c, const Environment::Gpu& gpu) {
    if (c.inside_gpu()) return gpu.memory_bandwidth / 2;
    const model::PcieLimits link = model::pcie_limits(gpu.pcie);
    if (c.both_ways()) return link.both;
    return c.directions.front() == Direction::h2d ? link.h2d : link.d2h;
  }
};

}  // namespace

const Scenario& memcpy_scenario() { return the_only<Memcpy>(); }

}  // namespace xferbench
