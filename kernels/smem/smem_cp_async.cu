// cp.async: copies to shared memory that a thread issues and does not wait for, past the registers. A ring of `stages`
// tiles; while a tile is worked on, the loads of stages - 1 tiles behind it are on their way. From sm_80.
//
// The rule for the ring: a thread's own copies have arrived after cp_async_wait; those of the others after the barrier
// behind it, and by the same barrier everybody is done with the tile before, whose place may then be filled again. So
// one barrier a tile is enough. [PTX ISA, cp.async.wait_group; CUDA C++ Programming Guide, Asynchronous Data Copies]
#include "kernels/smem/ptx.cuh"
#include "kernels/smem/smem_entries.hpp"
#include "kernels/smem/smem_tile.cuh"

namespace xferbench::kernels {

namespace {

using namespace tile;

/// Issues this thread's copies of the tile, in pieces of kBytes, neighbouring threads neighbouring pieces.
template <unsigned kBytes>
__device__ void load_tile(const SmemWork& w, uint4* slot, std::uint32_t tile) {
  if (!w.copies || tile >= w.tiles) return;
  const Place place = place_of(w, tile);
  auto* to = reinterpret_cast<std::byte*>(slot);
#pragma unroll 4
  for (std::uint32_t at = threadIdx.x * kBytes; at < w.tile_bytes; at += w.threads * kBytes) {
    const std::uint32_t row = at >> w.width_log2;
    const std::uint32_t column = at & ((1U << w.width_log2) - 1);
    const std::uint32_t valid = place.whole ? kBytes : valid_bytes(w, place.row + row, place.column + column, kBytes);
    // Nothing is read of an address that brings no byte, but it should still be one.
    const std::uint64_t offset = valid == 0 ? 0 : place.offset + row * w.pitch + column;
    ptx::cp_async<kBytes>(to + at, w.in + offset, valid);
  }
}

/// Waits until at most `groups` groups are on their way; the instruction wants a constant.
__device__ void wait_for_all_but(unsigned groups) {
  switch (groups) {
    case 0: return ptx::cp_async_wait<0>();
    case 1: return ptx::cp_async_wait<1>();
    case 2: return ptx::cp_async_wait<2>();
    case 3: return ptx::cp_async_wait<3>();
    case 4: return ptx::cp_async_wait<4>();
    case 5: return ptx::cp_async_wait<5>();
    default: return ptx::cp_async_wait<6>();
  }
}

template <SmemType kType, unsigned kVectors, unsigned kBytes>
__global__ void __launch_bounds__(kMaxThreads) cp_async_kernel(const SmemWork w) {
  extern __shared__ uint4 slots[];
  __shared__ std::uint32_t ring[Feed::kRing];
  const unsigned ahead = w.stages - 1;  // tiles on their way while one is worked on
  Feed feed(w, ring, w.stages > 2 ? w.stages - 2 : 0);
  const Share theirs(w, neighbour(w));
  const unsigned slot_vectors = w.tile_bytes / kVector;
  for (unsigned k = 0; k < ahead; ++k) {
    load_tile<kBytes>(w, slots + k * slot_vectors, feed.at(k));
    ptx::cp_async_commit();  // empty groups too: the wait counts them
  }
  unsigned slot = 0;
  unsigned free = ahead;  // the slot that was worked on last
  std::uint32_t sum = 0;
  std::uint32_t tile;
  for (unsigned k = 0; (tile = feed.at(k)) < w.tiles; ++k) {
    if (ahead == 0) {
      load_tile<kBytes>(w, slots, tile);
      ptx::cp_async_commit();
    }
    wait_for_all_but(ahead == 0 ? 0 : ahead - 1);
    feed.publish(k);
    __syncthreads();
    if (ahead > 0) {
      load_tile<kBytes>(w, slots + free * slot_vectors, feed.at(k + ahead));
      ptx::cp_async_commit();
      free = slot;
    }
    work_on_shared<kType, kVectors>(w, slots + slot * slot_vectors, place_of(w, tile), theirs, sum);
    if (ahead == 0) __syncthreads();  // the only slot: everybody must be done before it is filled again
    if (++slot == w.stages) slot = 0;
  }
  finish_sum(w, sum);
  feed.finish();
}

}  // namespace

const void* smem_cp_async_kernel(const SmemShape& shape, unsigned vectors) {
  return instantiation(shape.type, vectors, [&]<SmemType kType, unsigned kVectors>() {
    switch (shape.copy_bytes) {
      case 4: return entry(cp_async_kernel<kType, kVectors, 4>);
      case 8: return entry(cp_async_kernel<kType, kVectors, 8>);
      default: return entry(cp_async_kernel<kType, kVectors, 16>);
    }
  });
}

}  // namespace xferbench::kernels
