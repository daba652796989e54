#include "scenarios/smem/launch.hpp"

#include "measure/pattern.hpp"
#include "scenarios/smem/rules.hpp"

namespace xferbench {

namespace {}  // namespace

CacheFlush::CacheFlush(Device& device) {
  SmemShape shape;
  shape.op = kernels::SmemOp::read;
  shape.set_array(2 * device.capabilities().environment.gpu.l2_bytes);
  memory_ = device.allocate_device(shape.buffer_bytes());
  sums_ = device.allocate_device(shape.sum_bytes());
  kernel_ = std::make_unique<kernels::Smem>(shape, kernels::SmemArgs{.in = memory_.data, .out = sums_.data});
  device.preload(*kernel_);
  device.fill_and_wait(memory_, std::byte{0});
}

void CacheFlush::run(StreamView stream) const { stream.launch(*kernel_); }

bool CacheFlush::needed(const SmemShape& shape, std::uint64_t cache_bytes) {
  constexpr std::uint64_t kTimesCache = 16;  // L2 holds at most 6 % of a payload that is this many times as large
  // Large payloads need no flush if the kernel also writes, because such a kernel leaves as many dirty lines in L2 as
  // it finds. A kernel that only reads would have to write back the dirty lines of the device copy that is sampled with
  // it: 10 of 470 us for 2 GiB on an H200.
  return shape.op == kernels::SmemOp::read || shape.payload_bytes() < kTimesCache * cache_bytes;
}

PlacedSmem place(Device& device, const SmemShape& shape, const kernels::SmemArgs& args, std::optional<unsigned> asked) {
  const Capabilities& can = device.capabilities();
  const kernels::Smem kernel(shape, args);
  device.preload(kernel);
  PlacedSmem placed{.shape = shape, .resources = device.resources(kernel), .skip_reason = {}};
  const unsigned fit =
      placed.resources ? placed.resources->blocks_per_multiprocessor : most_blocks(shape, can.multiprocessor);
  if (auto full = no_room(asked, fit, "this kernel leaves")) {
    placed.skip_reason = SkipReason::unavailable(std::move(*full));
  }
  const std::uint64_t multiprocessors = std::max(1U, can.environment.gpu.multiprocessors);
  const std::uint64_t at_once = std::min<std::uint64_t>(shape.tiles(), multiprocessors * asked.value_or(fit));
  placed.per_multiprocessor = static_cast<unsigned>((at_once + multiprocessors - 1) / multiprocessors);
  if (shape.schedule != SmemSchedule::one_tile) placed.shape.blocks = static_cast<unsigned>(at_once);
  return placed;
}

SmemBench::SmemBench(const RunContext& bench, const SmemSizes& sizes, const SmemCase& c)
    : device_(bench.device), case_(c), data_(device_, sizes, bench.seed) {
  const std::uint64_t cache = device_.capabilities().environment.gpu.l2_bytes;
  if (!c.resident && CacheFlush::needed(c.shape, cache)) flush_.emplace(device_);
  if (c.shape.op == kernels::SmemOp::read) copied_ = device_.allocate_device(c.shape.payload_bytes());
}

Region SmemBench::gated(std::string name, StreamView stream, std::function<void()> submit) const {
  Region r{.name = std::move(name), .clock = Clock::event_gated, .streams = {stream}, .submit = std::move(submit)};
  if (flush_) r.reset = [this, stream] { flush_->run(stream); };
  return r;
}

Region SmemBench::region(const SmemShape& shape, StreamView stream, std::string name) {
  const kernels::Smem kernel(shape, args());
  device_.preload(kernel);
  Region r = gated(std::move(name), stream, [kernel, stream] { stream.launch(kernel); });
  // Padding between rows is not checked, because the device copy that is sampled with this region overwrites it.
  if (shape.part != kernels::SmemPart::compute) {
    r.check = [this, shape] { data_.check(shape, "its output", Between::anything); };
  }
  return r;
}

Region SmemBench::device_copy(StreamView stream) {
  std::byte* to = copied_ ? copied_.data : data_.out().data;
  const Copy copy{to, data_.in().data, case_.shape.payload_bytes(), Direction::d2d};
  Region r = gated("d2d", stream, [copy, stream] { stream.copy(copy); });
  if (case_.shape.payload_bytes() == case_.shape.rows * case_.shape.pitch) {
    r.check = [this, to] { data_.check_copy(case_.shape, to, "its output"); };
  }
  return r;
}

double SmemBench::device_copy_traffic(double seconds) const {
  return 2 * static_cast<double>(case_.shape.payload_bytes()) / seconds / 1e9;
}

void SmemBench::verify(const SmemShape& shape, StreamView stream, const char* name) {
  run_at_full_speed(device_.machine(), region(shape, stream, name), [this] { data_.poison(); });
  data_.check(shape, name);
}

double SmemBench::theoretical_bandwidth() const {
  return case_.resident ? 0 : device_.capabilities().environment.gpu.memory_bandwidth;
}

}  // namespace xferbench
