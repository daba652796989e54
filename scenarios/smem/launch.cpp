#include "scenarios/smem/launch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/pattern.hpp"
#include "scenarios/smem/rules.hpp"

namespace xferbench {

namespace {

using kernels::SmemSchedule;
using kernels::SmemShape;

/// A plain read of an array.
SmemShape read_of(std::uint64_t bytes) {
  SmemShape shape;
  shape.op = kernels::SmemOp::read;
  shape.row_bytes = shape.last_row_bytes = shape.pitch = shape.tile_width;
  shape.rows = (bytes + shape.tile_width - 1) / shape.tile_width;
  return shape;
}

Region gated(std::string name, StreamView stream, const CacheFlush* flush) {
  Region r;
  r.name = std::move(name);
  r.clock = Clock::event_gated;
  r.streams = {stream};
  if (flush != nullptr) r.reset = [flush, stream] { flush->run(stream); };
  return r;
}

}  // namespace

CacheFlush::CacheFlush(Device& device) : device_(device) {
  const SmemShape shape = read_of(2 * device.capabilities().environment.gpu.l2_bytes);
  memory_ = device.allocate_device(shape.buffer_bytes());
  sums_ = device.allocate_device(shape.sum_bytes());
  kernel_ = std::make_unique<kernels::Smem>(shape, kernels::SmemArgs{.in = memory_.data, .out = sums_.data});
  device_.preload(*kernel_);
  const Stream stream = device.make_stream(StreamKind::nonblocking);
  stream.fill(memory_, std::byte{0});
  stream.synchronize();
}

void CacheFlush::run(StreamView stream) const { stream.launch(*kernel_); }

bool CacheFlush::needed(const SmemShape& shape, std::uint64_t cache_bytes) {
  constexpr std::uint64_t kTimesCache = 16;  // then what is left of it from the pass before is 6 % of it at most
  // A copy leaves as much unwritten in the cache as the one before it did. A read would pay for that of the copy beside
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
  if (fit == 0) {
    placed.skip_reason =
        SkipReason::unavailable("not even one block fits a multiprocessor; choose fewer --threads or a smaller --tile");
  } else if (asked.value_or(1) > fit) {
    placed.skip_reason = SkipReason::unavailable(
        fmt::format("--blocks-per-sm {} do not fit at once: this kernel leaves room for {}", *asked, fit));
  }
  const std::uint64_t multiprocessors = std::max(1U, can.environment.gpu.multiprocessors);
  const std::uint64_t at_once = std::min<std::uint64_t>(shape.tiles(), multiprocessors * asked.value_or(fit));
  placed.per_multiprocessor = static_cast<unsigned>((at_once + multiprocessors - 1) / multiprocessors);
  if (shape.schedule != SmemSchedule::one_tile) placed.shape.blocks = static_cast<unsigned>(at_once);
  return placed;
}

Region region_of(Device& device, const SmemShape& shape, const kernels::SmemArgs& args, StreamView stream,
                 const CacheFlush* flush, std::string name) {
  Region r = gated(std::move(name), stream, flush);
  const kernels::Smem kernel(shape, args);
  device.preload(kernel);
  r.submit = [kernel, stream] { stream.launch(kernel); };
  return r;
}

Region device_copy(const Copy& copy, StreamView stream, const CacheFlush* flush) {
  Region r = gated("d2d", stream, flush);
  r.submit = [copy, stream] { stream.copy(copy); };
  return r;
}

}  // namespace xferbench
