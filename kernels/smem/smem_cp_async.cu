// cp.async: asynchronous copies to shared memory that bypass the registers. A ring of `stages` tiles: while one tile is
// processed, the loads of the next stages - 1 tiles are in flight. From sm_80.
//
// Synchronization: after cp_async_wait the thread's own copies have arrived. After the next barrier, the copies of all
// threads have arrived. At this barrier all threads have also finished the previous tile, whose slot may be refilled.
// So one barrier per tile is enough. [PTX ISA, cp.async.wait_group; CUDA C++ Programming Guide, Asynchronous Data
// Copies]
#include "kernels/smem/ptx.cuh"
#include "kernels/smem/smem_entries.hpp"
#include "kernels/smem/smem_tile.cuh"

namespace xferbench::kernels {

namespace {

using namespace tile;

/// Issues this thread's copies of a tile, each of kBytes bytes. Neighbouring threads copy neighbouring bytes.
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
    // If `valid` is 0, nothing is read, but the address should still be valid.
    const std::uint64_t offset = valid == 0 ? 0 : place.offset + row * w.pitch + column;
    ptx::cp_async<kBytes>(to + at, w.in + offset, valid);
  }
}

/// Waits until at most `groups` commit groups are pending. The PTX instruction needs a compile-time constant.
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
  const unsigned ahead = w.stages - 1;  // tiles in flight while one is processed
  Feed feed(w, ring, w.stages > 2 ? w.stages - 2 : 0);
  const ThreadSlice theirs(w, neighbour(w));
  const unsigned slot_vectors = w.tile_bytes / kVector;
  for (unsigned k = 0; k < ahead; ++k) {
    load_tile<kBytes>(w, slots + k * slot_vectors, feed.at(k));
    ptx::cp_async_commit();  // commits even an empty group, because the wait counts groups
  }
  unsigned slot = 0;
  unsigned free = ahead;  // slot of the previous tile, which is refilled next
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
    if (ahead == 0) __syncthreads();  // with a single slot: all threads must be done before it is refilled
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
