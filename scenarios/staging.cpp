// staging: data that lies in ordinary memory and has to cross the link. Copy it as it is, pin it in place for the copy,
// or let threads carry it through a ring of pinned slots - all host work included.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/pattern.hpp"
#include "measure/worker.hpp"
#include "model/partition.hpp"
#include "model/relation.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "run/wording.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

namespace {

using model::Chunk;

constexpr std::size_t kStagingPage = 4 * KiB;

enum class StagingMethod { direct, in_place, threads };
constexpr std::array<std::string_view, 3> kStagingMethods{"direct", "register", "threads"};
constexpr std::array<std::string_view, 3> kStagingPages{"pageable", "pageable-small", "pageable-huge"};

struct StagingCase {
  std::string dir;
  std::string host;
  Direction direction = Direction::h2d;
  HostMemory memory = HostMemory::pageable;
  StagingMethod method = StagingMethod::direct;
  std::size_t size = 0;
  std::size_t threads = 0;  ///< the rest is of threads only
  std::size_t slot = 0;     ///< bytes, as asked for
  std::size_t slots = 0;    ///< of each thread

  /// A slot's worth, or less of a payload too small to give every thread two, but not so little that the calls cost
  /// more than the bytes.
  [[nodiscard]] std::size_t chunk_bytes() const {
    constexpr std::size_t kLeast = 64 * KiB;
    const std::size_t share = (size / (2 * threads) + kStagingPage - 1) / kStagingPage * kStagingPage;
    return std::min(slot, std::max(kLeast, share));
  }
  /// "8 threads, 3 slots of 2 MiB", with the slots as they are used
  [[nodiscard]] std::string describe_method() const {
    if (method != StagingMethod::threads) return std::string(kStagingMethods[static_cast<std::size_t>(method)]);
    return fmt::format("{} threads, {} slots of {}", threads, slots, format_size(chunk_bytes()));
  }
};

StagingCase staging_case(const Case& c) {
  return {.dir = c.word("dir"),
          .host = c.word("host"),
          .direction = c.one_of<Direction>("dir", kDirections),
          .memory = host_memory(c.word("host")),
          .method = c.one_of<StagingMethod>("method", kStagingMethods),
          .size = c.count("size"),
          .threads = c.count_or("threads", 0),
          .slot = c.count_or("slot", 0),
          .slots = c.count_or("slots", 0)};
}

/// A payload in ordinary host memory, its counterpart on the device, and the same in pinned memory to compare with.
struct StagedPayload {
  Direction direction;
  HostBuffer host;
  HostBuffer pinned;
  DeviceBuffer device;
  PayloadPart part{};  // of host and pinned

  [[nodiscard]] std::size_t bytes() const { return host.bytes; }
  /// `chunk` in bytes.
  [[nodiscard]] Copy copy(std::byte* on_host, const Chunk& chunk) const {
    std::byte* on_device = device.data + chunk.first;
    return direction == Direction::h2d ? Copy{on_device, on_host, chunk.count, Direction::h2d}
                                       : Copy{on_host, on_device, chunk.count, Direction::d2h};
  }
};

/// The chunks of one pass in bytes, which whoever is free takes one after another.
class Work {
 public:
  Work(std::size_t bytes, std::size_t chunk_bytes) : bytes_(bytes), chunk_bytes_(chunk_bytes) {}
  void restart() { next_ = 0; }
  std::optional<Chunk> take() {
    const std::size_t first = next_.fetch_add(1, std::memory_order_relaxed) * chunk_bytes_;
    if (first >= bytes_) return std::nullopt;
    return Chunk{first, std::min(chunk_bytes_, bytes_ - first)};
  }

 private:
  std::size_t bytes_;
  std::size_t chunk_bytes_;
  std::atomic<std::size_t> next_{0};
};

/// One thread of the staging crew with its own ring, stream and events: threads share nothing but the work.
class Carrier {
 public:
  Carrier(Device& device, const StagedPayload& payload, std::size_t slot_bytes, std::size_t slots, Work& work)
      : device_(device),
        payload_(payload),
        work_(work),
        ring_(device.allocate_host(slot_bytes * slots, HostMemory::pinned)),
        stream_(device.make_stream(StreamKind::nonblocking)) {
    for (std::size_t i = 0; i < slots; ++i)
      slots_.push_back({ring_.data + i * slot_bytes, device.make_event(EventKind::ordering)});
  }

  /// Carries chunks until none are left, and returns when the last of its own has arrived.
  void carry() {
    std::size_t sent = 0;
    std::size_t arrived = 0;
    const auto slot = [this](std::size_t turn) -> Slot& { return slots_[turn % slots_.size()]; };
    for (;;) {
      // What this pass has not used yet is free: every pass ends with an idle stream.
      if (sent - arrived == slots_.size()) receive(slot(arrived++));
      const auto chunk = work_.take();
      if (!chunk) break;
      send(slot(sent++), *chunk);
    }
    if (payload_.direction == Direction::h2d) return stream_.synchronize();
    while (arrived < sent) receive(slot(arrived++));
  }

 private:
  struct Slot {
    std::byte* data;
    Event copied;  // the link is done with the slot
    Chunk chunk{};
  };

  void send(Slot& slot, const Chunk& chunk) {
    slot.chunk = chunk;
    if (payload_.direction == Direction::h2d) {
      move(chunk, [&](std::size_t from, std::size_t bytes) {
        std::memcpy(slot.data + from - chunk.first, payload_.host.data + from, bytes);
      });
    }
    stream_.copy(payload_.copy(slot.data, chunk));
    stream_.record(slot.copied);
  }

  void receive(const Slot& slot) {
    slot.copied.synchronize();
    if (payload_.direction == Direction::h2d) return;
    move(slot.chunk, [&](std::size_t from, std::size_t bytes) {
      std::memcpy(payload_.host.data + from, slot.data + from - slot.chunk.first, bytes);
    });
  }

  /// copy(from, bytes) for what is to be moved of the chunk, with its place in the payload.
  template <class CopyBytes>
  void move(const Chunk& chunk, const CopyBytes& copy) {
    device_.host().work({.bytes_copied = chunk.count}, [&] {
      payload_.part.for_each(chunk.first, chunk.first + chunk.count,
                             [&](std::size_t begin, std::size_t end) { copy(begin, end - begin); });
    });
  }

  Device& device_;
  const StagedPayload& payload_;
  Work& work_;
  HostBuffer ring_;
  Stream stream_;
  std::vector<Slot> slots_;
};

/// Threads that carry the payload together, each through its own ring.
class CopyWorkers {
 public:
  CopyWorkers(Device& device, const StagedPayload& payload, const StagingCase& c)
      : work_(payload.bytes(), c.chunk_bytes()) {
    for (std::size_t i = 0; i < c.threads; ++i) {
      carriers_.push_back(std::make_unique<Carrier>(device, payload, c.chunk_bytes(), c.slots, work_));
      threads_.push_back(std::make_unique<Worker>(device.host()));
    }
  }

  /// Carries the whole payload once. Rethrows what a thread threw.
  void carry() {
    work_.restart();
    for (std::size_t i = 0; i < threads_.size(); ++i)
      threads_[i]->start([&carrier = *carriers_[i]] { carrier.carry(); });
    for (const auto& thread : threads_) thread->finish();
  }

 private:
  Work work_;
  std::vector<std::unique_ptr<Carrier>> carriers_;
  std::vector<std::unique_ptr<Worker>> threads_;  // last: they use the others
};

/// The payload of one case, its method, and what that is compared with, as regions of the host's clock.
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
    static_cast<void>(device_.payload_part(payload_.pinned));  // as large, so it is the same
    if (c.method == StagingMethod::threads) crew_.emplace(device_, payload_, c);
  }

  Region region(StagingMethod method, const char* name) {
    switch (method) {
      case StagingMethod::direct: return timed(name, [this] { copy_and_wait(payload_.host.data); });
      case StagingMethod::in_place: return in_place(name);
      case StagingMethod::threads: return timed(name, [this] { crew_->carry(); });
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

  /// One pass onto poisoned memory; throws VerificationError unless every byte arrived.
  void verify(const Region& region) {
    if (payload_.direction == Direction::h2d) {
      stream_.fill(payload_.device, pattern::kPoison);
      device_.synchronize();
    } else {
      pattern::poison(on_host(region.name), payload_.part);
    }
    run_once(device_.machine(), region);
    check(region.name, region.name);
  }

 private:
  /// What the region of that name copies from or to.
  [[nodiscard]] std::span<std::byte> on_host(std::string_view name) const {
    const HostView& host = name == kPinned ? payload_.pinned : payload_.host;
    return {host.data, host.bytes};
  }

  /// What the last pass of that region has left. What was sent is the same again afterwards.
  void check(std::string_view region, std::string_view what) {
    const std::span<std::byte> host = on_host(region);
    if (payload_.direction == Direction::h2d) {
      pattern::poison(host, payload_.part);
      device_.copy_and_wait({host.data(), payload_.device.data, payload_.bytes(), Direction::d2h});
    }
    if (const auto wrong = pattern::check_bytes(host, seed_, payload_.part)) {
      throw VerificationError(fmt::format("{}: {}", what, wrong->describe()));
    }
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
  std::optional<CopyWorkers> crew_;
};

class Staging final : public ScenarioOf<staging_case> {
 public:
  Staging()
      : ScenarioOf({.name = "staging",
                    .summary = "data in ordinary memory: copied as it is, pinned in place, or carried by threads",
                    .axes = make_axes(),
                    .metrics = make_metrics()}) {}

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const StagingCase& c, const Capabilities*) const override {
    if (c.slot % kStagingPage == 0) return std::nullopt;
    return SkipReason::impossible(fmt::format("--slot {} is not a multiple of 4 KiB", format_size_exact(c.slot)));
  }

  [[nodiscard]] MemoryNeeds memory_needs(const StagingCase& c) const override {
    const std::uint64_t rings = c.method == StagingMethod::threads ? c.threads * c.slots * c.chunk_bytes() : 0;
    return {2 * c.size + rings, c.size};
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
  static std::vector<Axis> make_axes() {
    return {
        choice_axis("dir", {"h2d", "d2h"}, {.defaults = "h2d,d2h", .help = "where from and where to"}),
        choice_axis("host", words(kStagingPages),
                    {.defaults = "pageable",
                     .help = "pages that the data lies on: the system's usual ones, small or huge ones"}),
        size_axis("size", {.defaults = "256M", .help = "bytes to move"}),
        choice_axis(
            "method", words(kStagingMethods),
            {.defaults = "all", .help = "direct: as it is; register: pin, copy, unpin; threads: through pinned slots"}),
        only_with("method", {"threads"},
                  {.name = "threads", .defaults = "1:8", .help = "threads that carry", .max = 256}),
        only_with("method", {"threads"},
                  size_axis("slot", {.defaults = "2M",
                                     .help = "bytes of a slot, in whole pages of 4 KiB; less if the payload is small",
                                     .min = kStagingPage,
                                     .max = 1 * GiB})),
        only_with("method", {"threads"},
                  {.name = "slots", .defaults = "3", .help = "slots of each thread", .max = 1024}),
    };
  }

  static std::vector<MetricDeclaration> make_metrics() {
    using namespace declaring;
    return {
        measured("staging",
                 "from the first thing the method does until everything has arrived and, for register, is "
                 "unpinned")
            .as_headline()
            .column("time", {interval}),
        derived("bandwidth", "GB/s", higher, "payload over that time").column("GB/s"),
        derived("direct_bandwidth", "GB/s", higher, "of a plain copy of the same memory, sampled in turn with it")
            .column("direct GB/s"),
        derived("pinned_bandwidth", "GB/s", higher, "of the same copy from pinned memory: what staging cannot beat")
            .column("pinned GB/s"),
        derived("speedup", "1", higher, "how many times as fast as the plain copy the method is")
            .column("vs direct", ratio),
        derived("of_pinned", "1", higher, "how close the method comes to a copy from pinned memory")
            .column("of pinned", percent),
        measured("register", "register: the part of the time that pinning in place takes").column("to pin"),
        measured("registered-copy", "register: the copy after that"),
        measured("unregister", "register: unpinning"),
        measured("direct", "a plain copy of the same memory"),
        measured("pinned", "the same copy from pinned memory"),
    };
  }

  static void derive(std::size_t size, Result& result) {
    const auto rate = [&](const char* name) {
      const Measurement* m = result.measurement(name);
      return static_cast<double>(size) / (m != nullptr ? *m : result.needed_measurement("staging")).median / 1e9;
    };
    result.add("bandwidth", rate("staging"), "GB/s");
    result.add("direct_bandwidth", rate("direct"), "GB/s");
    result.add("pinned_bandwidth", rate("pinned"), "GB/s");
    result.add("speedup", rate("staging") / rate("direct"), "1");
    result.add("of_pinned", rate("staging") / rate("pinned"), "1");
  }
};

/// For each direction, kind of pages and size: the method that was fastest, or those that cannot be told apart.
std::vector<Finding> Staging::conclude(std::span<const Result* const> results) const {
  std::vector<const Result*> measured;
  for (const Result* r : results) {
    if (r->metric("bandwidth") == nullptr) continue;  // interrupted
    r->needed_metric("of_pinned");
    r->needed_measurement("staging");
    measured.push_back(r);
  }
  const auto place_of = [](const Result& r) {
    const StagingCase c = staging_case(r.config);
    return fmt::format("{} {} {}", c.dir, c.host, c.size);
  };
  std::vector<Finding> findings;
  for (const auto& those : grouped(measured, place_of)) {
    if (those.size() < 2) continue;
    std::vector<model::Estimate> times;
    std::vector<std::string> methods;
    for (const Result* r : those) {
      times.push_back(model::estimate_of(*r, "staging"));
      methods.push_back(staging_case(r->config).describe_method());
    }
    const model::Front front = model::front_of(times);
    const Result& best = *those[front.places.front()];
    const StagingCase c = staging_case(best.config);
    const std::string size = format_size_exact(c.size, " ");
    findings.push_back(
        {.kind = "winner",
         .labels = {{"dir", c.dir},
                    {"host", c.host},
                    {"size", size},
                    {"fastest", ahead_text(front, methods)},
                    {"outcome", outcome_text(front)}},
         .metrics = {best.needed_metric("bandwidth"), best.needed_metric("of_pinned")},
         .text = fmt::format("{}, {} memory, {}: {}: {} GB/s, {} of a copy from pinned memory", c.dir, c.host, size,
                             told_apart(front, methods, "is the fastest"), format_significant(best.value("bandwidth")),
                             format_percent(best.value("of_pinned"))),
         .row = true});
  }
  return findings;
}

}  // namespace

const Scenario& staging_scenario() {
  static const Staging scenario;
  return scenario;
}

}  // namespace xferbench
