// kv, slow: in each step 2,048 blocks of a cache move to the host and as many back, each by a copy of its own.
#include <cstdint>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "cache.hpp"

namespace examples {

bool move_blocks_by_copies(const Settings& settings) {
  Cache cache(settings);
  const auto copy = [&](std::uint32_t* to, const std::uint32_t* from, cudaMemcpyKind kind, const Stream& stream) {
    check(cudaMemcpyAsync(to, from, settings.size, kind, stream.get()));
  };

  const std::size_t passes = measure(settings, [&] {
    for (std::size_t step = 0; step < settings.steps; ++step) {
      const StepMoves& moves = cache.moves[step];
      // The fault: a copy of 16 KiB takes some three microseconds, in which the link could carry ten times as much.
      for (const BlockMove& move : moves.out) {
        copy(&cache.pool[move.to * cache.width], &cache.blocks[move.from * cache.width], cudaMemcpyDeviceToHost,
             cache.outgoing);
      }
      Cache::after(cache.incoming, cache.outgoing, cache.left);
      for (const BlockMove& move : moves.in) {
        copy(&cache.blocks[move.to * cache.width], &cache.pool[move.from * cache.width], cudaMemcpyHostToDevice,
             cache.incoming);
      }
      cache.work();
    }
    check(cudaStreamSynchronize(cache.working.get()));
  });

  return is_right(cache, 0, settings.steps, passes) && is_right(cache, cache.width - 1, settings.steps, passes);
}

}  // namespace examples

int main(int count, char** words) {
  return examples::run_example(count, words, {.steps = 10, .size = 16384}, examples::move_blocks_by_copies);
}
