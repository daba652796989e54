// Tile kernels with ordinary loads. Overlap comes only from other warps of the multiprocessor, except in prefetch,
// where a thread's next loads are in flight while it computes.
#include "kernels/smem/smem_entries.hpp"
#include "kernels/smem/smem_tile.cuh"

namespace xferbench::kernels {

namespace {

using namespace tile;

/// Moves data from global memory to registers and back, without shared memory.
template <SmemType kType, unsigned kVectors>
__global__ void __launch_bounds__(kMaxThreads) direct_kernel(const SmemWork w) {
  __shared__ std::uint32_t ring[Feed::kRing];
  Feed feed(w, ring, 0);
  const ThreadSlice share(w, threadIdx.x);
  std::uint32_t sum = 0;
  std::uint32_t tile;
  for (unsigned k = 0; (tile = feed.at(k)) < w.tiles; ++k) {
    const Place place = place_of(w, tile);
    for (unsigned group = 0; group < w.groups; ++group) {
      uint4 vectors[kVectors];
      load_all(w, place, share, group * kVectors, vectors);
      compute<kType>(vectors, w);
      emit_all(w, place, share, group * kVectors, vectors, sum);
    }
    if (w.queue != nullptr) {  // the barrier is only needed to publish the next tile
      feed.publish(k);
      __syncthreads();
    }
  }
  finish_sum(w, sum);
  feed.finish();
}

/// For each tile: load, store to shared memory, barrier, work, barrier. Nothing overlaps within a block: no thread
/// computes between the first load and the first barrier. The second barrier keeps the next tile from overwriting this
/// one.
template <SmemType kType, unsigned kVectors>
__global__ void __launch_bounds__(kMaxThreads) sync_kernel(const SmemWork w) {
  extern __shared__ uint4 slot[];
  __shared__ std::uint32_t ring[Feed::kRing];
  Feed feed(w, ring, 0);
  const ThreadSlice mine(w, threadIdx.x);
  const ThreadSlice theirs(w, neighbour(w));
  std::uint32_t sum = 0;
  std::uint32_t tile;
  for (unsigned k = 0; (tile = feed.at(k)) < w.tiles; ++k) {
    const Place place = place_of(w, tile);
    for (unsigned group = 0; group < w.groups; ++group) {
      uint4 vectors[kVectors];
      load_all(w, place, mine, group * kVectors, vectors);
#pragma unroll
      for (unsigned i = 0; i < kVectors; ++i) slot[mine.index(w, group * kVectors + i)] = vectors[i];
    }
    __syncthreads();
    work_on_shared<kType, kVectors>(w, slot, place, theirs, sum);
    feed.publish(k);
    __syncthreads();
  }
  finish_sum(w, sum);
  feed.finish();
}

/// Like sync_kernel, but loads the next tile into registers before it processes the current tile. The loads are in
/// flight until the next iteration stores their data to shared memory. Requires tiles of kVectors vectors per thread.
template <SmemType kType, unsigned kVectors>
__global__ void __launch_bounds__(kMaxThreads) prefetch_kernel(const SmemWork w) {
  extern __shared__ uint4 slot[];
  __shared__ std::uint32_t ring[Feed::kRing];
  Feed feed(w, ring, 0);
  const ThreadSlice mine(w, threadIdx.x);
  const ThreadSlice theirs(w, neighbour(w));
  uint4 next[kVectors] = {};
  if (feed.at(0) < w.tiles) load_all(w, place_of(w, feed.at(0)), mine, 0, next);
  std::uint32_t sum = 0;
  std::uint32_t tile;
  for (unsigned k = 0; (tile = feed.at(k)) < w.tiles; ++k) {
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) slot[mine.index(w, i)] = next[i];
    feed.publish(k);
    __syncthreads();
    if (const std::uint32_t after = feed.at(k + 1); after < w.tiles) load_all(w, place_of(w, after), mine, 0, next);
    work_on_shared<kType, kVectors>(w, slot, place_of(w, tile), theirs, sum);
    __syncthreads();
  }
  finish_sum(w, sum);
  feed.finish();
}

}  // namespace

const void* smem_plain_kernel(const SmemShape& shape, unsigned vectors) {
  return instantiation(shape.type, vectors, [&]<SmemType kType, unsigned kVectors>() {
    switch (shape.method) {
      case SmemMethod::sync: return entry(sync_kernel<kType, kVectors>);
      case SmemMethod::prefetch: return entry(prefetch_kernel<kType, kVectors>);
      default: return entry(direct_kernel<kType, kVectors>);
    }
  });
}

}  // namespace xferbench::kernels
