// The search space of `tune` for scenario smem.
#include "scenarios/smem/case.hpp"

#include "core/interrupt.hpp"
#include "scenarios/smem/launch.hpp"
#include "scenarios/smem/model.hpp"

namespace xferbench {

namespace {

/// Returns the simplest kernel over tiles, for measuring the model's input. Each thread holds all vectors of its tile
/// at once, so arithmetic runs at its full rate.
SmemShape plain(const SmemShape& shape) {
  SmemShape plain = as_sync(shape);
  plain.tile_bytes = 8192;
  plain.threads = 128;
  plain.schedule = SmemSchedule::persistent;
  return plain;
}

SmemSizes sizes_of(std::span<const Case> cases) {
  SmemSizes sizes;
  sizes.include(plain(smem_case(cases.front()).shape));
  for (const Case& c : cases) sizes.include(smem_case(c).shape);
  return sizes;
}

class SmemSpace final : public Tunable {
 public:
  SmemSpace(std::span<const Case> cases, const RunContext& context)
      : context_(context), bench_(context, sizes_of(cases), smem_case(cases.front())) {
    bench_.prepare();
    measure_stages(smem_case(cases.front()).shape);
    for (const Case& c : cases) {
      const SmemCase s = smem_case(c);
      placed_.emplace(c.key(), place(context.device, s.shape, bench_.args(), s.blocks_per_multiprocessor));
    }
  }

  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c) const override {
    return placed_.at(c.key()).skip_reason;
  }

  [[nodiscard]] double predict(const Case& c) const override {
    const PlacedSmem& placed = placed_.at(c.key());
    return predict_smem(costs_, placed.shape, placed.per_multiprocessor);
  }

  /// Fewer stages count as simpler. Among equal stages, fewer blocks are simpler; then simpler methods and schedules.
  [[nodiscard]] double complexity(const Case& c) const override {
    constexpr double kLittle = 0.01;
    const SmemCase s = smem_case(c);
    return s.shape.stages + kLittle * s.blocks_per_multiprocessor.value_or(0) +
           kLittle * static_cast<double>(s.shape.method) / 10 +
           (s.shape.schedule == SmemSchedule::one_tile ? 0 : kLittle / 2);
  }

  [[nodiscard]] Candidate prepare(const Case& c) override {
    const SmemShape& shape = placed_.at(c.key()).shape;
    const auto stream = std::make_shared<Stream>(context_.device.make_stream(StreamKind::nonblocking));
    return {.region = [this, &shape, stream] { return bench_.region(shape, *stream, "smem"); },
            .verify = [this, &shape, stream] { bench_.verify(shape, *stream, "smem"); }};
  }

  void describe(const Case& c, double seconds, double /*fastest*/, Result& result) const override {
    add_rates(placed_.at(c.key()).shape, seconds, bench_.theoretical_bandwidth(), result);
    const double copied = bench_.device_copy_traffic(stages_.front().median);
    result.add("vs_d2d", result.value("memory_traffic") / copied, "1");
  }

 private:
  /// Measures the model's input: cudaMemcpyAsync, a kernel with too few bytes in flight, and arithmetic alone.
  void measure_stages(const SmemShape& shape) {
    Device& device = context_.device;
    const Stream stream = device.make_stream(StreamKind::nonblocking);
    const SmemShape starved = place(device, only(SmemPart::memory, plain(shape)), bench_.args(), 1).shape;
    std::vector<Region> regions{bench_.device_copy(stream), bench_.region(starved, stream, "one-block-per-sm")};
    if (computes(shape)) {
      const SmemShape full = place(device, only(SmemPart::compute, plain(shape)), bench_.args(), {}).shape;
      regions.push_back(bench_.region(full, stream, "compute"));
    }
    for (const Series& s : context_.sample(std::move(regions))) stages_.push_back(s.elapsed);
    if (interrupted() != 0) return;  // after Ctrl-C there may be no samples
    const double moved = static_cast<double>(traffic(shape)) / (2 * static_cast<double>(shape.payload_bytes()));
    costs_.memory = stages_[0].median * moved;
    costs_.multiprocessors = std::max(1U, device.capabilities().environment.gpu.multiprocessors);
    costs_.latency = stages_[1].median * costs_.multiprocessors * in_flight_per_block(starved) /
                     static_cast<double>(shape.payload_bytes());
    if (stages_.size() > 2) costs_.compute = stages_[2].median;
  }

  RunContext context_;
  SmemBench bench_;
  std::map<std::string, PlacedSmem> placed_;  // kernels that are already prepared; key: Case::key()
  SmemCosts costs_;
};

}  // namespace

std::unique_ptr<Tunable> smem_space(std::span<const Case> cases, const RunContext& bench) {
  return std::make_unique<SmemSpace>(cases, bench);
}

}  // namespace xferbench
