// staging: moves data in pageable memory over the link: by a plain copy, by pinning it in place, by threads that copy
// it through a ring of pinned slots, or by pinning it chunk by chunk. All times include the host's work.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "core/units.hpp"
#include "measure/pattern.hpp"
#include "model/bounds.hpp"
#include "model/relation.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "scenarios/staging/case.hpp"
#include "scenarios/staging/worker_pool.hpp"

namespace xferbench {

namespace {

/// The payload of one case, with regions for the case's method and for the methods that it is compared with. All
/// regions are timed by the host's clock.
class StagedTransfer {
 public:
  static constexpr const char* kPinned = "pinned";

  StagedTransfer(const StagingCase& c, const RunContext& bench)
      : device_(bench.device),
        seed_(bench.seed),
        payload_{c.direction, device_.allocate_host(c.size, c.memory),
                 device_.allocate_host(c.size, HostMemory::pinned), device_.allocate_device(c.size)},
        stream_(device_.make_stream(StreamKind::nonblocking)) {
    payload_.part = device_.payload_part(payload_.host);
    // Tells the device which part of the pinned buffer is used. The part is the same as in the pageable buffer.
    static_cast<void>(device_.payload_part(payload_.pinned));
    if (c.has_workers()) workers_ = make_worker_pool(device_, payload_, c);
  }

  Region region(StagingMethod method, const char* name) {
    switch (method) {
      case StagingMethod::direct: return timed(name, [this] { copy_and_wait(payload_.host.data); });
      case StagingMethod::in_place: return in_place(name);
      case StagingMethod::threads:
      case StagingMethod::register_chunks: return timed(name, [this] { workers_->transfer_payload(); });
    }
    return {};
  }
  Region pinned() {
    return timed(kPinned, [this] { copy_and_wait(payload_.pinned.data); });
  }

  void prepare() {
    for (const HostBuffer& host : {std::cref(payload_.host), std::cref(payload_.pinned)}) {
      pattern::fill_bytes({host.data, host.bytes}, seed_, payload_.part);
    }
    device_.copy_and_wait({payload_.device.data, payload_.pinned.data, payload_.bytes(), Direction::h2d});
  }

  /// Runs one pass on poisoned memory. Throws VerificationError if any byte is wrong.
  void verify(const Region& region) {
    if (payload_.direction == Direction::h2d) {
      device_.fill_and_wait(payload_.device, pattern::kPoison);
    } else {
      pattern::poison(on_host(region.name), payload_.part);
    }
    run_once(device_.machine(), region);
    check(region.name, region.name);
  }

 private:
  /// Returns the host buffer that the region with name `name` uses.
  [[nodiscard]] std::span<std::byte> on_host(std::string_view name) const {
    const HostView& host = name == kPinned ? payload_.pinned : payload_.host;
    return {host.data, host.bytes};
  }

  /// Checks the output of the last pass of region `region`. With H2D, restores the source data in the host buffer.
  void check(std::string_view region, std::string_view what) {
    const std::span<std::byte> host = on_host(region);
    if (payload_.direction == Direction::h2d) {
      pattern::poison(host, payload_.part);
      device_.copy_and_wait({host.data(), payload_.device.data, payload_.bytes(), Direction::d2h});
    }
    pattern::require(pattern::check_bytes(host, seed_, payload_.part), what);
  }

  [[nodiscard]] std::function<void()> checked(const char* region) {
    return [this, region] { check(region, "its output"); };
  }

  Region timed(const char* name, std::function<void()> submit) {
    return {.name = name, .clock = Clock::host, .submit = std::move(submit), .check = checked(name)};
  }

  Region in_place(const char* name) {
    return {.name = name,
            .clock = Clock::host,
            .check = checked(name),
            .parts = {{.name = "register"}, {.name = "registered-copy"}, {.name = "unregister"}},
            .steps = [this](LapTimer& laps) {
              Registration registration = device_.register_host(payload_.host);
              laps.lap(0);
              copy_and_wait(payload_.host.data);
              laps.lap(1);
              registration = Registration();
              laps.lap(2);
            }};
  }

  void copy_and_wait(std::byte* on_host) {
    stream_.copy(payload_.copy(on_host, {0, payload_.bytes()}));
    stream_.synchronize();
  }

  Device& device_;
  std::uint64_t seed_;
  StagedPayload payload_;
  Stream stream_;
  std::unique_ptr<WorkerPool> workers_;
};

class Staging final : public ScenarioOf<staging_case> {
 public:
  Staging()
      : ScenarioOf(
            {.name = "staging",
             .summary = "copies of pageable data: plain, pinned in place, or through pinned slots by CPU threads",
             .axes = staging_axes(),
             .metrics = make_metrics(),
             .charts = {{.x = "threads", .y = "bandwidth", .panels = {"dir", "host"}, .limit = "pinned_bandwidth"},
                        {.x = "size", .y = "bandwidth", .panels = {"dir", "host"}, .limit = "pinned_bandwidth"}},
             .answer = {.best = "bandwidth",
                        .text = "{bandwidth}, {of_pinned} of pinned speed; {speedup} as fast as a plain copy",
                        .each = {"dir", "host"},
                        .ranks_ways = true},
             .work_axes = {"dir", "host", "size"}}) {}

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const StagingCase& c, const Capabilities* can) const override {
    if (auto reason = reason_against(c)) return reason;
    return can != nullptr && can->environment.simulated() ? reason_not_to_simulate(c) : std::nullopt;
  }

  [[nodiscard]] MemoryNeeds memory_needs(const StagingCase& c) const override {
    return {2 * c.size + c.ring_bytes(), c.size};
  }

  void measure(const StagingCase& c, const RunContext& bench, Result& result) const override {
    StagedTransfer journey(c, bench);
    if (bench.needs_data()) journey.prepare();
    std::vector<Region> regions{journey.region(c.method, "staging"), journey.pinned()};
    if (c.method != StagingMethod::direct) regions.push_back(journey.region(StagingMethod::direct, "direct"));
    if (bench.verify) std::ranges::for_each(regions, [&](const Region& r) { journey.verify(r); });
    const std::vector<Series> series = bench.sample(regions);
    add_measurements(series, result);
    if (all_sampled(series)) derive(c.size, result);
    if (bench.verifies_again()) journey.verify(regions.front());
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override;

 private:
  static std::vector<MetricDeclaration> make_metrics() {
    using namespace declaring;
    return {
        measured("staging", "time from the start until all data has arrived and, for register, is unpinned")
            .as_headline()
            .column("time", {interval}),
        derived("bandwidth", "GB/s", higher, "payload over that time").column("GB/s"),
        derived("direct_bandwidth", "GB/s", higher, "bandwidth of a plain copy of the same memory, sampled interleaved")
            .column("direct GB/s"),
        derived("pinned_bandwidth", "GB/s", higher, "bandwidth of the same copy of pinned memory, the limit of staging")
            .column("pinned GB/s"),
        derived("speedup", "1", higher, "speedup over the plain copy").column("vs direct", ratio),
        derived("of_pinned", "1", higher, "bandwidth over that of the same copy of pinned memory")
            .column("% of pinned", percent),
        measured("register", "register: time to pin in place, part of the total time").column("pin time"),
        measured("registered-copy", "register: time of the copy after that"),
        measured("unregister", "register: time to unpin"),
        measured("direct", "time of a plain copy of the same memory"),
        measured("pinned", "time of the same copy of pinned memory"),
    };
  }

  static void derive(std::size_t size, Result& result) {
    const auto time = [&](const char* name) {
      const Measurement* m = result.measurement(name);
      return (m != nullptr ? *m : result.needed_measurement("staging")).median;
    };
    result.add("bandwidth", gigabytes_per_second(size, time("staging")), "GB/s");
    result.add("direct_bandwidth", gigabytes_per_second(size, time("direct")), "GB/s");
    result.add("pinned_bandwidth", gigabytes_per_second(size, time("pinned")), "GB/s");
    result.add("speedup", time("direct") / time("staging"), "1");
    result.add("of_pinned", model::share_of_limit(time("pinned"), time("staging")), "1");
  }
};

/// Names the fastest method for each direction, kind of pages and size; several methods if they are tied.
std::vector<Finding> Staging::conclude(std::span<const Result* const> results) const {
  const std::vector<const Result*> measured = with_metric(results, "bandwidth");
  for (const Result* r : measured) {
    r->needed_metric("of_pinned");
    r->needed_measurement("staging");
  }
  const auto place_of = [](const Result& r) {
    const StagingCase c = staging_case(r.config);
    return fmt::format("{} {} {}", c.dir, c.host, c.size);
  };
  std::vector<Finding> findings;
  for (const auto& those : grouped(measured, place_of)) {
    if (those.size() < 2) continue;
    std::vector<std::string> methods;
    for (const Result* r : those) methods.push_back(staging_case(r->config).describe_method());
    const model::Leaders front = leaders_of(those, "staging");
    const Result& best = *those[front.places.front()];
    const StagingCase c = staging_case(best.config);
    const std::string size = format_size_exact(c.size, " ");
    findings.push_back(
        {.kind = "winner",
         .labels = {{"dir", c.dir},
                    {"host", c.host},
                    {"size", size},
                    {"fastest", leaders_text(front, methods)},
                    {"outcome", outcome_label(front)}},
         .metrics = {best.needed_metric("bandwidth"), best.needed_metric("of_pinned")},
         .text = fmt::format("{}, {} memory, {}: {}: {} GB/s, {} of a copy of pinned memory", c.dir, c.host, size,
                             ranking_text(front, methods, "is the fastest"),
                             format_significant(best.value("bandwidth")), format_percent(best.value("of_pinned"))),
         .row = true});
  }
  return findings;
}

}  // namespace

const Scenario& staging_scenario() { return the_only<Staging>(); }

}  // namespace xferbench
