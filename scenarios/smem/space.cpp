#include "scenarios/smem/space.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "scenarios/smem/case.hpp"
#include "scenarios/smem/data.hpp"
#include "scenarios/smem/launch.hpp"
#include "scenarios/smem/model.hpp"
#include "scenarios/smem/rules.hpp"

namespace xferbench {

namespace {

using kernels::SmemOp;
using kernels::SmemPart;
using kernels::SmemSchedule;
using kernels::SmemShape;

/// The plainest loop over tiles, from which the stages are measured: with as many vectors for each thread as it works
/// on at a time, so that arithmetic is as fast as it gets.
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

class SmemCandidate final : public Candidate {
 public:
  SmemCandidate(Device& device, SmemData& data, const CacheFlush* flush, const SmemShape& shape)
      : device_(device),
        data_(data),
        flush_(flush),
        shape_(shape),
        stream_(device.make_stream(StreamKind::nonblocking)) {}

  [[nodiscard]] Region region() override { return region_of(device_, shape_, data_.args(), stream_, flush_, "smem"); }

  void verify() override {
    run_at_full_speed(device_.machine(), region(), [this] { data_.poison(); });
    data_.check(shape_, "smem");
  }

 private:
  Device& device_;
  SmemData& data_;
  const CacheFlush* flush_;
  SmemShape shape_;
  Stream stream_;
};

class SmemSpace final : public Tunable {
 public:
  SmemSpace(std::span<const Case> cases, const RunContext& bench)
      : bench_(bench), data_(bench.device, sizes_of(cases), bench.seed) {
    const SmemCase first = smem_case(cases.front());
    const Environment::Gpu& gpu = bench.device.capabilities().environment.gpu;
    resident_ = first.resident;
    if (!resident_ && CacheFlush::needed(first.shape, gpu.l2_bytes)) flush_.emplace(bench.device);
    data_.prepare(first.shape);
    measure_stages(first.shape);
    for (const Case& c : cases) {
      const SmemCase s = smem_case(c);
      const PlacedSmem placed = place(bench.device, s.shape, data_.args(), s.blocks_per_multiprocessor);
      placed_.emplace(c.key(), placed);
    }
  }

  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c) const override {
    return placed_.at(c.key()).skip_reason;
  }

  [[nodiscard]] double predict(const Case& c) const override {
    const PlacedSmem& placed = placed_.at(c.key());
    return predict_smem(costs_, placed.shape, placed.per_multiprocessor);
  }

  /// Stages, then blocks, then what else there is to understand.
  [[nodiscard]] double complexity(const Case& c) const override {
    constexpr double kLittle = 0.01;
    const SmemCase s = smem_case(c);
    return s.shape.stages + kLittle * s.blocks_per_multiprocessor.value_or(0) +
           kLittle * static_cast<double>(s.shape.method) / 10 +
           (s.shape.schedule == SmemSchedule::one_tile ? 0 : kLittle / 2);
  }

  [[nodiscard]] std::unique_ptr<Candidate> prepare(const Case& c) override {
    const SmemShape& shape = placed_.at(c.key()).shape;
    return std::make_unique<SmemCandidate>(bench_.device, data_, flush_ ? &*flush_ : nullptr, shape);
  }

  void describe(const Case& c, double seconds, Result& result) const override {
    const double theoretical = bench_.device.capabilities().environment.gpu.memory_bandwidth;
    const SmemShape shape = smem_case(c).shape;
    add_rates(shape, seconds, resident_ ? 0 : theoretical, result);
    const double copied = 2 * static_cast<double>(shape.payload_bytes()) / stages_.front().median / 1e9;
    result.add("vs_d2d", result.metric("memory_traffic")->value / copied, "1");
  }

  [[nodiscard]] std::vector<Measurement> stages() const override { return stages_; }

 private:
  /// cudaMemcpyAsync, a loop with too little in flight, and arithmetic alone. Two rounds of sampling share the budget.
  void measure_stages(const SmemShape& shape) {
    Device& device = bench_.device;
    const Stream stream = device.make_stream(StreamKind::nonblocking);
    const CacheFlush* flush = flush_ ? &*flush_ : nullptr;
    DeviceBuffer copied;
    if (shape.op == SmemOp::read) copied = device.allocate_device(shape.payload_bytes());
    const Copy copy{copied ? copied.data : data_.out().data, data_.in().data, shape.payload_bytes(), Direction::d2d};
    const SmemShape starved = place(device, only(SmemPart::memory, plain(shape)), data_.args(), 1).shape;
    std::vector<Region> regions{device_copy(copy, stream, flush),
                                region_of(device, starved, data_.args(), stream, flush, "one-block-per-sm")};
    if (computes(shape)) {
      const SmemShape full = place(device, only(SmemPart::compute, plain(shape)), data_.args(), {}).shape;
      regions.push_back(region_of(device, full, data_.args(), stream, flush, "compute"));
    }
    for (const Series& s : bench_.sample(std::move(regions))) stages_.push_back(s.elapsed);
    if (interrupted() != 0) return;  // there may be no samples
    const double moved = static_cast<double>(traffic(shape)) / (2 * static_cast<double>(shape.payload_bytes()));
    costs_.memory = stages_[0].median * moved;
    costs_.multiprocessors = std::max(1U, device.capabilities().environment.gpu.multiprocessors);
    costs_.latency = stages_[1].median * costs_.multiprocessors * in_flight_per_block(starved) /
                     static_cast<double>(shape.payload_bytes());
    if (stages_.size() > 2) costs_.compute = stages_[2].median;
  }

  RunContext bench_;
  SmemData data_;
  std::optional<CacheFlush> flush_;
  bool resident_ = false;
  std::vector<Measurement> stages_;
  std::map<std::string, PlacedSmem> placed_;  // by key
  SmemCosts costs_;
};

void require_same_work(std::span<const Case> cases) {
  for (const std::string_view axis : kSmemWorkAxes) {
    const auto text = [axis](const Case& c) {
      const Case::Param* p = c.find(axis);
      return p == nullptr ? std::string() : to_text(p->value, p->kind);
    };
    for (const Case& c : cases) {
      if (text(c) == text(cases.front())) continue;
      throw UsageError("tune compares times of the same work: give one --" + std::string(axis) + ", not " +
                       text(cases.front()) + " and " + text(c));
    }
  }
}

}  // namespace

std::unique_ptr<Tunable> smem_space(std::span<const Case> cases, const RunContext& bench) {
  require_same_work(cases);
  return std::make_unique<SmemSpace>(cases, bench);
}

}  // namespace xferbench
