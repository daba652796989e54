// The ring-buffer loop shared by bulk and tma: one warp issues the copies, and mbarriers signal their completion. The
// template parameter Engine is the part that differs between bulk and tma:
//
//   Engine::load(w, slot, tile, barrier)   called by the block's first warp: announces the bytes to `barrier` and
//                                          issues the copies
//   Engine::store(w, slot, tile)           called by the first warp: issues the copies out of the slot, does not commit
//   Engine::place(w, index)                position in the slot for vector `index` of the tile
//
// For tiles that cross the edge of the payload, these functions say what threads must load or store themselves:
//
//   Engine::brings(w, row)                 whether load() delivers this row of the payload
//   Engine::takes(w, row, column)          whether store() writes the vector at this row and byte column
//   Engine::takes_all(w, place)            whether store() writes all of the tile's payload
#pragma once

#include "kernels/smem/ptx.cuh"
#include "kernels/smem/smem_tile.cuh"

namespace xferbench::kernels::tile {

/// Minimum number of resident blocks of the largest size per multiprocessor, for __launch_bounds__. It limits a thread
/// to 40 registers, or 64 with four vectors. Without this limit the compiler uses a few more registers, and small
/// blocks do not keep enough loads in flight: with 44 or 45 registers an H200 copies 1 to 6 % slower.
template <unsigned kVectors>
inline constexpr unsigned kLeastBlocks = kVectors == 4 ? 2 : 3;

/// Returns the address of the block's slots: dynamic shared memory, aligned to 1024 bytes for the widest swizzle.
__device__ inline uint4* aligned_slots(uint4* memory) {
  const std::uint32_t excess = ptx::shared_address(memory) % 1024;
  return excess == 0 ? memory : memory + (1024 - excess) / kVector;
}

/// Whether threads have to process or store this tile, because the engine alone cannot.
template <class Engine>
__device__ bool threads_needed(const SmemWork& w, const Place& place) {
  return !w.async_store || w.halve || w.intensity > 0 || !(place.whole || Engine::takes_all(w, place));
}

/// Reads kVectors vectors of slice `share` of a tile from the slot, starting with vector `first`; rows that the engine
/// did not load are read from global memory.
template <unsigned kVectors, class Engine>
__device__ void take_from_slot(const SmemWork& w, const uint4* slot, const Place& place, const ThreadSlice& share,
                               unsigned first, uint4 (&vectors)[kVectors]) {
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) vectors[i] = slot[Engine::place(w, share.index(w, first + i))];
  if (place.whole || !w.copies) return;
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) {
    if (!Engine::brings(w, place.row + share.row(w, first + i))) vectors[i] = load(w, place, share, first + i);
  }
}

/// Writes the vectors back to the slot. Vectors that Engine::store() will not write are stored to global memory here.
template <unsigned kVectors, class Engine>
__device__ void put_into_slot(const SmemWork& w, uint4* slot, const Place& place, const ThreadSlice& share,
                              unsigned first, const uint4 (&vectors)[kVectors]) {
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) slot[Engine::place(w, share.index(w, first + i))] = vectors[i];
  if (place.whole || !w.copies) return;
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) {
    const bool taken = Engine::takes(w, place.row + share.row(w, first + i), place.column + share.column());
    if (!taken) store(w, place, share, first + i, vectors[i]);
  }
}

/// Processes this thread's share of the tile in `slot`. Stores the results to global memory or, for asynchronous
/// stores, writes them back to the slot. Calls loaded() when this thread has read all of its vectors.
template <SmemType kType, unsigned kVectors, class Engine, class Loaded>
__device__ void work_on_slot(const SmemWork& w, uint4* slot, const Place& place, const ThreadSlice& share,
                             std::uint32_t& sum, const Loaded& loaded) {
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

/// A ring of `stages` slots. All threads wait for a slot's bytes, process them and meet at a barrier. Then the first
/// warp issues the slot's asynchronous store, if any, and refills a free slot. Without asynchronous stores, or with one
/// slot, it refills the same slot. Otherwise the new store still reads this slot, so the warp refills the slot of the
/// previous iteration. The loads of the other slots and the previous store run while a slot is processed.
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
  const ThreadSlice share(w, threadIdx.x);
  unsigned slot = 0;
  unsigned before = w.stages - 1;  // slot of the previous iteration
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
      __syncwarp();  // hazard: each lane has waited for its own copies only
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
  if (issues) ptx::bulk_wait_read<0>();  // the stores must have read shared memory before the block ends and frees it
  feed.finish();
}

}  // namespace xferbench::kernels::tile
