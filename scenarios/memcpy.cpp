// memcpy: one copy at a time, or one in each direction at once, by every kind of host memory and both engines. What the
// link gives, before any pipeline.
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "device/cpu_cache.hpp"
#include "device/pages.hpp"
#include "measure/statistics.hpp"
#include "measure/worker.hpp"
#include "model/bounds.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

namespace {

enum class Route { h2d, d2h, d2d, bidirectional };

Route route_of(const Case& c) {
  const std::string& dir = c.word("dir");
  if (dir == "h2d") return Route::h2d;
  if (dir == "d2h") return Route::d2h;
  return dir == "d2d" ? Route::d2d : Route::bidirectional;
}

bool is_managed(const Case& c) { return c.has("host") && c.word("host").starts_with("managed"); }
bool by_kernel(const Case& c) { return c.word("engine") == "sm"; }
bool by_blocking_call(const Case& c) { return c.has("api") && c.word("api") == "sync"; }

HostMemory memory_of(const Case& c) {
  if (!c.has("host")) return HostMemory::pageable;
  return is_managed(c) ? HostMemory::managed : host_memory(c.word("host"));
}

bool is_registered(const Case& c) {
  return memory_of(c) == HostMemory::registered || memory_of(c) == HostMemory::registered_huge;
}

TransferSpec spec_of(const Case& c, Direction direction, std::uint64_t seed) {
  TransferSpec spec;
  spec.direction = direction;
  spec.memory = memory_of(c);
  spec.engine = by_kernel(c) ? Engine::multiprocessors : Engine::copy_engine;
  if (is_managed(c)) spec.engine = c.word("host") == "managed" ? Engine::prefetch : Engine::page_faults;
  spec.blocking_api = by_blocking_call(c);
  if (c.has("touch")) spec.touch = c.word("touch") == "warm" ? Touch::warm : Touch::cold;
  spec.bytes = c.count("size");
  spec.seed = seed;
  return spec;
}

/// The transfers of one case as a region.
class Copies {
 public:
  Copies(const Case& c, const RunContext& bench)
      : device_(bench.device),
        streams_{device_.make_stream(StreamKind::nonblocking), device_.make_stream(StreamKind::nonblocking)} {
    const auto add = [&](Direction direction, std::uint64_t seed) {
      transfers_.push_back(make_transfer(device_, spec_of(c, direction, seed)));
    };
    switch (route_of(c)) {
      case Route::h2d: add(Direction::h2d, bench.seed); break;
      case Route::d2h: add(Direction::d2h, bench.seed); break;
      case Route::d2d: add(Direction::d2d, bench.seed); break;
      case Route::bidirectional:
        add(Direction::h2d, bench.seed);
        add(Direction::d2h, bench.seed + 1);
        if (first().blocks_host()) worker_.emplace(device_.host());
        break;
    }
  }

  void prepare() { for_each(&Transfer::prepare); }
  void check() { for_each(&Transfer::check); }
  void poison() {
    for_each(&Transfer::poison);
    device_.synchronize();
  }

  Region region() {
    Region r;
    r.name = "copy";
    if (first().needs_reset()) r.reset = [this] { for_each(&Transfer::reset); };
    // Two copies that block their callers end before an event behind either could be recorded.
    if (!first().in_stream() || (both_ways() && first().blocks_host())) {
      describe_for_host_clock(r);
    } else {
      describe_for_events(r);
    }
    return r;
  }

 private:
  [[nodiscard]] Transfer& first() const { return *transfers_.front(); }
  [[nodiscard]] bool both_ways() const { return transfers_.size() > 1; }

  void for_each(void (Transfer::*step)()) {
    for (const auto& t : transfers_) (t.get()->*step)();
  }

  void describe_for_events(Region& r) {
    // Never a gate around what blocks its caller: the call would wait for a gate that is opened after it.
    r.clock = first().blocks_host() ? Clock::event : Clock::event_gated;
    r.streams = {streams_[0]};
    r.submit = [this] { first().submit(streams_[0]); };
    if (!both_ways()) return;
    r.streams = {streams_[0], streams_[1]};
    r.operations = 2;
    r.per_stream = true;
    r.submit = [this] {
      first().submit(streams_[0]);
      transfers_[1]->submit(streams_[1]);
    };
  }

  void describe_for_host_clock(Region& r) {
    r.clock = Clock::host;
    r.submit = [this] { first().submit(streams_[0]); };
    if (!both_ways()) return;
    r.submit = nullptr;
    r.parts = {{.name = "h2d"}, {.name = "d2h"}};
    r.steps = [this](LapTimer& laps) {
      const double begun = device_.host().now();
      worker_->start([this] { ends_[1] = run_to_end(1); });
      ends_[0] = run_to_end(0);
      worker_->finish();
      for (std::size_t i = 0; i < ends_.size(); ++i) laps.add(i, ends_[i] - begun);
    };
  }

  /// Returns the host's time when the bytes have moved. The call may return a little earlier.
  double run_to_end(std::size_t which) {
    transfers_[which]->submit(streams_[which]);
    streams_[which].synchronize();
    return device_.host().now();
  }

  Device& device_;
  std::array<Stream, 2> streams_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::array<double, 2> ends_{};  // of the directions, on the host's clock
  std::optional<Worker> worker_;  // last: its thread uses the others
};

/// Times of one stream of the region as a measurement of its own.
Measurement stream_measurement(const Series& series, std::size_t stream) {
  Measurement m = series.elapsed;
  m.flags.clear();
  m.samples.clear();
  for (const auto& times : series.stream_times) m.samples.push_back(times[stream]);
  statistics::summarise(m);
  return m;
}

/// What pinning the memory of this case in place costs, and undoing it.
class Pinning {
 public:
  Pinning(Device& device, const Case& c)
      : device_(device),
        memory_(device.allocate_host(c.count("size"), memory_of(c) == HostMemory::registered_huge
                                                          ? HostMemory::pageable_huge
                                                          : HostMemory::pageable_small)) {}
  Region region() {
    Region r;
    r.name = "pinning";
    r.clock = Clock::host;
    r.parts = {{.name = "register"}, {.name = "unregister"}};
    r.steps = [this](LapTimer& laps) {
      Registration pinned = device_.register_host(memory_);
      laps.lap(0);
      pinned = Registration();
      laps.lap(1);
    };
    return r;
  }

 private:
  Device& device_;
  HostBuffer memory_;
};

/// Data this many times as large as the L2 cache is mostly not in it.
constexpr std::uint64_t kTimesCache = 4;

double gigabytes_per_second(std::size_t bytes, double seconds) { return static_cast<double>(bytes) / seconds / 1e9; }

class Memcpy final : public Scenario {
 public:
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override {
    static const ScenarioDescriptor scenario{
        .name = "memcpy",
        .summary = "copies between host and GPU, one way or both at once, and inside the GPU",
        .axes = make_axes(),
        .metrics = make_metrics()};
    return scenario;
  }

  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities* can) const override {
    if (const char* reason = broken_rule(c)) return SkipReason::impossible(reason);
    const char* reason = can == nullptr ? nullptr : missing_on(*can, c);
    return reason == nullptr ? std::nullopt : std::optional(SkipReason::unavailable(reason));
  }

  [[nodiscard]] MemoryNeeds needs(const Case& c) const override {
    const std::uint64_t size = c.count("size");
    const std::uint64_t directions = route_of(c) == Route::bidirectional ? 2 : 1;
    // Managed: seen from the host, the check takes an ordinary buffer; from the GPU, a copy on the device.
    if (is_managed(c)) return {size, directions * size, directions * size};
    // Pinning in place is timed on a buffer of its own.
    return {(directions + (is_registered(c) ? 1 : 0)) * size, route_of(c) == Route::d2d ? 2 * size : directions * size};
  }

  void run(const Case& c, const RunContext& bench, Result& result) const override {
    Copies copies(c, bench);
    if (bench.verify || bench.device.capabilities().moves_data_when_timed) copies.prepare();
    const Region region = copies.region();
    if (bench.verify) {
      copies.poison();
      run_once(bench.machine, region);
      copies.check();
    }
    const Series series = bench.sample({region}).front();
    report(c, bench.device.capabilities().environment, series, result);
    if (bench.verify) {
      copies.poison();
      run_at_full_speed(bench.machine, region);
      copies.check();
    }
    if (is_registered(c)) report_pinning(c, bench, result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    std::vector<Finding> findings = fits_and_crossovers(paths(results, "copy"), "host");
    for (const Result* r : results) {
      if (auto finding = when_pinning_pays(*r, results)) findings.push_back(std::move(*finding));
    }
    return findings;
  }

 private:
  static std::vector<Axis> make_axes() {
    return {
        {.name = "dir",
         .kind = AxisKind::choice,
         .defaults = "all",
         .help = "where from and where to; bidirectional is H2D and D2H at once",
         .choices = {"h2d", "d2h", "d2d", "bidirectional"}},
        {.name = "host",
         .kind = AxisKind::choice,
         .defaults = "pinned,pageable",
         .help = "kind of host memory; managed migrates by prefetch, managed-faults on demand",
         .choices = host_kinds(),
         .only_with_axis = "dir",
         .only_with_values = {"h2d", "d2h", "bidirectional"}},
        {.name = "engine",
         .kind = AxisKind::choice,
         .defaults = "ce",
         .help = "who copies: a copy engine, or a kernel on the multiprocessors",
         .choices = {"ce", "sm"}},
        {.name = "api",
         .kind = AxisKind::choice,
         .defaults = "async",
         .help = "cudaMemcpyAsync timed on the GPU, or cudaMemcpy timed by its caller",
         .choices = {"async", "sync"},
         .only_with_axis = "engine",
         .only_with_values = {"ce"}},
        {.name = "touch",
         .kind = AxisKind::choice,
         .help = "before each pass, bring the host buffer into the CPU's caches or flush it from them",
         .choices = {"warm", "cold"},
         .only_with_axis = "dir",
         .only_with_values = {"h2d", "d2h", "bidirectional"}},
        {.name = "size", .kind = AxisKind::size, .defaults = "256M", .help = "bytes per direction"},
    };
  }

  static std::vector<MetricDeclaration> make_metrics() {
    using enum Better;
    using enum MetricDeclaration::Format;
    using enum MetricDeclaration::Beside;
    return {
        measured("copy", "the copy; bidirectional: from the start of both to the end of the later one")
            .as_headline()
            .column("time", {interval}),
        measured("copy-submit", "the calls that submit it"),
        measured("h2d", "bidirectional: from the common start to the end of the copies to the GPU"),
        measured("d2h", "bidirectional: from the common start to the end of the copies to the host"),
        measured("pinning", "pinning as much ordinary memory in place, and undoing it"),
        derived("bandwidth", "GB/s", higher, "payload over time; bidirectional counts both directions").column("GB/s"),
        derived("h2d_bandwidth", "GB/s", higher,
                "bidirectional: payload to the GPU over its own time; absent where "
                "copies are so short that a sample repeats them")
            .column("H2D GB/s"),
        derived("d2h_bandwidth", "GB/s", higher, "the same to the host").column("D2H GB/s"),
        derived("memory_traffic", "GB/s", higher, "d2d: twice the bandwidth, as every byte is read and written"),
        derived("limit", "GB/s", higher,
                "what the PCIe link carries at most after encoding and packet headers, or what "
                "the memory does")
            .column("limit GB/s"),
        derived("of_limit", "1", higher, "bandwidth over that limit").column("of limit", percent),
        derived_time("host_blocked",
                     "how long the call kept the host: next to nothing for pinned memory, all of it for "
                     "pageable")
            .column("host blocked"),
        derived_time("pinning", "pinning this much memory in place and undoing it").column("pinning"),
    };
  }

  /// Null if the case makes sense.
  static const char* broken_rule(const Case& c) {
    if (is_managed(c)) {
      if (by_kernel(c)) return "managed memory migrates and is not copied by an engine; leave out --engine";
      if (by_blocking_call(c)) return "managed memory migrates and is not copied by cudaMemcpy; leave out --api";
      if (c.has("touch")) return "managed memory is not in the CPU's caches while the GPU has it; leave out --touch";
    }
    if (by_blocking_call(c) && route_of(c) == Route::d2d) {
      return "cudaMemcpy inside the GPU returns before its end, so there is nothing to time with --api sync";
    }
    return nullptr;
  }

  /// Null if the device has all that the case needs.
  static const char* missing_on(const Capabilities& can, const Case& c) {
    const bool simulated = can.environment.simulated();
    if (is_managed(c) && simulated) return "the simulated device has no model of page faults and migration";
    if (is_managed(c) && !can.managed_memory) {
      return "this GPU or its driver does not let host and GPU use managed memory at once";
    }
    if (c.has("touch") && simulated) return "the simulated host has no caches";
    if (c.has("touch") && !can_flush_cache()) return "flushing the caches is not implemented for this kind of CPU";
    if (by_kernel(c) && route_of(c) != Route::d2d && is_pageable(memory_of(c)) && !can.pageable_access) {
      return simulated ? "the simulated device's kernels cannot reach ordinary host memory"
                       : "this GPU's kernels cannot reach ordinary host memory; choose page-locked memory";
    }
    if (by_kernel(c) && route_of(c) == Route::bidirectional && simulated) {
      return "the simulated device runs one kernel at a time";
    }
    return nullptr;
  }

  /// The kinds of memory, and managed memory a second time for its other way to migrate.
  static std::vector<std::string> host_kinds() {
    std::vector<std::string> kinds(kHostMemoryNames.begin(), kHostMemoryNames.end());
    kinds.emplace_back("managed-faults");
    return kinds;
  }

  /// For a result with memory pinned in place, against the same copies of memory as it is.
  static std::optional<Finding> when_pinning_pays(const Result& registered, std::span<const Result* const> all) {
    const Metric* pinning = registered.metric("pinning");
    if (pinning == nullptr) return std::nullopt;
    const std::string alternative = registered.config.word("host") == "registered" ? "pageable" : "pageable-huge";
    const Result* plain = same_but_host(registered, all, {alternative, "pageable"});
    if (plain == nullptr) return std::nullopt;
    const double slow = plain->measurement("copy")->median;
    const double fast = registered.measurement("copy")->median;
    const std::string what = fmt::format("{}: registering {} ({})", registered.config.word("dir"),
                                         format_size(registered.config.count("size")), registered.config.word("host"));
    const std::string& ordinary = plain->config.word("host");
    Finding f;
    f.kind = "break-even";
    f.labels = {{"dir", registered.config.word("dir")}, {"host", registered.config.word("host")}};
    f.text = fmt::format("{} never pays: copies of {} memory are as fast", what, ordinary);
    if (fast * (1 + model::kAlike) >= slow) return f;  // no faster, but for noise
    const double copies = model::break_even_copies(pinning->value, slow, fast).value_or(1);
    f.metrics = {{"copies", copies, "copies"}};
    f.text =
        fmt::format("{} pays from {:.0f} {} on, against {}", what, copies, copies > 1 ? "copies" : "copy", ordinary);
    return f;
  }

  /// The first result with one of these hosts and everything else alike.
  static const Result* same_but_host(const Result& result, std::span<const Result* const> all,
                                     std::initializer_list<std::string> hosts) {
    const auto rest = [](const Case& c) {
      std::string text;
      for (const Case::Param& p : c.params()) {
        if (p.name != "host") text += p.name + to_text(p.value, p.kind);
      }
      return text;
    };
    for (const std::string& host : hosts) {
      for (const Result* other : all) {
        if (!other->config.has("host") || other->config.word("host") != host) continue;
        if (rest(other->config) == rest(result.config) && !other->measurement("copy")->samples.empty()) return other;
      }
    }
    return nullptr;
  }

  static void report_pinning(const Case& c, const RunContext& bench, Result& result) {
    if (interrupted() != 0) return;
    SamplingPolicy few = bench.policy;
    few.min_samples = few.max_samples = 6;
    Pinning pinning(bench.device, c);
    Series series = sample(bench.machine, {pinning.region()}, few, bench.observe).front();
    if (series.elapsed.samples.empty()) return;
    series.elapsed.auxiliary = true;
    result.measurements.push_back(series.elapsed);
    const double buffers = route_of(c) == Route::bidirectional ? 2 : 1;
    result.add("pinning", buffers * series.elapsed.median, "s");
  }

  static void report(const Case& c, const Environment& environment, const Series& series, Result& result) {
    result.measurements = {series.elapsed};
    if (series.elapsed.clock != Clock::host) result.measurements.push_back(series.submit);
    if (series.elapsed.samples.empty()) return;
    const std::size_t size = c.count("size");
    const double directions = route_of(c) == Route::bidirectional ? 2 : 1;
    const double bandwidth = directions * gigabytes_per_second(size, series.elapsed.median);
    result.add("bandwidth", bandwidth, "GB/s");
    report_directions(size, series, result);
    if (route_of(c) == Route::d2d) result.add("memory_traffic", 2 * bandwidth, "GB/s");
    report_limit(c, environment.gpu, bandwidth, directions, result);
    // By the host's clock a pass is the call and the wait for its end; only cudaMemcpy is nothing but the call.
    if (series.elapsed.clock != Clock::host || (by_blocking_call(c) && directions == 1)) {
      result.add("host_blocked", series.submit.median, "s");
    }
    if (c.has("touch") && c.word("touch") == "warm") warn_of_small_cache(size, result);
  }

  static void report_directions(std::size_t size, const Series& series, Result& result) {
    for (const auto& [name, index] : {std::pair{"h2d", 0U}, std::pair{"d2h", 1U}}) {
      Measurement m;
      if (!series.stream_times.empty()) m = stream_measurement(series, index);
      if (!series.parts.empty()) m = series.parts[index];
      if (m.samples.empty()) continue;
      m.name = name;
      result.measurements.push_back(m);
      result.add(std::string(name) + "_bandwidth", gigabytes_per_second(size, m.median), "GB/s");
    }
  }

  static void report_limit(const Case& c, const Environment::Gpu& gpu, double bandwidth, double directions,
                           Result& result) {
    const Route route = route_of(c);
    const bool cached = route == Route::d2d && 2 * c.count("size") < kTimesCache * gpu.l2_bytes;
    if (cached) {
      result.warnings.emplace_back("source and destination are not much larger than the L2 cache of " +
                                   format_size(gpu.l2_bytes) +
                                   ": this is not the memory's rate; choose a larger --size");
    }
    const double limit = cached ? 0 : directions * payload_limit(route, gpu) / 1e9;
    if (bandwidth > 1.05 * limit && limit > 0) {
      result.warnings.emplace_back(
          "faster than PCIe could be: this GPU is attached in another way, and its link's limit "
          "is not known");
    } else if (limit > 0) {
      result.add("limit", limit, "GB/s");
      result.add("of_limit", bandwidth / limit, "1");
    }
  }

  static void warn_of_small_cache(std::size_t size, Result& result) {
    const std::uint64_t cache = last_level_cache_bytes();
    if (cache == 0 || size <= cache) return;
    result.warnings.push_back(
        fmt::format("--touch warm: the buffer is larger than the CPU's cache of {}, which holds "
                    "only its end",
                    format_size(cache)));
  }

  /// Bytes of payload per second and direction: of the link, or of the memory, which a copy reads and writes. 0 is
  /// unknown.
  static double payload_limit(Route route, const Environment::Gpu& gpu) {
    if (route == Route::d2d) return gpu.memory_bandwidth / 2;
    return gpu.pcie ? model::pcie_limit(gpu.pcie->generation, gpu.pcie->width) : 0;
  }
};

}  // namespace

const Scenario& memcpy_scenario() {
  static const Memcpy scenario;
  return scenario;
}

}  // namespace xferbench
