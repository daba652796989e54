// alloc: the cost of allocating memory before the first copy, and after how many copies pinned memory has paid off.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lists.hpp"
#include "core/units.hpp"
#include "device/pages.hpp"
#include "measure/pattern.hpp"
#include "model/transfer.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

namespace {

enum class Origin {
  system,    ///< from the operating system; pages are allocated on first write
  driver,    ///< page-locked by the CUDA driver at allocation
  in_place,  ///< pageable memory that has been written and is then page-locked by cudaHostRegister
  managed,
  device,
};

struct Kind {
  std::string_view name;
  Origin origin;
  HostMemory host;      ///< kind of host memory for copies; pageable for device memory, whose data is checked with it
  HostMemory ordinary;  ///< kind of pageable memory whose copies are the reference for the break-even
  std::string_view in_words;
  GpuMemory gpu = GpuMemory::whole;  ///< kind of device memory; only for Origin::device
};

constexpr std::array<Kind, 15> kKinds{{
    {"malloc", Origin::system, HostMemory::pageable, HostMemory::pageable, "malloc"},
    {"malloc-huge", Origin::system, HostMemory::pageable_huge, HostMemory::pageable, "malloc on huge pages"},
    {"malloc-hugetlb", Origin::system, HostMemory::pageable_hugetlb, HostMemory::pageable,
     "mmap on reserved huge pages"},
    {"pinned", Origin::driver, HostMemory::pinned, HostMemory::pageable, "cudaMallocHost"},
    {"portable", Origin::driver, HostMemory::portable, HostMemory::pageable, "portable cudaHostAlloc"},
    {"write-combined", Origin::driver, HostMemory::write_combined, HostMemory::pageable,
     "write-combined cudaHostAlloc"},
    {"mapped", Origin::driver, HostMemory::mapped, HostMemory::pageable, "mapped cudaHostAlloc"},
    {"register", Origin::in_place, HostMemory::registered, HostMemory::pageable_small, "small pages"},
    {"register-huge", Origin::in_place, HostMemory::registered_huge, HostMemory::pageable_huge, "huge pages"},
    {"register-hugetlb", Origin::in_place, HostMemory::registered_hugetlb, HostMemory::pageable_hugetlb,
     "reserved huge pages"},
    {"numa-vmm", Origin::driver, HostMemory::numa_mapped, HostMemory::pageable, "cuMemCreate on a NUMA node"},
    {"device", Origin::device, HostMemory::pageable, HostMemory::pageable, "cudaMalloc"},
    {"device-pool", Origin::device, HostMemory::pageable, HostMemory::pageable, "cudaMallocAsync", GpuMemory::pooled},
    {"device-vmm", Origin::device, HostMemory::pageable, HostMemory::pageable, "cuMemCreate", GpuMemory::mapped},
    {"managed", Origin::managed, HostMemory::managed, HostMemory::pageable, "cudaMallocManaged"},
}};

struct AllocCase {
  const Kind& kind;
  std::uint64_t size;
  std::uint64_t chunk;        ///< bytes that are registered in one call
  double oversubscribed = 0;  ///< see MemoryNeeds

  /// Bytes of each copy: at most 1 GiB, because large host memory may not fit in GPU memory.
  [[nodiscard]] std::uint64_t copied() const { return std::min(size, GiB); }
};

AllocCase alloc_case(const Case& c) {
  return {*std::ranges::find(kKinds, std::string_view(c.word("memory")), &Kind::name), c.count("size"),
          c.count_or("chunk", c.count("size")), c.has("oversubscribe") ? c.real("oversubscribe") : 0};
}

bool is_touched(const Kind& kind) { return kind.origin == Origin::system || kind.origin == Origin::managed; }
/// Whether the memory is page-locked. Page-locking takes time, which pays off only after some number of faster copies.
bool needs_break_even(const Kind& kind) { return kind.origin == Origin::driver || kind.origin == Origin::in_place; }

/// One timed cycle of a case: allocates memory or page-locks existing memory, makes it usable where that needs work
/// (writes to each page), and releases it.
class Cycle {
 public:
  Cycle(Device& device, const AllocCase& c) : device_(device), kind_(c.kind), bytes_(c.size), chunk_(c.chunk) {
    if (kind_.origin == Origin::in_place) pages_ = device.allocate_host(bytes_, kind_.ordinary);
  }

  Region region(std::string name) {
    const bool in_place = kind_.origin == Origin::in_place;
    Region r{.name = std::move(name),
             .clock = Clock::host,
             .parts = {{.name = in_place ? "register" : "allocate"}, {.name = in_place ? "unregister" : "free"}},
             .steps = [this](LapTimer& laps) { run(laps); }};
    if (is_touched(kind_)) r.parts.insert(r.parts.end(), {{.name = "touch"}, {.name = "ready"}});
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
      case Origin::in_place: return begin_and_end(laps, [this] { return registered_pages(); });
      case Origin::device: return begin_and_end(laps, [this] { return device_.allocate_device(bytes_, kind_.gpu); });
    }
  }

  [[nodiscard]] std::vector<Registration> registered_pages() const {
    std::vector<Registration> chunks;
    for (std::size_t begin = 0; begin < bytes_; begin += chunk_) {
      chunks.push_back(device_.register_host({pages_.data + begin, std::min(chunk_, bytes_ - begin), pages_.kind}));
    }
    return chunks;
  }

  /// Times begin(), which allocates or registers the memory, and its release.
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

  Device& device_;
  const Kind& kind_;
  std::size_t bytes_;
  std::size_t chunk_;
  HostBuffer pages_;  // pageable memory that is registered and unregistered; only for Origin::in_place
};

/// A copy from host memory of one kind to the GPU, timed until the data has arrived.
class CopyOut {
 public:
  CopyOut(Device& device, HostMemory memory, std::size_t bytes, std::uint64_t seed)
      : stream_(device.make_stream(StreamKind::nonblocking)),
        transfer_(
            make_transfer(device, {.memory = memory,
                                   .engine = memory == HostMemory::managed ? Engine::prefetch : Engine::copy_engine,
                                   .bytes = bytes,
                                   .seed = seed})) {
    transfer_->prepare();
  }

  Region region(std::string name) {
    return {.name = std::move(name),
            .clock = Clock::host,
            .submit =
                [this] {
                  transfer_->submit(stream_);
                  stream_.synchronize();
                },
            .check = [this] { transfer_->check(); }};
  }

  void verify(Machine& machine, VerifiedRun run) { xferbench::verify({&transfer_, 1}, machine, region("copy"), run); }

 private:
  Stream stream_;
  std::unique_ptr<Transfer> transfer_;
};

/// Checks that the allocation works: writes data to it and reads it back.
void check_device_memory(Device& device, const AllocCase& c, std::uint64_t seed) {
  const Stream stream = device.make_stream(StreamKind::nonblocking);
  const HostBuffer host = device.allocate_host(c.size, HostMemory::pageable);
  const DeviceBuffer memory = device.allocate_device(c.size, c.kind.gpu);
  const std::span<std::byte> content(host.data, c.size);
  pattern::fill_bytes(content, seed);
  stream.copy({memory.data, host.data, c.size, Direction::h2d});
  stream.synchronize();
  pattern::poison(content);
  stream.copy({host.data, memory.data, c.size, Direction::d2h});
  stream.synchronize();
  pattern::require(pattern::check_bytes(content, seed), c.kind.in_words);
}

/// Returns for example "cudaMallocHost of 256 MiB pays off from 4 copies, against malloc (h2d)".
std::string text_of(const AllocCase& c, const model::BreakEven& found) {
  const bool in_place = c.kind.origin == Origin::in_place;
  const std::string what = in_place ? fmt::format("registering {} of {}", format_size(c.size), c.kind.in_words)
                                    : fmt::format("{} of {}", c.kind.in_words, format_size(c.size));
  const bool pays = found.outcome == model::BreakEven::Outcome::pays;
  return fmt::format("{} {}{} (h2d)", what, break_even_text(found, "pageable"),
                     pays && !in_place ? ", against malloc" : "");
}

/// Returns the number of copies after which the additional cost of page-locked memory is recovered. Memory that is
/// registered in place exists anyway, so its cost is the time to register and unregister it. For other kinds, the time
/// to allocate and free pageable memory is subtracted. If copies move only a part of the memory, costs are scaled to
/// it.
model::BreakEven break_even_of(const Result& r) {
  const AllocCase c = alloc_case(r.config);
  const double share = static_cast<double>(c.copied()) / static_cast<double>(c.size);
  const auto of_copied = [&](const char* name) {
    model::Estimate time = model::estimate_of(r, name);
    time.value *= share;
    if (time.interval) time.interval = Interval{share * time.interval->low, share * time.interval->high};
    return time;
  };
  const bool has_alternative = r.measurement("malloc-cycle") != nullptr;
  const model::Estimate cycle = of_copied("cycle");
  return model::break_even(has_alternative ? model::difference(cycle, of_copied("malloc-cycle")) : cycle,
                           model::estimate_of(r, "pageable-copy"), model::estimate_of(r, "copy"));
}

class Alloc final : public ScenarioOf<alloc_case> {
 public:
  Alloc()
      : ScenarioOf({.name = "alloc",
                    .summary = "time to allocate or pin memory, and the number of copies after which pinning pays off",
                    .axes = make_axes(),
                    .metrics = make_metrics(),
                    .charts = {{.x = "size", .y = "ready"}},
                    .answer = {.best = "ready", .text = "ready after {ready}", .each = {"memory"}, .ranks_ways = true},
                    .work_axes = {"size"}}) {}

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const AllocCase& c, const Capabilities* can) const override {
    if (is_on_huge_pages(c.kind.host) && c.size < kHugePage) {
      return SkipReason::impossible(
          fmt::format("--size {} is smaller than a huge page; choose 2M or more", format_size_exact(c.size)));
    }
    if (c.chunk > c.size) {
      return SkipReason::impossible(
          fmt::format("--chunk {} is larger than --size {}", format_size_exact(c.chunk), format_size_exact(c.size)));
    }
    if (c.chunk % (4 * KiB) != 0 && c.chunk != c.size) {
      return SkipReason::impossible("--chunk is registered by itself and must be a multiple of 4 KiB");
    }
    if (can == nullptr) return std::nullopt;
    if (can->environment.simulated()) {
      return SkipReason::unavailable("the simulator does not model the cost of memory allocation");
    }
    if (c.kind.origin == Origin::managed && !can->managed_memory) {
      return SkipReason::unavailable("this GPU or its driver does not support concurrent access to managed memory");
    }
    return std::nullopt;
  }

  [[nodiscard]] MemoryNeeds memory_needs(const AllocCase& c) const override {
    if (c.kind.origin == Origin::managed) return {c.copied(), c.copied(), c.size, c.oversubscribed};
    if (c.kind.origin == Origin::device) return {.host = c.size, .device = c.size};
    // For page-locked memory, the case also times copies from such memory and from pageable memory, to one device
    // buffer each. These copies need two host and two device buffers besides the timed allocation.
    const std::uint64_t copies = needs_break_even(c.kind) ? 2 : 1;
    const std::uint64_t host = is_reserved(c.kind.host) ? 0 : c.size + copies * c.copied();
    return {.host = host, .device = copies * c.copied()};
  }

  void measure(const AllocCase& c, const RunContext& bench, Result& result) const override {
    if (is_on_huge_pages(c.kind.host) && !is_reserved(c.kind.host)) warn_of_small_pages(bench.device, c.size, result);
    needs_break_even(c.kind) ? run_with_copies(c, bench, result) : run_alone(c, bench, result);
  }

  /// Returns one finding per page-locked kind, for its largest size: the number of copies after which the kind pays
  /// off.
  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    std::vector<Finding> findings;
    for (const Kind& kind : kKinds) {
      const std::vector<const Result*> of_kind = those_of(results, [&](const Result* r) {
        return &alloc_case(r->config).kind == &kind && r->metric("ready") != nullptr;
      });
      if (of_kind.empty() || !needs_break_even(kind)) continue;
      const auto size = [](const Result* r) { return alloc_case(r->config).size; };
      findings.push_back(finding_of(**std::ranges::max_element(of_kind, {}, size)));
    }
    fold_into_rows(findings, "break-even", 1);
    return findings;
  }

 private:
  static std::vector<Axis> make_axes() {
    const auto names = list_of(kKinds, [](const Kind& kind) { return std::string(kind.name); });
    return {
        choice_axis("memory", names,
                    {.defaults = "malloc,malloc-huge,pinned,register,register-huge,device,device-pool,managed",
                     .help = "kind of memory to allocate"}),
        size_axis("size",
                  {.defaults = "2M,64M,256M", .help = "bytes per allocation; of more than 1 GiB, 1 GiB is copied"}),
        only_with("memory", {"register", "register-huge", "register-hugetlb"},
                  size_axis("chunk", {.help = "register so many bytes in each call; default: all in one"})),
        only_with("memory", {"managed"}, oversubscribe_axis()),
    };
  }

  static std::vector<MetricDeclaration> make_metrics() {
    using namespace declaring;
    return {
        derived_time("ready", "time until the memory is usable: allocated and touched, or registered").column("ready"),
        derived("ready_per_gib", "s/GiB", lower, "time until ready, per GiB of memory").column("per GiB", seconds),
        measured("allocate", "time to allocate, part of the cycle").as_headline().column("allocate"),
        measured("touch", "time to write to every page once, part of the cycle").column("touch"),
        measured("register", "time to pin existing memory, part of the cycle").as_headline().column("register"),
        derived_time("free", "time to free or unpin the memory, part of the cycle").column("free"),
        measured("cycle", "one whole cycle, from the allocation or pinning to the end of freeing or unpinning")
            .column("cycle", {interval}),
        measured("copy", "pinned kinds: one H2D copy from this memory, of 1 GiB at most").column("copy"),
        measured("pageable-copy", "pinned kinds: the same copy from pageable memory").column("pageable copy"),
        derived("break_even_copies", "copies", lower, "number of copies from which on pinning pays off")
            .column("break-even copies"),
        measured("ready", "time to allocate and touch, part of the cycle"),
        measured("free", "time to free the memory, part of the cycle"),
        measured("unregister", "time to unpin, part of the cycle"),
        measured("malloc-cycle", "pinned kinds: the same cycle with malloc, for comparison"),
    };
  }

  static void warn_of_small_pages(Device& device, std::size_t size, Result& result) {
    constexpr double kNearlyAll = 0.9;
    const HostBuffer memory = device.allocate_host(size, HostMemory::pageable_huge);
    const double huge = huge_page_fraction(memory.data, size);
    if (huge >= kNearlyAll) return;
    result.warnings.push_back(
        fmt::format("only {} of the memory is on huge pages: write madvise to "
                    "/sys/kernel/mm/transparent_hugepage/enabled, or free some memory",
                    format_percent(huge)));
  }

  static void run_alone(const AllocCase& c, const RunContext& bench, Result& result) {
    if (bench.verify && c.kind.origin == Origin::device) check_device_memory(bench.device, c, bench.seed);
    if (bench.verify && is_touched(c.kind)) {
      CopyOut(bench.device, c.kind.host, c.copied(), bench.seed).verify(bench.machine, run_once);
    }
    Cycle cycle(bench.device, c);
    report(cycle, c.size, bench.sample({cycle.region("cycle")}), result);
  }

  /// Samples the cycle interleaved with copies from the allocated kind of memory and from ordinary memory
  /// (Kind::ordinary). If the memory is not registered in place, also samples the cycle of ordinary memory.
  static void run_with_copies(const AllocCase& c, const RunContext& bench, Result& result) {
    CopyOut from_it(bench.device, c.kind.host, c.copied(), bench.seed);
    CopyOut from_ordinary(bench.device, c.kind.ordinary, c.copied(), bench.seed);
    if (bench.verify) {
      from_it.verify(bench.machine, run_once);
      from_ordinary.verify(bench.machine, run_once);
    }
    Cycle cycle(bench.device, c);
    Cycle malloc_cycle(bench.device, {kKinds.front(), c.size, c.size});
    std::vector<Region> regions{cycle.region("cycle"), from_it.region("copy"), from_ordinary.region("pageable-copy")};
    if (c.kind.origin != Origin::in_place) regions.push_back(malloc_cycle.region("malloc-cycle"));
    const std::vector<Series> series = bench.sample(std::move(regions));
    report(cycle, c.size, series, result);
    if (all_sampled(series)) {
      const model::BreakEven found = break_even_of(result);
      if (found.outcome == model::BreakEven::Outcome::pays) result.add("break_even_copies", found.copies, "copies");
    }
    if (bench.verifies_again()) {
      from_it.verify(bench.machine, run_at_full_speed);
      from_ordinary.verify(bench.machine, run_at_full_speed);
    }
  }

  static void report(const Cycle& cycle, std::size_t size, const std::vector<Series>& series, Result& result) {
    add_measurements(series, result);
    if (series.front().elapsed.samples.empty()) return;
    const double ready = cycle.ready(series.front()).median;
    result.add("ready", ready, "s");
    result.add("ready_per_gib", ready * static_cast<double>(GiB) / static_cast<double>(size), "s/GiB");
    result.add("free", Cycle::release(series.front()).median, "s");
  }

  static Finding finding_of(const Result& result) {
    const AllocCase c = alloc_case(result.config);
    const model::BreakEven found = break_even_of(result);
    Finding finding{.kind = "break-even",
                    .labels = {{"memory", std::string(c.kind.name)},
                               {"size", format_size_exact(c.size)},
                               {"outcome", outcome_label(found)}},
                    .text = text_of(c, found)};
    add_copies(found, "break_even_copies", finding);
    return finding;
  }
};

}  // namespace

const Scenario& alloc_scenario() { return the_only<Alloc>(); }

}  // namespace xferbench
