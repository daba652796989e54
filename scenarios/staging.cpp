// staging: data that lies in ordinary memory and has to cross the link. Copy it as it is, pin it in place for the copy,
// or let threads carry it through a ring of pinned slots - all host work included.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "measure/pattern.hpp"
#include "run/scenario.hpp"

namespace xferbench {

namespace {

/// A payload in ordinary host memory, its counterpart on the device, and the same in pinned memory to compare with.
struct Payload {
  Direction direction;
  HostBuffer host;
  HostBuffer pinned;
  DeviceBuffer device;
  PayloadPart part{};  // of host and pinned

  [[nodiscard]] std::size_t bytes() const { return host.bytes; }
  [[nodiscard]] Copy copy(std::byte* on_host, std::size_t offset, std::size_t count) const {
    std::byte* on_device = device.data + offset;
    return direction == Direction::h2d ? Copy{on_device, on_host, count, Direction::h2d}
                                       : Copy{on_host, on_device, count, Direction::d2h};
  }
};

struct Chunk {
  std::size_t first = 0;  ///< in bytes
  std::size_t count = 0;
};

/// The chunks of one pass, which whoever is free takes one after another.
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
  Carrier(Device& device, const Payload& payload, std::size_t slot_bytes, std::size_t slots, Work& work)
      : device_(device),
        payload_(payload),
        work_(work),
        ring_(device.allocate_host(slot_bytes * slots, HostMemory::pinned)),
        stream_(device.make_stream(StreamKind::nonblocking)) {
    for (std::size_t i = 0; i < slots; ++i)
      slots_.push_back({ring_.data + i * slot_bytes, device.make_event(EventKind::ordering)});
  }

  /// Carries chunks until none are left, and returns when the last of its own has arrived.
  void carry() { payload_.direction == Direction::h2d ? carry_in() : carry_out(); }

 private:
  struct Slot {
    std::byte* data;
    Event copied;  // the link is done with the slot
  };

  void carry_in() {
    for (std::size_t turn = 0;; ++turn) {
      const auto chunk = work_.take();
      if (!chunk) break;
      Slot& slot = slots_[turn % slots_.size()];
      // What this pass has not used yet is free: every pass ends with an idle stream.
      if (turn >= slots_.size()) slot.copied.synchronize();
      move(*chunk, [&](std::size_t from, std::size_t bytes) {
        std::memcpy(slot.data + from - chunk->first, payload_.host.data + from, bytes);
      });
      send(slot, *chunk);
    }
    stream_.synchronize();
  }

  void carry_out() {
    std::vector<Chunk> sent;  // in order; the last slots_.size() of them may be in flight
    std::size_t arrived = 0;
    for (bool more = true; more || arrived < sent.size();) {
      while (more && sent.size() - arrived < slots_.size()) {
        const auto chunk = work_.take();
        more = chunk.has_value();
        if (!more) break;
        send(slots_[sent.size() % slots_.size()], *chunk);
        sent.push_back(*chunk);
      }
      if (arrived == sent.size()) continue;
      Slot& slot = slots_[arrived % slots_.size()];
      slot.copied.synchronize();
      const Chunk& chunk = sent[arrived];
      move(chunk, [&](std::size_t from, std::size_t bytes) {
        std::memcpy(payload_.host.data + from, slot.data + from - chunk.first, bytes);
      });
      ++arrived;
    }
  }

  void send(const Slot& slot, const Chunk& chunk) {
    stream_.copy(payload_.copy(slot.data, chunk.first, chunk.count));
    stream_.record(slot.copied);
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
  const Payload& payload_;
  Work& work_;
  HostBuffer ring_;
  Stream stream_;
  std::vector<Slot> slots_;
};

/// Threads that carry the payload together, each through its own ring.
class CopyWorkers {
 public:
  static constexpr std::size_t kPage = 4 * KiB;

  /// A slot's worth, or less of a payload too small to give every thread two, but not so little that the calls cost
  /// more than the bytes.
  static std::size_t chunk_bytes(std::size_t payload, std::size_t threads, std::size_t slot) {
    constexpr std::size_t kLeast = 64 * KiB;
    const std::size_t share = (payload / (2 * threads) + kPage - 1) / kPage * kPage;
    return std::min(slot, std::max(kLeast, share));
  }

  CopyWorkers(Device& device, const Payload& payload, std::size_t threads, std::size_t slot_bytes, std::size_t slots)
      : end_(device.host().make_channel()), work_(payload.bytes(), chunk_bytes(payload.bytes(), threads, slot_bytes)) {
    const std::size_t used = chunk_bytes(payload.bytes(), threads, slot_bytes);
    for (std::size_t i = 0; i < threads; ++i) {
      members_.push_back(std::make_unique<Member>(device, payload, used, slots, work_));
      Member& member = *members_.back();
      member.thread = device.host().start_thread([this, &member] { serve(member); });
    }
  }
  CopyWorkers(const CopyWorkers&) = delete;
  CopyWorkers& operator=(const CopyWorkers&) = delete;

  /// Carries the whole payload once. Rethrows what a thread threw.
  void carry() {
    work_.restart();
    for (const auto& member : members_) member->begin->post(0);
    for (std::size_t i = 0; i < members_.size(); ++i) static_cast<void>(end_->take());
    for (const auto& member : members_) {
      if (member->error) std::rethrow_exception(std::exchange(member->error, nullptr));
    }
  }

 private:
  struct Member {
    Member(Device& device, const Payload& payload, std::size_t slot_bytes, std::size_t slots, Work& work)
        : carrier(device, payload, slot_bytes, slots, work), begin(device.host().make_channel()) {}
    ~Member() { begin->close(); }  // before its thread is waited for
    Carrier carrier;
    std::unique_ptr<Channel> begin;
    std::exception_ptr error;
    std::unique_ptr<HostThread> thread;  // last: it uses the others
  };

  void serve(Member& member) {
    while (member.begin->take()) {
      try {
        member.carrier.carry();
      } catch (...) {
        member.error = std::current_exception();
      }
      end_->post(0);
    }
  }

  std::unique_ptr<Channel> end_;
  Work work_;
  std::vector<std::unique_ptr<Member>> members_;
};

/// The payload of one case, its method, and what that is compared with, as regions of the host's clock.
class StagedTransfer {
 public:
  StagedTransfer(const Case& c, const RunContext& bench)
      : device_(bench.device),
        seed_(bench.seed),
        payload_{c.word("dir") == "h2d" ? Direction::h2d : Direction::d2h,
                 device_.allocate_host(c.count("size"), host_memory(c.word("host"))),
                 device_.allocate_host(c.count("size"), HostMemory::pinned), device_.allocate_device(c.count("size"))},
        stream_(device_.make_stream(StreamKind::nonblocking)) {
    payload_.part = device_.payload_part(payload_.host);
    static_cast<void>(device_.payload_part(payload_.pinned));  // as large, so it is the same
    if (c.word("method") == "threads") {
      crew_.emplace(device_, payload_, c.count("threads"), c.count("slot"), c.count("slots"));
    }
  }

  Region direct(std::string name) {
    return timed(std::move(name), [this] { copy_and_wait(payload_.host.data); });
  }
  Region pinned() {
    return timed("pinned", [this] { copy_and_wait(payload_.pinned.data); });
  }
  Region by_threads(std::string name) {
    return timed(std::move(name), [this] { crew_->carry(); });
  }
  Region in_place(std::string name) {
    Region r = timed(std::move(name), nullptr);
    r.parts = {{.name = "register"}, {.name = "registered-copy"}, {.name = "unregister"}};
    r.steps = [this](LapTimer& laps) {
      {
        const Registration registration = device_.register_host(payload_.host);
        laps.lap(0);
        copy_and_wait(payload_.host.data);
        laps.lap(1);
      }
      laps.lap(2);
    };
    return r;
  }
  Region method(const std::string& word, const std::string& name) {
    if (word == "direct") return direct(name);
    return word == "register" ? in_place(name) : by_threads(name);
  }

  void prepare() {
    for (const HostBuffer& host : {std::cref(payload_.host), std::cref(payload_.pinned)}) {
      pattern::fill_bytes({host.data, host.bytes}, seed_, payload_.part);
    }
    device_.copy_and_wait({payload_.device.data, payload_.pinned.data, payload_.bytes(), Direction::h2d});
  }

  /// One pass onto poisoned memory; throws VerificationError unless every byte arrived.
  void verify(const Region& region) {
    const HostView& host = region.name == "pinned" ? payload_.pinned : payload_.host;
    if (payload_.direction == Direction::h2d) {
      stream_.fill(payload_.device, pattern::kPoison);
      device_.synchronize();
    } else {
      pattern::poison({host.data, host.bytes}, payload_.part);
    }
    run_once(device_.machine(), region);
    if (payload_.direction == Direction::h2d) {
      pattern::poison({host.data, host.bytes}, payload_.part);
      device_.copy_and_wait({host.data, payload_.device.data, payload_.bytes(), Direction::d2h});
    }
    if (const auto wrong = pattern::check_bytes({host.data, host.bytes}, seed_, payload_.part)) {
      throw VerificationError(region.name + ": " + wrong->describe());
    }
  }

 private:
  static Region timed(std::string name, std::function<void()> submit) {
    Region r;
    r.name = std::move(name);
    r.clock = Clock::host;
    r.submit = std::move(submit);
    return r;
  }

  void copy_and_wait(std::byte* on_host) {
    stream_.copy(payload_.copy(on_host, 0, payload_.bytes()));
    stream_.synchronize();
  }

  Device& device_;
  std::uint64_t seed_;
  Payload payload_;
  Stream stream_;
  std::optional<CopyWorkers> crew_;
};

class Staging final : public Scenario {
 public:
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override {
    static const ScenarioDescriptor scenario{
        .name = "staging",
        .summary = "data in ordinary memory: copied as it is, pinned in place, or carried by threads",
        .axes = make_axes(),
        .metrics = make_metrics()};
    return scenario;
  }

  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities*) const override {
    if (!c.has("slot") || c.count("slot") % CopyWorkers::kPage == 0) return std::nullopt;
    return SkipReason::impossible("--slot " + to_text(c.count("slot"), AxisKind::size) + " is not a multiple of 4 KiB");
  }

  [[nodiscard]] MemoryNeeds needs(const Case& c) const override {
    const std::uint64_t rings =
        c.word("method") != "threads"
            ? 0
            : c.count("threads") * c.count("slots") *
                  CopyWorkers::chunk_bytes(c.count("size"), c.count("threads"), c.count("slot"));
    return {2 * c.count("size") + rings, c.count("size")};
  }

  void run(const Case& c, const RunContext& bench, Result& result) const override {
    StagedTransfer journey(c, bench);
    if (bench.verify || bench.device.capabilities().moves_data_when_timed) journey.prepare();
    const std::string& method = c.word("method");
    std::vector<Region> regions{journey.method(method, "staging"), journey.pinned()};
    if (method != "direct") regions.push_back(journey.direct("direct"));
    if (bench.verify) std::ranges::for_each(regions, [&](const Region& r) { journey.verify(r); });
    for (const Series& s : bench.sample(regions)) {
      result.measurements.push_back(s.elapsed);
      result.measurements.back().auxiliary = s.elapsed.name != "staging";
      for (const Measurement& part : s.parts) result.measurements.push_back(part);
    }
    derive(c.count("size"), result);
    if (bench.verify) journey.verify(regions.front());
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override;

 private:
  static std::vector<Axis> make_axes() {
    return {
        {.name = "dir",
         .kind = AxisKind::choice,
         .defaults = "h2d,d2h",
         .help = "where from and where to",
         .choices = {"h2d", "d2h"}},
        {.name = "host",
         .kind = AxisKind::choice,
         .defaults = "pageable",
         .help = "pages that the data lies on: the system's usual ones, small or huge ones",
         .choices = {"pageable", "pageable-small", "pageable-huge"}},
        {.name = "size", .kind = AxisKind::size, .defaults = "256M", .help = "bytes to move"},
        {.name = "method",
         .kind = AxisKind::choice,
         .defaults = "all",
         .help = "direct: as it is; register: pin, copy, unpin; threads: through pinned slots",
         .choices = {"direct", "register", "threads"}},
        {.name = "threads",
         .defaults = "1:8",
         .help = "threads that carry",
         .max = 256,
         .only_with_axis = "method",
         .only_with_values = {"threads"}},
        {.name = "slot",
         .kind = AxisKind::size,
         .defaults = "2M",
         .help = "bytes of a slot, in whole pages of 4 KiB; less if the payload is small",
         .min = 4 * KiB,
         .max = 1 * GiB,
         .only_with_axis = "method",
         .only_with_values = {"threads"}},
        {.name = "slots",
         .defaults = "3",
         .help = "slots of each thread",
         .max = 1024,
         .only_with_axis = "method",
         .only_with_values = {"threads"}},
    };
  }

  static std::vector<MetricDeclaration> make_metrics() {
    using enum Better;
    using enum MetricDeclaration::Format;
    using enum MetricDeclaration::Beside;
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
    for (const Measurement& m : result.measurements) {
      if (m.samples.empty()) return;
    }
    const auto rate = [&](const char* name) {
      const Measurement* m = result.measurement(name);
      return static_cast<double>(size) / (m != nullptr ? m : result.measurement("staging"))->median / 1e9;
    };
    result.add("bandwidth", rate("staging"), "GB/s");
    result.add("direct_bandwidth", rate("direct"), "GB/s");
    result.add("pinned_bandwidth", rate("pinned"), "GB/s");
    result.add("speedup", rate("staging") / rate("direct"), "1");
    result.add("of_pinned", rate("staging") / rate("pinned"), "1");
  }
};

/// "8 threads, 3 slots of 2 MiB", with the slots as they were used
std::string describe_method(const Case& c) {
  if (c.word("method") != "threads") return c.word("method");
  const std::size_t slot = CopyWorkers::chunk_bytes(c.count("size"), c.count("threads"), c.count("slot"));
  return fmt::format("{} threads, {} slots of {}", c.count("threads"), c.count("slots"), format_size(slot));
}

/// For each direction, kind of pages and size: the method that was fastest.
std::vector<Finding> Staging::conclude(std::span<const Result* const> results) const {
  const auto place = [](const Result& r) {
    return std::tuple(r.config.word("dir"), r.config.word("host"), r.config.count("size"));
  };
  std::vector<Finding> findings;
  std::vector<const Result*> seen;
  for (const Result* first : results) {
    if (std::ranges::any_of(seen, [&](const Result* s) { return place(*s) == place(*first); })) continue;
    seen.push_back(first);
    const Result* best = nullptr;
    std::size_t rivals = 0;
    for (const Result* r : results) {
      if (place(*r) != place(*first) || r->metric("bandwidth") == nullptr) continue;
      ++rivals;
      if (best == nullptr || r->metric("bandwidth")->value > best->metric("bandwidth")->value) best = r;
    }
    if (rivals < 2) continue;
    Finding f;
    f.kind = "winner";
    f.labels = {{"dir", best->config.word("dir")},
                {"host", best->config.word("host")},
                {"size", format_size_exact(best->config.count("size"), " ")},
                {"fastest", describe_method(best->config)}};
    f.metrics = {*best->metric("bandwidth"), *best->metric("of_pinned")};
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace

const Scenario& staging_scenario() {
  static const Staging scenario;
  return scenario;
}

}  // namespace xferbench
