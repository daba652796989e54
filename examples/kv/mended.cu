// kv, mended: in each step a kernel moves 2,048 blocks of a cache to the host, and another moves as many back.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "cache.hpp"

namespace examples {

/// Mended: threads reach pinned memory of the host by the link. Each warp moves a block at a time, 16 bytes a lane. It
/// has four loads in flight before it stores, because one from the host takes more than a microsecond.
static __global__ void __launch_bounds__(512)
    move_blocks(uint4* to, const uint4* from, const BlockMove* moves, std::size_t width) {
  constexpr unsigned kLanes = 32;
  constexpr unsigned kInFlight = 4;
  const unsigned warps = gridDim.x * (blockDim.x / kLanes);
  for (unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes; i < kMovedBlocks; i += warps) {
    const BlockMove move = moves[i];
    for (std::size_t v = threadIdx.x % kLanes; v < width; v += kInFlight * kLanes) {
      uint4 held[kInFlight];
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k) held[k] = from[move.from * width + v + k * kLanes];
#pragma unroll
      for (unsigned k = 0; k < kInFlight; ++k) to[move.to * width + v + k * kLanes] = held[k];
    }
  }
}

bool move_blocks_by_kernels(const Settings& settings) {
  Cache cache(settings);
  const auto move_by_kernel = [&](std::uint32_t* to, const std::uint32_t* from, const BlockMove* moves,
                                  const Stream& stream) {
    constexpr unsigned kBlocks = 33;  // enough for the link; a kernel beside it has the other multiprocessors
    move_blocks<<<kBlocks, 512, 0, stream.get()>>>(reinterpret_cast<uint4*>(to), reinterpret_cast<const uint4*>(from),
                                                   moves, settings.size / sizeof(uint4));
    check(cudaGetLastError());
  };

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      const StepMoves& moves = cache.moves[step];
      move_by_kernel(cache.pool.get(), cache.blocks.get(), moves.out, cache.outgoing);
      Cache::after(cache.incoming, cache.outgoing, cache.left);
      move_by_kernel(cache.blocks.get(), cache.pool.get(), moves.in, cache.incoming);
      cache.work();
    }
    check(cudaStreamSynchronize(cache.working.get()));
  });

  return is_right(cache, 0, settings.steps, passes) && is_right(cache, cache.width - 1, settings.steps, passes);
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 10, .size = 16384}, examples::move_blocks_by_kernels);
}
