// alloc: what memory costs before the first byte can be copied, and after how many copies dearer memory has paid.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/pages.hpp"
#include "measure/pattern.hpp"
#include "model/transfer.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

namespace {

enum class Origin {
  system,    ///< from the operating system, page by page when it is first written
  driver,    ///< page-locked from the first moment
  in_place,  ///< ordinary memory that is there and touched already, to be pinned where it is
  managed,
  device,
  pool,
};

struct Kind {
  std::string_view name;
  Origin origin;
  HostMemory host;      ///< what copies see; no meaning for memory of the device
  HostMemory ordinary;  ///< what copies would come from otherwise
  std::string_view in_words;
};

constexpr std::array<Kind, 11> kKinds{{
    {"malloc", Origin::system, HostMemory::pageable, HostMemory::pageable, "malloc"},
    {"malloc-huge", Origin::system, HostMemory::pageable_huge, HostMemory::pageable, "malloc on huge pages"},
    {"pinned", Origin::driver, HostMemory::pinned, HostMemory::pageable, "cudaMallocHost"},
    {"portable", Origin::driver, HostMemory::portable, HostMemory::pageable, "portable cudaHostAlloc"},
    {"write-combined", Origin::driver, HostMemory::write_combined, HostMemory::pageable,
     "write-combined cudaHostAlloc"},
    {"mapped", Origin::driver, HostMemory::mapped, HostMemory::pageable, "mapped cudaHostAlloc"},
    {"register", Origin::in_place, HostMemory::registered, HostMemory::pageable_small, "small pages"},
    {"register-huge", Origin::in_place, HostMemory::registered_huge, HostMemory::pageable_huge, "huge pages"},
    {"device", Origin::device, HostMemory::pageable, HostMemory::pageable, "cudaMalloc"},
    {"device-pool", Origin::pool, HostMemory::pageable, HostMemory::pageable, "cudaMallocAsync"},
    {"managed", Origin::managed, HostMemory::managed, HostMemory::pageable, "cudaMallocManaged"},
}};

const Kind& kind_of(const Case& c) {
  return *std::ranges::find(kKinds, std::string_view(c.word("memory")), &Kind::name);
}

bool is_touched(const Kind& kind) { return kind.origin == Origin::system || kind.origin == Origin::managed; }
bool is_on_device(const Kind& kind) { return kind.origin == Origin::device || kind.origin == Origin::pool; }
bool is_huge(const Kind& kind) {
  return kind.host == HostMemory::pageable_huge || kind.host == HostMemory::registered_huge;
}
/// Pinned, by one call or the other: what has to pay for itself by faster copies.
bool must_pay(const Kind& kind) { return kind.origin == Origin::driver || kind.origin == Origin::in_place; }

/// From nothing to memory that is ready, and back to nothing.
class Cycle {
 public:
  Cycle(Device& device, const Kind& kind, std::size_t bytes)
      : device_(device), kind_(kind), bytes_(bytes), stream_(device.make_stream(StreamKind::nonblocking)) {
    if (kind.origin == Origin::in_place) pages_ = device.allocate_host(bytes, kind.ordinary);
  }

  Region region(std::string name) {
    Region r;
    r.name = std::move(name);
    r.clock = Clock::host;
    const bool in_place = kind_.origin == Origin::in_place;
    r.parts = {{.name = in_place ? "register" : "allocate"}, {.name = in_place ? "unregister" : "free"}};
    if (is_touched(kind_)) r.parts.insert(r.parts.end(), {{.name = "touch"}, {.name = "ready"}});
    r.steps = [this](LapTimer& laps) { run(laps); };
    return r;
  }

  [[nodiscard]] const Measurement& ready(const Series& series) const {
    return is_touched(kind_) ? series.part("ready") : series.parts[kBegin];
  }
  [[nodiscard]] static const Measurement& release(const Series& series) { return series.parts[kEnd]; }

 private:
  enum Part : std::size_t { kBegin, kEnd, kTouch, kReady };

  void run(LapTimer& laps) {
    switch (kind_.origin) {
      case Origin::system:
      case Origin::managed: return touched_memory(laps);
      case Origin::driver: return begin_and_end(laps, [this] { return device_.allocate_host(bytes_, kind_.host); });
      case Origin::in_place: return begin_and_end(laps, [this] { return device_.register_host(pages_); });
      case Origin::device: return begin_and_end(laps, [this] { return device_.allocate_device(bytes_); });
      case Origin::pool: return pooled_memory(laps);
    }
  }

  template <class Begin>
  static void begin_and_end(LapTimer& laps, const Begin& begin) {
    std::optional memory(begin());
    laps.lap(kBegin);
    memory.reset();
    laps.lap(kEnd);
  }

  void touched_memory(LapTimer& laps) {
    const double begun = device_.host().now();
    std::optional memory(device_.allocate_host(bytes_, kind_.host, Prefault::no));
    laps.lap(kBegin);
    touch_pages(memory->data, bytes_);
    laps.lap(kTouch);
    laps.add(kReady, device_.host().now() - begun);
    laps.restart();
    memory.reset();
    laps.lap(kEnd);
  }

  /// In stream order nothing is there before the stream has come so far. A pool that keeps nothing, as the default one,
  /// gives its memory back when somebody waits for the stream, so that each cycle begins with an empty pool.
  void pooled_memory(LapTimer& laps) {
    std::optional memory(stream_.allocate(bytes_));
    stream_.synchronize();
    laps.lap(kBegin);
    memory.reset();
    stream_.synchronize();
    laps.lap(kEnd);
  }

  Device& device_;
  const Kind& kind_;
  std::size_t bytes_;
  Stream stream_;
  HostBuffer pages_;  // in_place only
};

/// H2D copies from one kind of memory, timed until the bytes have arrived.
class CopyOut {
 public:
  CopyOut(Device& device, HostMemory memory, std::size_t bytes, std::uint64_t seed)
      : device_(device),
        stream_(device.make_stream(StreamKind::nonblocking)),
        transfer_(make_transfer(device, {.memory = memory, .bytes = bytes, .seed = seed})) {
    transfer_->prepare();
  }

  Region region(std::string name) {
    Region r;
    r.name = std::move(name);
    r.clock = Clock::host;
    r.submit = [this] {
      transfer_->submit(stream_);
      stream_.synchronize();
    };
    return r;
  }

  template <class Run>
  void verify(const Run& run) {
    transfer_->poison();
    device_.synchronize();
    run(device_.machine(), region("copy"));
    transfer_->check();
  }

 private:
  Device& device_;
  Stream stream_;
  std::unique_ptr<Transfer> transfer_;
};

/// That the memory can hold anything: real bytes into it, and out of it again.
void check_device_memory(Device& device, const Kind& kind, std::size_t bytes, std::uint64_t seed) {
  const Stream stream = device.make_stream(StreamKind::nonblocking);
  const HostBuffer host = device.allocate_host(bytes, HostMemory::pageable);
  DeviceBuffer plain;
  DeviceBuffer pooled;
  if (kind.origin == Origin::pool) {
    pooled = stream.allocate(bytes);
  } else {
    plain = device.allocate_device(bytes);
  }
  std::byte* memory = kind.origin == Origin::pool ? pooled.data : plain.data;
  const std::span<std::byte> content(host.data, bytes);
  pattern::fill_bytes(content, seed);
  stream.copy({memory, host.data, bytes, Direction::h2d});
  stream.synchronize();
  pattern::poison(content);
  stream.copy({host.data, memory, bytes, Direction::d2h});
  stream.synchronize();
  const auto wrong = pattern::check_bytes(content, seed);
  if (wrong) throw VerificationError(fmt::format("{}: {}", kind.in_words, wrong->describe()));
}

/// The same of managed memory: filled by the host, moved to the GPU, read there.
void check_managed_memory(Device& device, std::size_t bytes, std::uint64_t seed) {
  const TransferSpec spec{.memory = HostMemory::managed, .engine = Engine::prefetch, .bytes = bytes, .seed = seed};
  const std::unique_ptr<Transfer> transfer = make_transfer(device, spec);
  const Stream stream = device.make_stream(StreamKind::nonblocking);
  transfer->prepare();
  transfer->poison();
  transfer->submit(stream);
  transfer->check();
}

/// "cudaMallocHost of 256 MiB pays from 4 copies on, against malloc (h2d)"
std::string break_even_text(const Kind& kind, std::uint64_t size, const Metric* copies) {
  const bool in_place = kind.origin == Origin::in_place;
  std::string text = in_place ? fmt::format("registering {} of {}", format_size(size), kind.in_words)
                              : fmt::format("{} of {}", kind.in_words, format_size(size));
  if (copies == nullptr) return text + " does not pay: its h2d copies are not faster";
  text += fmt::format(" pays from {:.0f} {} on", copies->value, copies->value > 1 ? "copies" : "copy");
  return text + (in_place ? " (h2d)" : ", against malloc (h2d)");
}

class Alloc final : public Scenario {
 public:
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override {
    static const ScenarioDescriptor scenario{
        .name = "alloc",
        .summary = "what memory costs before its first copy, and after how many copies pinning has paid",
        .axes = make_axes(),
        .metrics = make_metrics()};
    return scenario;
  }

  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities* can) const override {
    constexpr std::uint64_t kHugePage = 2 * MiB;
    const Kind& kind = kind_of(c);
    if (is_huge(kind) && c.count("size") < kHugePage) {
      return SkipReason::impossible(fmt::format("--size {} is less than a huge page; choose 2M or more",
                                                to_text(c.find("size")->value, AxisKind::size)));
    }
    if (can == nullptr) return std::nullopt;
    if (can->environment.simulated()) {
      return SkipReason::unavailable(
          "the cost of allocating memory is the operating system's and the driver's, and there is no model of it");
    }
    if (kind.origin == Origin::managed && !can->managed_memory) {
      return SkipReason::unavailable("this GPU or its driver does not let host and GPU use managed memory at once");
    }
    if (kind.origin == Origin::pool && !can->memory_pools) {
      return SkipReason::unavailable("this GPU or its driver has no memory pools");
    }
    return std::nullopt;
  }

  [[nodiscard]] MemoryNeeds needs(const Case& c) const override {
    const std::uint64_t size = c.count("size");
    const Kind& kind = kind_of(c);
    if (kind.origin == Origin::managed) return {.host = size, .device = size, .managed = size};
    if (is_on_device(kind)) return {.host = size, .device = size};
    // Beside what comes and goes, both kinds of memory that are copied from, and where to.
    return must_pay(kind) ? MemoryNeeds{.host = 3 * size, .device = 2 * size}
                          : MemoryNeeds{.host = 2 * size, .device = size};
  }

  void run(const Case& c, const RunContext& bench, Result& result) const override {
    const Kind& kind = kind_of(c);
    if (is_huge(kind)) warn_of_small_pages(bench.device, c.count("size"), result);
    must_pay(kind) ? run_with_copies(kind, c.count("size"), bench, result)
                   : run_alone(kind, c.count("size"), bench, result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    std::vector<Finding> findings;
    for (const Kind& kind : kKinds) {
      const Result* largest = nullptr;
      for (const Result* r : results) {
        const bool counts = &kind_of(r->config) == &kind && r->metric("ready") != nullptr;
        if (counts && (largest == nullptr || r->config.count("size") > largest->config.count("size"))) largest = r;
      }
      if (largest != nullptr && must_pay(kind)) findings.push_back(finding_of(kind, *largest));
    }
    return findings;
  }

 private:
  static std::vector<Axis> make_axes() {
    return {
        {.name = "memory",
         .kind = AxisKind::choice,
         .defaults = "malloc,malloc-huge,pinned,register,register-huge,device,device-pool,managed",
         .help = "what to allocate",
         .choices = kind_names()},
        {.name = "size", .kind = AxisKind::size, .defaults = "2M,64M,256M", .help = "bytes to allocate at once"},
    };
  }

  static std::vector<MetricDeclaration> make_metrics() {
    using enum Better;
    using enum MetricDeclaration::Beside;
    using enum MetricDeclaration::Format;
    return {
        derived_time("ready", "until the memory can be copied from: allocated and touched, or registered")
            .column("ready"),
        derived("ready_per_gib", "s/GiB", lower, "ready over the size").column("per GiB", seconds),
        measured("allocate", "of a cycle, allocating").as_headline().column("allocate"),
        measured("touch", "of a cycle, writing to every page once").column("touch"),
        measured("register", "of a cycle, pinning memory that is there").as_headline().column("register"),
        derived_time("free", "of a cycle, giving the memory back, or unpinning it").column("free"),
        measured("cycle", "from nothing to memory that is ready, and back to nothing").column("cycle", {interval}),
        measured("copy", "pinned kinds: one copy to the GPU from such memory").column("copy"),
        measured("pageable-copy", "pinned kinds: the same copy from ordinary memory").column("pageable copy"),
        derived("break_even_copies", "copies", lower, "copies from which on the dearer memory has paid")
            .column("pays from copy"),
        measured("ready", "of a cycle, allocating and touching"),
        measured("free", "of a cycle, giving the memory back"),
        measured("unregister", "of a cycle, unpinning"),
        measured("malloc-cycle", "pinned kinds: a cycle of ordinary memory, which they take the place of"),
    };
  }

  static std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    names.reserve(kKinds.size());
    for (const Kind& kind : kKinds) names.emplace_back(kind.name);
    return names;
  }

  static void warn_of_small_pages(Device& device, std::size_t size, Result& result) {
    constexpr double kNearlyAll = 0.9;
    const HostBuffer memory = device.allocate_host(size, HostMemory::pageable_huge);
    const double huge = huge_page_fraction(memory.data, size);
    if (huge >= kNearlyAll) return;
    result.warnings.push_back(
        fmt::format("only {} of the memory lies on huge pages: write madvise to "
                    "/sys/kernel/mm/transparent_hugepage/enabled, or free some memory",
                    format_percent(huge)));
  }

  static void run_alone(const Kind& kind, std::size_t size, const RunContext& bench, Result& result) {
    if (bench.verify) {
      if (is_on_device(kind)) check_device_memory(bench.device, kind, size, bench.seed);
      if (kind.origin == Origin::managed) check_managed_memory(bench.device, size, bench.seed);
      if (kind.origin == Origin::system) CopyOut(bench.device, kind.host, size, bench.seed).verify(run_once);
    }
    Cycle cycle(bench.device, kind, size);
    report(cycle, size, bench.sample({cycle.region("cycle")}).front(), result);
  }

  /// Interleaved with what the memory has to pay for itself against: copies from both kinds and, where the other kind
  /// has to be allocated as well, that.
  static void run_with_copies(const Kind& kind, std::size_t size, const RunContext& bench, Result& result) {
    CopyOut from_it(bench.device, kind.host, size, bench.seed);
    CopyOut from_ordinary(bench.device, kind.ordinary, size, bench.seed);
    if (bench.verify) {
      from_it.verify(run_once);
      from_ordinary.verify(run_once);
    }
    Cycle cycle(bench.device, kind, size);
    Cycle malloc_cycle(bench.device, kKinds.front(), size);
    std::vector<Region> regions{cycle.region("cycle"), from_it.region("copy"), from_ordinary.region("pageable-copy")};
    if (kind.origin != Origin::in_place) regions.push_back(malloc_cycle.region("malloc-cycle"));
    const std::vector<Series> series = bench.sample(std::move(regions));
    report(cycle, size, series[0], result);
    for (std::size_t i = 1; i < series.size(); ++i) add_beside(series[i].elapsed, result);
    add_break_even(result);
    if (bench.verify) {
      const auto at_full_speed = [](Machine& machine, const Region& region) { run_at_full_speed(machine, region); };
      from_it.verify(at_full_speed);
      from_ordinary.verify(at_full_speed);
    }
  }

  static void add_beside(Measurement measurement, Result& result) {
    measurement.auxiliary = true;
    result.measurements.push_back(std::move(measurement));
  }

  static void report(const Cycle& cycle, std::size_t size, const Series& series, Result& result) {
    result.measurements = {series.elapsed};
    result.measurements.insert(result.measurements.end(), series.parts.begin(), series.parts.end());
    if (series.elapsed.samples.empty()) return;
    const double ready = cycle.ready(series).median;
    result.add("ready", ready, "s");
    result.add("ready_per_gib", ready * static_cast<double>(GiB) / static_cast<double>(size), "s/GiB");
    result.add("free", Cycle::release(series).median, "s");
  }

  /// Memory that is pinned in place is there anyway: pinning and unpinning it have to pay. Otherwise it takes the place
  /// of ordinary memory, which is not free of charge either.
  static void add_break_even(Result& result) {
    const auto median = [&result](const char* name) -> std::optional<double> {
      const Measurement* m = result.measurement(name);
      return m == nullptr || m->samples.empty() ? std::nullopt : std::optional(m->median);
    };
    const auto fast = median("copy");
    const auto slow = median("pageable-copy");
    const auto cycle = median("cycle");
    const bool in_place = result.measurement("register") != nullptr;
    const auto alternative = in_place ? 0.0 : median("malloc-cycle");
    if (!fast || !slow || !cycle || !alternative) return;  // interrupted
    if (*fast * (1 + model::kAlike) >= *slow) return;      // no faster, but for noise
    if (const auto copies = model::break_even_copies(*cycle - *alternative, *slow, *fast)) {
      result.add("break_even_copies", *copies, "copies");
    }
  }

  static Finding finding_of(const Kind& kind, const Result& result) {
    const std::uint64_t size = result.config.count("size");
    const Metric* copies = result.metric("break_even_copies");
    Finding finding{.scenario = {}, .kind = "break-even", .labels = {}, .metrics = {}, .text = {}};
    finding.labels = {{"memory", std::string(kind.name)}, {"size", format_size_exact(size)}};
    if (copies != nullptr) finding.metrics = {*copies};
    finding.text = break_even_text(kind, size, copies);
    return finding;
  }
};

}  // namespace

const Scenario& alloc_scenario() {
  static const Alloc scenario;
  return scenario;
}

}  // namespace xferbench
