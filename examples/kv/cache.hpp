// kv: the key-value cache of a language model, of which blocks lie in the GPU's memory and more of them on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "../common/cuda.hpp"
#include "../common/example.hpp"
#include "../common/work.cuh"

namespace examples {

constexpr std::size_t kCacheBlocks = 4096;  // in the GPU's memory
constexpr std::size_t kPoolBlocks = 8192;   // in pinned memory of the host
constexpr std::size_t kMovedBlocks = 2048;  // in each direction and step
constexpr int kCacheRounds = 16;

struct BlockMove {
  std::uint32_t from;
  std::uint32_t to;
};

/// Blocks of one step that leave the cache, and others that come to where those were.
struct StepMoves {
  BlockMove out[kMovedBlocks];
  BlockMove in[kMovedBlocks];
};

/// Chooses scattered blocks for each step. No block is chosen twice in a step.
inline void choose_blocks(StepMoves* steps, std::size_t count) {
  for (std::size_t step = 0; step < count; ++step) {
    const std::size_t odd = number(step + 1) | 1;  // times an odd number, modulo a power of two: a permutation
    const auto place = [&](std::size_t i, std::size_t places) {
      return static_cast<std::uint32_t>((i * odd + step) % places);
    };
    for (std::size_t i = 0; i < kMovedBlocks; ++i) {
      const std::uint32_t block = place(i, kCacheBlocks);
      steps[step].out[i] = {block, place(i, kPoolBlocks)};
      steps[step].in[i] = {place(kMovedBlocks + i, kPoolBlocks), block};
    }
  }
}

/// The memory, and a stream for each direction and for the work. They follow each other, because blocks come to places
/// that others have left.
struct Cache {
  explicit Cache(const Settings& settings)
      : width(settings.size / sizeof(std::uint32_t)),
        blocks(device_array<std::uint32_t>(kCacheBlocks * width)),
        pool(pinned_array<std::uint32_t>(kPoolBlocks * width)),
        moves(pinned_array<StepMoves>(settings.steps)) {
    if (settings.size % 2048 != 0) throw std::invalid_argument("--size must be a multiple of 2048");
    check(cudaMemset(blocks.get(), 0, kCacheBlocks * settings.size));
    fill_with_numbers(pool.get(), kPoolBlocks * width);
    choose_blocks(moves.get(), settings.steps);
  }

  void work() {
    after(working, incoming, arrived);
    advance_all<<<blocks_for(kCacheBlocks * width), kThreads, 0, working.get()>>>(blocks.get(), kCacheBlocks * width,
                                                                                  kCacheRounds);
    check(cudaGetLastError());
    after(outgoing, working, worked);
  }

  /// Makes what is enqueued to `second` from now on wait for what is in `first`.
  static void after(const Stream& second, const Stream& first, const Event& event) {
    check(cudaEventRecord(event.get(), first.get()));
    check(cudaStreamWaitEvent(second.get(), event.get(), 0));
  }

  std::size_t width;  // of a block, in values
  DeviceArray<std::uint32_t> blocks;
  PinnedArray<std::uint32_t> pool;
  PinnedArray<StepMoves> moves;
  Stream outgoing = make_stream();
  Stream incoming = make_stream();
  Stream working = make_stream();
  Event left = make_event();
  Event arrived = make_event();
  Event worked = make_event();
};

/// Whether one value of each block is what it must be after all steps, so many times over.
inline bool is_right(const Cache& cache, std::size_t value, std::size_t steps, std::size_t passes) {
  std::vector<std::uint32_t> blocks(kCacheBlocks, 0);
  std::vector<std::uint32_t> pool(kPoolBlocks);
  for (std::size_t i = 0; i < kPoolBlocks; ++i) pool[i] = number(i * cache.width + value);
  for (std::size_t step = 0; step < steps * passes; ++step) {
    const StepMoves& moves = cache.moves[step % steps];
    for (const BlockMove& move : moves.out) pool[move.to] = blocks[move.from];
    for (const BlockMove& move : moves.in) blocks[move.to] = pool[move.from];
    for (std::uint32_t& block : blocks) block = advance(block, kCacheRounds);
  }
  std::vector<std::uint32_t> there(kCacheBlocks * cache.width);
  check(cudaMemcpy(there.data(), cache.blocks.get(), there.size() * sizeof(there[0]), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < kCacheBlocks; ++i) {
    if (there[i * cache.width + value] != blocks[i]) return false;
  }
  for (std::size_t i = 0; i < kPoolBlocks; ++i) {
    if (cache.pool[i * cache.width + value] != pool[i]) return false;
  }
  return true;
}

}  // namespace examples
