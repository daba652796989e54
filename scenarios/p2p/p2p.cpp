// p2p: copies between GPUs, in either direction and in both at once, and the latency of loads from another GPU's
// memory.
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "results/metric_names.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/chase.hpp"
#include "scenarios/common/peer_access.hpp"
#include "scenarios/common/transfer.hpp"
#include "scenarios/p2p/case.hpp"

namespace xferbench {

namespace {

struct Ends {
  Device& from;
  Device& to;
};

Ends ends_of(const P2pCase& c, const RunContext& bench) {
  const std::vector<Device*> devices = devices_of(c.named(), bench.machine);
  return {*devices.at(0), *devices.at(1)};
}

std::array<Device*, 2> both(const Ends& ends) { return {&ends.from, &ends.to}; }

/// The copies of one case as a timed region: from GPU `from` to GPU `to` and, with both ways, back.
class PeerCopies {
 public:
  PeerCopies(const P2pCase& c, const Ends& ends, std::uint64_t seed, const char* name = "copy")
      : name_(name), staged_(c.staged) {
    add(c, ends.from, ends.to, seed);
    if (c.both_ways()) add(c, ends.to, ends.from, seed + 1);
  }

  void prepare() { for_each(&Transfer::prepare); }
  [[nodiscard]] std::span<const std::unique_ptr<Transfer>> transfers() const { return transfers_; }

  Region region() {
    Region r{.name = name_, .clock = staged_ ? Clock::event : Clock::event_gated};
    // Samples are long, because on links this fast the microseconds for events and for joining two GPUs would matter.
    r.shortest = 5e-3;
    r.back_to_back = true;
    r.streams.assign(streams_.begin(), streams_.end());
    r.submit = [this] {
      for (std::size_t i = 0; i < transfers_.size(); ++i) transfers_[i]->submit(streams_[i]);
    };
    r.check = [this] { for_each(&Transfer::check); };
    return r;
  }

 private:
  /// Adds a copy from `from` to `to`. The GPU that receives the data runs the copy if the case is fetched(), else the
  /// GPU that has the data.
  void add(const P2pCase& c, Device& from, Device& to, std::uint64_t seed) {
    Device& worker = c.fetched() ? to : from;
    streams_.push_back(worker.make_stream(StreamKind::nonblocking));
    transfers_.push_back(make_peer_transfer(
        from, to, worker,
        {.direction = Direction::p2p, .engine = c.engine, .gpu_memory = c.memory, .bytes = c.size, .seed = seed}));
  }
  void for_each(void (Transfer::*step)()) {
    for (const auto& t : transfers_) (t.get()->*step)();
  }

  const char* name_;
  bool staged_;  // copies go through the host in pieces; the call may block, so it must not be behind a gate
  std::vector<Stream> streams_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
};

class P2p final : public ScenarioOf<p2p_case> {
 public:
  P2p()
      : ScenarioOf(
            {.name = "p2p",
             .summary =
                 "copies between GPUs, in one direction or both at once, and latency of reads of another GPU's memory",
             .axes = make_axes(),
             .metrics = make_metrics(),
             .heat_maps = {{.rows = "from", .columns = "to", .metric = "bandwidth", .at_largest = "size"},
                           {.rows = "from", .columns = "to", .metric = kLatency}},
             .charts = {{.x = "size", .y = "bandwidth", .panels = {"op", "dir"}, .limit = "limit"}},
             .answer = {.best = "bandwidth",
                        .text = "{bandwidth}, {of_limit} of the limit",
                        .findings = {"slow-peer", "odd-pair"},
                        .each = {"op", "dir"}},
             .work_axes = {"from", "to", "op", "dir", "size", "lies-in", "buffer"},
             .gpus = UsesGpus::several}) {}

  [[nodiscard]] std::vector<Case> expand(const Case& c, const GpusOfRun& gpus) const override {
    return pairs_of(c, gpus);
  }
  [[nodiscard]] std::vector<std::size_t> takes_part(const Case& c, const Environment& environment) const override {
    return places_of(p2p_case(c).named(), environment);
  }
  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const P2pCase& c, const Capabilities* can) const override {
    return p2p_skip_reason(c, can);
  }
  [[nodiscard]] MemoryNeeds memory_needs(const P2pCase& c) const override {
    if (c.latency) return PointerChase::needs(ChaseMemory::device, c.buffer);
    return {.host = c.bytes(), .device = c.bytes()};
  }

  void measure(const P2pCase& c, const RunContext& bench, Result& result) const override {
    const Ends ends = ends_of(c, bench);
    std::optional<PeerAccess> access;
    if (c.latency || !c.staged) access.emplace(both(ends));
    c.latency ? measure_latency(c, ends, bench, result) : measure_copies(c, ends, bench, result);
    access.reset();
    if (is_suspect(c, result) && !bench.stopped()) measure_way_round(c, ends, bench, result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    return p2p_findings(results);
  }

 private:
  static std::vector<Axis> make_axes() {
    const auto copies = [](Axis axis) { return only_with("op", {"copy"}, std::move(axis)); };
    return {
        gpus_axis("pairs", {"all"},
                  {.defaults = "all",
                   .help = "pairs of GPUs, from the first to the second, as in 0-1,1-0",
                   .joined_by = '-'}),
        gpus_axis("from", {"all"},
                  {.help = "source GPUs, each paired with all of --to", .joined_by = '\0', .alternative_to = "pairs"}),
        gpus_axis(
            "to", {"all"},
            {.help = "destination GPUs, each paired with all of --from", .joined_by = '\0', .alternative_to = "pairs"}),
        choice_axis("op", {"copy", "latency"},
                    {.defaults = "copy", .help = "copy: a copy; latency: one read of the memory of `from` by `to`"}),
        copies(choice_axis(
            "dir", words(kPeerDirections),
            {.defaults = "write,read,bidirectional",
             .help = "copy: `from` writes, `to` reads, or the same with as much in the other direction at once"})),
        copies(choice_axis(
            "engine", {"ce", "sm"},
            {.defaults = "ce", .help = "copy: by a copy engine (ce), or by a kernel on the multiprocessors (sm)"})),
        copies(choice_axis(
            "access", {"peer", "staged"},
            {.defaults = "peer",
             .help = "copy: peer: directly; staged: through the host, as between GPUs without peer access"})),
        copies(size_axis("size", {.defaults = "256M", .help = "copy: bytes per direction"})),
        only_with("op", {"latency"},
                  choice_axis("lies-in", {"memory", "l2"},
                              {.flag = "location",
                               .defaults = "all",
                               .help = "latency: what is read: the other GPU's memory, or data in its L2 cache"})),
        only_with("op", {"latency"},
                  size_axis("buffer",
                            {.help = "latency: bytes of the buffer that is read at scattered addresses; default: 256M",
                             .min = 4096,
                             .max = 64.0 * static_cast<double>(GiB)})),
        copies(device_memory_axis()),
    };
  }

  static std::vector<MetricDeclaration> make_metrics() {
    using namespace declaring;
    std::vector<MetricDeclaration> metrics{
        measured("copy", "time of the copy; both ways: from the start of both to the end of the later one")
            .as_headline()
            .column("time", {interval}),
        measured("copy-submit", "host time in the calls that submit the copy"),
        measured(kLatency, "one dependent read of the other GPU's memory, mean over the multiprocessors")
            .as_headline()
            .column("latency", {interval}),
        measured(PointerChase::kNearest, "latency of a read by the fastest multiprocessor"),
        measured(PointerChase::kFarthest, "latency of a read by the slowest multiprocessor"),
        derived("bandwidth", "GB/s", higher,
                "payload over time; both ways: payload of both directions, until the end of the later one")
            .column("GB/s"),
        derived("forward_bandwidth", "GB/s", higher, "both ways: payload from `from` to `to`, over its own time")
            .column("forward GB/s"),
        derived("backward_bandwidth", "GB/s", higher, "both ways: payload from `to` to `from`, over its own time")
            .column("backward GB/s"),
        derived("limit", "GB/s", higher,
                "raw rate of the NVLinks between the two GPUs, without packet overhead, or the limit of the slower "
                "PCIe link if they have none; both ways: twice that")
            .column("limit GB/s"),
        derived("of_limit", "1", higher, "bandwidth over that limit").column("% of limit", percent),
        measured("staged-copy", "peer copies below half of their limit: the same copy through the host"),
        derived(kStagedBandwidth, "GB/s", higher, "the bandwidth of that copy"),
        derived_time("host_blocked", "host time in the call"),
        derived_time(kLatency, "median latency of a read of the other GPU's memory"),
        derived_time("nearest_latency", "latency of a read by the fastest multiprocessor").column("nearest"),
        derived_time("farthest_latency", "latency of a read by the slowest multiprocessor").column("farthest"),
        derived("readers", "1", neither, "latency: number of multiprocessors that read, one after the other"),
        derived("sm_clock", "Hz", neither, "latency: SM clock during the reads"),
    };
    return with_shared(std::move(metrics), several_gpus_metrics());
  }

  static void measure_copies(const P2pCase& c, const Ends& ends, const RunContext& bench, Result& result) {
    PeerCopies copies(c, ends, bench.seed);
    if (bench.needs_data()) copies.prepare();
    const Region region = copies.region();
    if (bench.verify) verify(copies.transfers(), bench.machine, region, run_once);
    const Series series = bench.sample({region}).front();
    result.measurements = {series.elapsed, series.submit};
    result.measurements.insert(result.measurements.end(), series.parts.begin(), series.parts.end());
    if (!series.elapsed.samples.empty()) report(c, bench.device.capabilities().environment, series, result);
    if (bench.verifies_again()) verify(copies.transfers(), bench.machine, region, run_at_full_speed);
  }

  /// Whether the peer path is so slow that copies through the host may be faster. Small copies cannot show this.
  static bool is_suspect(const P2pCase& c, const Result& result) {
    constexpr double kSlow = 0.5;
    constexpr std::size_t kLarge = 16 * MiB;
    const Metric* share = result.metric("of_limit");
    return !c.latency && !c.staged && c.size >= kLarge && share != nullptr && share->value < kSlow;
  }

  /// Measures the same copies through the host, to show what the peer path loses.
  static void measure_way_round(const P2pCase& c, const Ends& ends, const RunContext& bench, Result& result) {
    P2pCase round = c;
    round.staged = true;
    round.engine = Engine::copy_engine;
    round.memory = GpuMemory::whole;
    PeerCopies copies(round, ends, bench.seed, "staged-copy");
    if (bench.needs_data()) copies.prepare();
    const Region region = copies.region();
    if (bench.verify) verify(copies.transfers(), bench.machine, region, run_once);
    Measurement time = sample_few(bench, {region}, 6).front().elapsed;
    if (time.samples.empty()) return;
    time.auxiliary = true;
    result.add(kStagedBandwidth, gigabytes_per_second(c.bytes(), time.median), "GB/s");
    result.measurements.push_back(std::move(time));
  }

  static void report(const P2pCase& c, const Environment& environment, const Series& series, Result& result) {
    const double bandwidth = gigabytes_per_second(c.bytes(), series.elapsed.median);
    result.add("bandwidth", bandwidth, "GB/s");
    if (c.both_ways()) {
      const auto own_rate = [&](int gpu) { return gigabytes_per_second(c.size, series.part(kGpuTime, gpu).median); };
      const int from = c.from.front();
      const int to = c.to.front();
      result.add("forward_bandwidth", own_rate(c.fetched() ? to : from), "GB/s");
      result.add("backward_bandwidth", own_rate(c.fetched() ? from : to), "GB/s");
    }
    report_specified_limit(payload_limit(c, environment) / 1e9, bandwidth,
                           "faster than the known links between the two GPUs: they have other links, whose limit is "
                           "unknown",
                           result);
    result.add("host_blocked", series.submit.median, "s");
  }

  static void measure_latency(const P2pCase& c, const Ends& ends, const RunContext& bench, Result& result) {
    PointerChase chase(ends.to, ends.from, c.buffer, bench.seed, c.cached);
    const Series series = bench.sample({chase.region_of_all_multiprocessors()}).front();
    const Measurement latency = series.main_part(kLatency);
    result.measurements = {latency, series.part(PointerChase::kNearest), series.part(PointerChase::kFarthest)};
    if (latency.samples.empty()) return;
    result.add(kLatency, latency.median, "s");
    result.add("nearest_latency", series.part(PointerChase::kNearest).median, "s");
    result.add("farthest_latency", series.part(PointerChase::kFarthest).median, "s");
    if (chase.multiprocessors() > 0) result.add("readers", static_cast<double>(chase.multiprocessors()), "1");
    if (chase.clock_rate() > 0) result.add("sm_clock", chase.clock_rate(), "Hz");
  }
};

}  // namespace

const Scenario& p2p_scenario() { return the_only<P2p>(); }

}  // namespace xferbench
