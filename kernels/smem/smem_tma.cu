// Tensor copies: one instruction copies a box of a matrix that a descriptor, the tensor map, describes. The hardware
// computes the addresses, skips what lies outside of the matrix, and may swizzle. From sm_90. [PTX ISA,
// cp.async.bulk.tensor and its swizzling modes; CUDA driver API, cuTensorMapEncodeTiled]
#include <cuda.h>

#include "kernels/smem/smem_async.cuh"
#include "kernels/smem/smem_entries.hpp"

namespace xferbench::kernels {

namespace {

using namespace tile;

template <SmemType kType>
struct TensorEngine {
  const CUtensorMap* in;
  const CUtensorMap* out;

  static constexpr std::uint32_t kElement = bytes_of(kType);

  __device__ static int x(const Place& place) { return static_cast<int>(place.column / kElement); }
  __device__ static int y(const Place& place) { return static_cast<int>(place.row); }

  /// Issues the copy of a tile. The copy always completes with the full size of the box, even at the edge.
  __device__ void load(const SmemWork& w, uint4* slot, std::uint32_t tile, std::uint64_t* barrier) const {
    if (threadIdx.x % kWarp != 0) return;
    const Place place = place_of(w, tile);
    ptx::mbarrier_arrive_expect_tx(barrier, w.tile_bytes);
    ptx::tensor_load(slot, in, x(place), y(place), barrier);
  }

  __device__ void store(const SmemWork& w, const uint4* slot, std::uint32_t tile) const {
    if (threadIdx.x % kWarp != 0) return;
    const Place place = place_of(w, tile);
    ptx::tensor_store(out, x(place), y(place), slot);
  }

  /// Swizzling permutes the 16-byte vectors within a span: the index of a vector is XORed with the number of its
  /// 128-byte line, masked by 1, 3 or 7 for spans of 32, 64 or 128 bytes.
  __device__ static std::uint32_t place(const SmemWork& w, std::uint32_t index) {
    return index ^ ((index >> 3) & w.swizzle);
  }
  // The tensor maps leave out an array's last row if it is shorter, as a tensor is a rectangle. Tensor stores write
  // whole 16-byte vectors: an H200 overwrites the padding after a row that ends within a vector. So the tensor map for
  // stores leaves out a partial vector.
  __device__ static bool brings(const SmemWork& w, std::uint32_t row) { return !is_partial(w, row); }
  __device__ static bool takes(const SmemWork& w, std::uint32_t row, std::uint32_t column) {
    return brings(w, row) && column + kVector <= w.row_bytes;
  }
  __device__ static bool takes_all(const SmemWork& w, const Place& place) {
    const bool has_last_row = place.row + w.tile_rows >= w.rows;
    const std::uint32_t whole_vectors = w.row_bytes / kVector * kVector;
    const bool has_row_ends = place.column + (1U << w.width_log2) > whole_vectors;
    return !(has_last_row && is_partial(w, w.rows - 1)) && !(has_row_ends && whole_vectors != w.row_bytes);
  }
};

template <SmemType kType, unsigned kVectors>
__global__ void __launch_bounds__(kMaxThreads, kLeastBlocks<kVectors>)
    tma_kernel(const SmemWork w, const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
  extern __shared__ uint4 memory[];
  if constexpr (ptx::kHasBulkCopies) run_ring<kType, kVectors>(w, TensorEngine<kType>{&in, &out}, memory);
}

// --- Specialized warps. There is no barrier for the whole block: each role waits only for what it needs.
//
//   loader     for each tile: waits until its slot is empty, issues the copy, which completes on full[slot]
//   consumers  wait for full[slot] and work; with register stores they arrive on empty[slot] once the slot is read,
//              with asynchronous stores they write back and arrive on worked[slot]
//   storer     waits for worked[slot], issues the store, arrives on empty[slot] when the store has read the slot
//
// So the loader can run ahead by `stages` tiles, and a warp that is late by less than that delays no other warp. Only
// the loader picks tiles. It hands the tile index on with the slot, so it can take the next index in advance.

struct Slots {
  uint4* memory;
  std::uint64_t* full;    // mbarrier per slot: the tile is loaded; expects one arrival and the bytes of the tile
  std::uint64_t* worked;  // mbarrier per slot: results are in the slot; expects one arrival per consumer warp
  std::uint64_t* empty;   // mbarrier per slot: slot is free; expects an arrival per consumer warp, or one of the storer
  std::uint32_t* tiles;   // the tile in each slot; an index >= w.tiles ends the sequence
};

/// Position of a role in the ring of slots, and the parity of the current phase of the slot's barriers.
struct RingPosition {
  unsigned slot = 0;
  unsigned parity = 0;
  __device__ void next(unsigned stages) {
    if (++slot < stages) return;
    slot = 0;
    parity ^= 1;
  }
};

template <class Engine>
__device__ void load_tiles(const SmemWork& w, const Engine& engine, const Slots& slots) {
  const bool dynamic = w.queue != nullptr;
  std::uint32_t tile = dynamic ? take(w) : blockIdx.x;
  for (RingPosition turn;; turn.next(w.stages)) {
    const std::uint32_t after = !dynamic ? tile + gridDim.x : tile < w.tiles ? take(w) : tile;
    ptx::mbarrier_wait(&slots.empty[turn.slot], turn.parity ^ 1);  // passes at once on the first use of a slot
    slots.tiles[turn.slot] = tile;
    if (tile < w.tiles && w.copies) {
      engine.load(w, slots.memory + turn.slot * (w.tile_bytes / kVector), tile, &slots.full[turn.slot]);
    } else {
      ptx::mbarrier_arrive(&slots.full[turn.slot]);
    }
    if (tile >= w.tiles) break;
    tile = after;
  }
  if (dynamic) retire(w);
}

template <SmemType kType, unsigned kVectors, class Engine>
__device__ void consume_tiles(const SmemWork& w, const Slots& slots) {
  const ThreadSlice share(w, threadIdx.x);
  const bool leader = threadIdx.x % kWarp == 0;
  const auto arrive = [&](std::uint64_t* barrier) {
    __syncwarp();  // the leader arrives for the whole warp
    if (leader) ptx::mbarrier_arrive(barrier);
  };
  std::uint32_t sum = 0;
  for (RingPosition turn;; turn.next(w.stages)) {
    ptx::mbarrier_wait(&slots.full[turn.slot], turn.parity);
    // Only the leader reads the tile index, because only the leader's arrival allows the loader to overwrite it.
    const std::uint32_t tile = __shfl_sync(0xFFFFFFFF, leader ? slots.tiles[turn.slot] : 0, 0);
    if (tile >= w.tiles) break;
    const Place place = place_of(w, tile);
    if (threads_needed<Engine>(w, place)) {
      work_on_slot<kType, kVectors, Engine>(w, slots.memory + turn.slot * (w.tile_bytes / kVector), place, share, sum,
                                            [&] {
                                              if (!w.async_store) arrive(&slots.empty[turn.slot]);
                                            });
      if (w.async_store) ptx::fence_proxy_async();
    }
    if (w.async_store) arrive(&slots.worked[turn.slot]);
  }
  finish_sum(w, sum);
}

/// One thread stores all tiles. The store of a tile reads its slot while the thread waits for the next tile. If the
/// next tile is late, the thread releases the slot as soon as the store has read the slot.
template <class Engine>
__device__ void store_tiles(const SmemWork& w, const Engine& engine, const Slots& slots) {
  unsigned before = w.stages;  // slot that a store is still reading; w.stages: no slot
  const auto give_back = [&] {
    if (before < w.stages) ptx::mbarrier_arrive(&slots.empty[before]);
    before = w.stages;
  };
  for (RingPosition turn;; turn.next(w.stages)) {
    if (!ptx::mbarrier_ended(&slots.worked[turn.slot], turn.parity)) {
      ptx::bulk_wait_read<0>();
      give_back();
    }
    ptx::mbarrier_wait(&slots.full[turn.slot], turn.parity);
    const std::uint32_t tile = slots.tiles[turn.slot];
    if (tile >= w.tiles) break;
    ptx::mbarrier_wait(&slots.worked[turn.slot], turn.parity);
    if (w.copies) engine.store(w, slots.memory + turn.slot * (w.tile_bytes / kVector), tile);
    ptx::bulk_commit();
    ptx::bulk_wait_read<1>();
    give_back();
    before = turn.slot;
  }
  ptx::bulk_wait_read<0>();  // the stores must have read shared memory before the block ends and frees it
}

/// Initialises the barriers and runs each warp's role.
template <SmemType kType, unsigned kVectors>
__device__ void run_roles(const SmemWork& w, const TensorEngine<kType>& engine, uint4* memory) {
  __shared__ std::uint64_t full[kMaxStages];
  __shared__ std::uint64_t worked[kMaxStages];
  __shared__ std::uint64_t empty[kMaxStages];
  __shared__ std::uint32_t tiles[kMaxStages];
  const Slots slots{aligned_slots(memory), full, worked, empty, tiles};
  const unsigned consumers = w.threads / kWarp;
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < w.stages; ++s) {
      ptx::mbarrier_init(&full[s], 1);
      ptx::mbarrier_init(&worked[s], consumers);
      ptx::mbarrier_init(&empty[s], w.async_store ? 1 : consumers);
    }
    ptx::fence_mbarrier_init();
  }
  __syncthreads();
  const unsigned warp = threadIdx.x / kWarp;
  if (warp < consumers) {
    consume_tiles<kType, kVectors, TensorEngine<kType>>(w, slots);
  } else if (threadIdx.x % kWarp == 0) {
    if (warp == consumers) {
      load_tiles(w, engine, slots);
    } else {
      store_tiles(w, engine, slots);
    }
  }
}

template <SmemType kType, unsigned kVectors>
__global__ void __launch_bounds__(kMaxThreads + 2 * kWarp)
    specialized_kernel(const SmemWork w, const __grid_constant__ CUtensorMap in,
                       const __grid_constant__ CUtensorMap out) {
  extern __shared__ uint4 memory[];
  if constexpr (ptx::kHasBulkCopies) run_roles<kType, kVectors>(w, TensorEngine<kType>{&in, &out}, memory);
}

}  // namespace

const void* smem_tma_kernel(const SmemShape& shape, unsigned vectors) {
  return instantiation(shape.type, vectors, [&]<SmemType kType, unsigned kVectors>() {
    return shape.method == SmemMethod::tma ? entry(tma_kernel<kType, kVectors>)
                                           : entry(specialized_kernel<kType, kVectors>);
  });
}

}  // namespace xferbench::kernels
