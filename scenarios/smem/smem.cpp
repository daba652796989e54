// smem: copies global memory to shared memory or registers and back in tiles, by every available method. Each case is
// compared with cudaMemcpyAsync inside the GPU, with the same kernel without arithmetic or without memory access, and
// with the simplest kernel on the same tiles. All are sampled interleaved in one run.
#include <fmt/format.h>

#include "core/units.hpp"
#include "model/bounds.hpp"
#include "run/scenario.hpp"
#include "scenarios/smem/case.hpp"
#include "scenarios/smem/launch.hpp"
#include "scenarios/smem/rules.hpp"

namespace xferbench {

namespace {

SmemSizes sizes_of(const SmemShape& shape) {
  SmemSizes sizes;
  sizes.include(shape);
  return sizes;
}

/// One case on the device: its grid size and region, and the regions of the kernels and copies for comparison.
class Tiles {
 public:
  Tiles(const SmemCase& c, const RunContext& context)
      : device_(context.device),
        case_(c),
        bench_(context, sizes_of(c.shape), c),
        stream_(device_.make_stream(StreamKind::nonblocking)),
        placed_(place(device_, c.shape, bench_.args(), c.blocks_per_multiprocessor)) {}

  [[nodiscard]] const SmemBench& bench() const { return bench_; }
  [[nodiscard]] const PlacedSmem& placed() const { return placed_; }
  [[nodiscard]] const SmemShape& shape() const { return placed_.shape; }
  void prepare() { bench_.prepare(); }

  /// SmemPart::compute cannot be verified: its results are meaningless.
  void verify(SmemPart part, const char* name) { bench_.verify(only(part, shape()), stream_, name); }

  [[nodiscard]] std::vector<Region> regions() {
    std::vector<Region> all{region(shape(), "smem"), bench_.device_copy(stream_)};
    if (const auto sync = as_placed_sync()) all.push_back(region(*sync, "sync"));
    if (computes(shape())) {
      all.push_back(region(only(SmemPart::memory, shape()), "memory"));
      all.push_back(region(only(SmemPart::compute, shape()), "compute"));
    }
    return all;
  }

 private:
  [[nodiscard]] Region region(const SmemShape& shape, const char* name) { return bench_.region(shape, stream_, name); }

  /// Returns the case's shape with SmemMethod::sync; nothing if it already uses sync, or if sync would be illegal.
  [[nodiscard]] std::optional<SmemShape> as_placed_sync() const {
    const SmemShape sync = as_sync(case_.shape);
    if (shape().method == sync.method || broken_rule(sync, device_.capabilities().multiprocessor)) return std::nullopt;
    const PlacedSmem placed = place(device_, sync, bench_.args(), case_.blocks_per_multiprocessor);
    return placed.skip_reason ? std::nullopt : std::optional(placed.shape);
  }

  Device& device_;
  SmemCase case_;
  SmemBench bench_;
  Stream stream_;
  PlacedSmem placed_;
};

void derive(const Tiles& tiles, const Capabilities& can, Result& result) {
  const SmemShape& shape = tiles.shape();
  const double time = result.median("smem");
  add_rates(shape, time, tiles.bench().theoretical_bandwidth(), result);
  const double copied = tiles.bench().device_copy_traffic(result.median("d2d"));
  result.add("d2d_traffic", copied, "GB/s");
  result.add("vs_d2d", result.value("memory_traffic") / copied, "1");
  if (result.median("sync") > 0) result.add("speedup_over_sync", result.median("sync") / time, "1");
  if (computes(shape)) {
    const double memory = result.median("memory");
    const double compute = result.median("compute");
    result.add("overlap_efficiency", model::share_of_limit(std::max(memory, compute), time), "1");
    result.add("memory_to_compute", memory / compute, "1");
  }
  const double in_flight = in_flight_per_block(shape) * tiles.placed().per_multiprocessor;
  const double rate = static_cast<double>(shape.payload_bytes()) / time;
  result.add("bytes_in_flight", in_flight, "B");
  result.add("time_in_flight", in_flight * can.environment.gpu.multiprocessors / rate, "s");
}

void add_resources(const PlacedSmem& placed, const Capabilities& can, Result& result) {
  const double threads = placed.shape.launched_threads() * placed.per_multiprocessor;
  result.add("blocks_per_multiprocessor", placed.per_multiprocessor, "blocks");
  if (can.multiprocessor.threads > 0) result.add("occupancy", threads / can.multiprocessor.threads, "1");
  if (!placed.resources) return;
  const KernelResources& r = *placed.resources;
  result.add("registers", r.registers, "registers");
  result.add("shared_memory", static_cast<double>(r.shared_bytes), "B");
  if (r.local_bytes == 0) return;
  result.warnings.push_back(fmt::format(
      "the compiler spills {} B of registers per thread to local memory, which adds memory traffic", r.local_bytes));
}

class SmemScenario final : public ScenarioOf<smem_case, smem_space> {
 public:
  using ScenarioOf::ScenarioOf;

  [[nodiscard]] DataPath data_path(const Case&) const override { return DataPath::gpu; }

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const SmemCase& c, const Capabilities* can) const override {
    return smem_skip_reason(c, can);
  }

  [[nodiscard]] MemoryNeeds memory_needs(const SmemCase& c) const override {
    constexpr std::uint64_t kStaging = 64 * MiB;
    constexpr std::uint64_t kForFlush = 256 * MiB;  // twice the largest L2 of any GPU
    const SmemSizes sizes = sizes_of(c.shape);
    const std::uint64_t copied = c.shape.op == SmemOp::read ? c.shape.payload_bytes() : 0;
    return {.host = std::max(kStaging, c.shape.pitch), .device = sizes.in + sizes.out + copied + kForFlush};
  }

  void measure(const SmemCase& c, const RunContext& bench, Result& result) const override {
    Tiles tiles(c, bench);
    if (const auto& reason = tiles.placed().skip_reason) {
      result.status = Status::skipped;
      result.reason = reason->text;
      return;
    }
    tiles.prepare();
    if (bench.verify) {
      tiles.verify(SmemPart::whole, "smem");
      if (computes(tiles.shape())) tiles.verify(SmemPart::memory, "memory");
    }
    const std::vector<Series> series = bench.sample(tiles.regions());
    for (const Series& s : series) result.measurements.push_back(s.elapsed);
    if (all_sampled(series)) derive(tiles, bench.device.capabilities(), result);
    add_resources(tiles.placed(), bench.device.capabilities(), result);
    if (bench.verifies_again()) tiles.verify(SmemPart::whole, "smem after its samples");
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    return diagnose_smem(results);
  }
};

std::vector<MetricDeclaration> smem_metrics() {
  using namespace declaring;
  return {
      measured("smem", "time of the kernel").as_headline().column("time", {interval}),
      derived("bandwidth", "GB/s", higher, "payload, counted once, over the time of the kernel").column("GB/s"),
      derived("memory_traffic", "GB/s", higher, "bytes read plus bytes written, over the time of the kernel")
          .column("traffic GB/s"),
      derived("of_theoretical", "1", higher,
              "memory traffic over the theoretical bandwidth of the memory, from its clock and bus width")
          .column("% of memory", percent),
      derived("vs_d2d", "1", higher, "memory traffic over that of cudaMemcpyAsync inside the GPU")
          .column("vs D2D", ratio),
      derived("speedup_over_sync", "1", higher, "speedup over plain load, barrier, work, barrier on the same tiles")
          .column("vs sync", ratio),
      measured("memory", "with --intensity: time of the same loop without arithmetic").column("memory only"),
      measured("compute", "with --intensity: time of the same loop without memory accesses").column("compute only"),
      derived("overlap_efficiency", "1", higher,
              "the longer of memory only and compute only, over the time of the kernel: 100 % is perfect overlap")
          .column("% of limit", percent),
      derived("blocks_per_multiprocessor", "blocks", neither, "resident blocks per multiprocessor").column("blocks/SM"),
      derived("occupancy", "1", neither, "threads of these blocks over the maximum of a multiprocessor")
          .column("occupancy", percent),
      derived("bytes_in_flight", "B", neither,
              "maximum number of bytes that the loop has requested but not received, per multiprocessor")
          .column("in flight B/SM"),
      measured("d2d", "time of cudaMemcpyAsync of the same payload inside the GPU"),
      measured("sync", "time of the same tiles by load, barrier, work, barrier"),
      measured("one-block-per-sm", "tune: time of the simplest loop with one block per multiprocessor"),
      derived("d2d_traffic", "GB/s", higher,
              "bytes read plus bytes written by cudaMemcpyAsync inside the GPU, over its time"),
      derived("memory_to_compute", "1", neither,
              "time without arithmetic over time without memory accesses: 1 is balance"),
      derived_time("time_in_flight", "time that a byte is in flight, by Little's law"),
      derived("registers", "registers", neither, "registers per thread"),
      derived("shared_memory", "B", neither, "shared memory per block"),
  };
}

}  // namespace

const Scenario& smem_scenario() {
  static const SmemScenario scenario({
      .name = "smem",
      .summary = "tiles from global memory to shared memory and back, by load method, number of stages and schedule",
      .axes = smem_axes(),
      .metrics = smem_metrics(),
      .heat_maps = {{.rows = "tile", .columns = "stages", .metric = "memory_traffic", .least = 3}},
      .charts = {{.x = "tile", .y = "memory_traffic", .panels = {"op"}, .lines = {"method"}},
                 {.x = "stages", .y = "memory_traffic", .panels = {"op"}, .lines = {"method"}},
                 {.x = "size", .y = "memory_traffic", .panels = {"op"}}},
      .answer = {.best = "memory_traffic",
                 .text = "{memory_traffic} of memory traffic; {vs_d2d} the rate of cudaMemcpyAsync",
                 .each = {"op"}},
      .work_axes = {kSmemWorkAxes.begin(), kSmemWorkAxes.end()},
  });
  return scenario;
}

}  // namespace xferbench
