// The loop of the methods whose copies a single warp issues and mbarriers complete: bulk and tma. What they do not
// share is the engine:
//
//   Engine::load(w, slot, tile, barrier)   by the block's first warp: announces bytes to `barrier` and issues copies
//   Engine::store(w, slot, tile)           likewise: issues copies out of the slot, without committing them
//   Engine::place(w, index)                where vector `index` of a tile lies in a slot
//
// and, of tiles that are not whole, what it leaves to threads:
//
//   Engine::brings(w, row)                 whether load brings this row of the payload
//   Engine::takes(w, row, column)          whether store takes the vector that begins at this byte of this row
//   Engine::takes_all(w, place)            whether it takes all of the tile's payload
#pragma once

#include "kernels/smem/ptx.cuh"
#include "kernels/smem/smem_tile.cuh"

namespace xferbench::kernels::tile {

/// Of the largest blocks so many shall fit a multiprocessor, which leaves 40 registers to a thread, or 64 where it
/// holds four vectors. Left to itself the compiler takes a few more, and then small blocks of one tile each do not keep
/// enough in flight: with 44 or 45 an H200 copies 1 to 6 % slower.
template <unsigned kVectors>
inline constexpr unsigned kLeastBlocks = kVectors == 4 ? 2 : 3;

/// The block's slots: dynamic shared memory from its first multiple of 1024 on, which the widest swizzle asks for.
__device__ inline uint4* aligned_slots(uint4* memory) {
  const std::uint32_t excess = ptx::shared_address(memory) % 1024;
  return excess == 0 ? memory : memory + (1024 - excess) / kVector;
}

/// Whether threads have anything to do with a tile that goes back to global memory from its slot.
template <class Engine>
__device__ bool threads_needed(const SmemWork& w, const Place& place) {
  return !w.async_store || w.halve || w.intensity > 0 || !(place.whole || Engine::takes_all(w, place));
}

/// A share's vectors of a tile in its slot, from `first` on.
template <unsigned kVectors, class Engine>
__device__ void take_from_slot(const SmemWork& w, const uint4* slot, const Place& place, const Share& share,
                               unsigned first, uint4 (&vectors)[kVectors]) {
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) vectors[i] = slot[Engine::place(w, share.index(w, first + i))];
  if (place.whole || !w.copies) return;
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) {
    if (!Engine::brings(w, place.row + share.row(w, first + i))) vectors[i] = load(w, place, share, first + i);
  }
}

/// Puts them back, and stores what the engine does not take.
template <unsigned kVectors, class Engine>
__device__ void put_into_slot(const SmemWork& w, uint4* slot, const Place& place, const Share& share, unsigned first,
                              const uint4 (&vectors)[kVectors]) {
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) slot[Engine::place(w, share.index(w, first + i))] = vectors[i];
  if (place.whole || !w.copies) return;
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) {
    const bool taken = Engine::takes(w, place.row + share.row(w, first + i), place.column + share.column());
    if (!taken) store(w, place, share, first + i, vectors[i]);
  }
}

/// The threads' work on a tile in its slot. Results go to global memory, or back into the slot where copies carry them
/// out. `loaded` is called when this thread has read all of its vectors.
template <SmemType kType, unsigned kVectors, class Engine, class Loaded>
__device__ void work_on_slot(const SmemWork& w, uint4* slot, const Place& place, const Share& share, std::uint32_t& sum,
                             const Loaded& loaded) {
  for (unsigned group = 0; group < w.groups; ++group) {
    uint4 vectors[kVectors];
    const unsigned first = group * kVectors;
    take_from_slot<kVectors, Engine>(w, slot, place, share, first, vectors);
    if (group + 1 == w.groups) loaded();
    compute<kType>(vectors, w);
    if (w.async_store) {
      put_into_slot<kVectors, Engine>(w, slot, place, share, first, vectors);
    } else {
      emit_all(w, place, share, first, vectors, sum);
    }
  }
}

/// A ring of `stages` slots. All threads wait for a slot's bytes, work on it, and meet at a barrier; then the first
/// warp stores the slot, if that is its task, and fills a slot that nobody uses any more: this one, or with stores the
/// one of the turn before, whose store has had a turn's time to read it. What overlaps: the loads of the other slots,
/// and the store of the turn before, with the work on this one.
template <SmemType kType, unsigned kVectors, class Engine>
__device__ void run_ring(const SmemWork& w, const Engine& engine, uint4* memory) {
  __shared__ std::uint64_t full[kMaxStages];
  __shared__ std::uint32_t ring[Feed::kRing];
  uint4* const slots = aligned_slots(memory);
  const unsigned slot_vectors = w.tile_bytes / kVector;
  const bool issues = threadIdx.x < kWarp;
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < w.stages; ++s) ptx::mbarrier_init(&full[s], 1);
    ptx::fence_mbarrier_init();
  }
  Feed feed(w, ring, w.stages - 1);
  __syncthreads();
  const auto fill = [&](unsigned slot, std::uint32_t tile) {
    if (issues && w.copies && tile < w.tiles) engine.load(w, slots + slot * slot_vectors, tile, &full[slot]);
  };
  for (unsigned s = 0; s < w.stages; ++s) fill(s, feed.at(s));

  const bool stores_lag = w.async_store && w.stages > 1;
  const Share share(w, threadIdx.x);
  unsigned slot = 0;
  unsigned before = w.stages - 1;  // the slot of the turn before
  unsigned parity = 0;
  std::uint32_t sum = 0;
  std::uint32_t tile;
  for (unsigned k = 0; (tile = feed.at(k)) < w.tiles; ++k) {
    const Place place = place_of(w, tile);
    uint4* const here = slots + slot * slot_vectors;
    if (w.copies) ptx::mbarrier_wait(&full[slot], parity);
    if (threads_needed<Engine>(w, place)) {
      work_on_slot<kType, kVectors, Engine>(w, here, place, share, sum, [] {});
      if (w.async_store) ptx::fence_proxy_async();
    }
    feed.publish(k);
    __syncthreads();
    if (w.async_store && issues && w.copies) {
      engine.store(w, here, tile);
      ptx::bulk_commit();
      if (stores_lag) {
        ptx::bulk_wait_read<1>();
      } else {
        ptx::bulk_wait_read<0>();
      }
      __syncwarp();  // each lane has waited for its own copies only
    }
    if (!stores_lag) {
      fill(slot, feed.at(k + w.stages));
    } else if (k > 0) {
      fill(before, feed.at(k - 1 + w.stages));
    }
    before = slot;
    if (++slot == w.stages) {
      slot = 0;
      parity ^= 1;
    }
  }
  finish_sum(w, sum);
  if (issues) ptx::bulk_wait_read<0>();  // a block's shared memory goes with it
  feed.finish();
}

}  // namespace xferbench::kernels::tile
