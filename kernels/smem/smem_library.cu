// Asynchronous copies through the CUDA libraries: cuda::pipeline with cuda::memcpy_async, and
// cooperative_groups::memcpy_async. Both compile to cp.async if source, destination and size are aligned. The ring of
// slots works as in smem_cp_async.cu. From sm_80. [CUDA C++ Programming Guide, Asynchronous Data Copies]
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cuda/pipeline>

#include "kernels/smem/smem_entries.hpp"
#include "kernels/smem/smem_tile.cuh"

namespace xferbench::kernels {

namespace {

namespace cg = cooperative_groups;
using namespace tile;

using Pipeline = cuda::pipeline<cuda::thread_scope_block>;

/// Loads this thread's vectors of a tile as one pipeline stage. After the last tile the stage is empty.
__device__ void load_stage(const SmemWork& w, Pipeline& pipeline, uint4* slot, std::uint32_t tile,
                           const ThreadSlice& share) {
  pipeline.producer_acquire();  // waits until all threads have released the slot
  if (w.copies && tile < w.tiles) {
    const Place place = place_of(w, tile);
    for (unsigned n = 0; n * w.threads * kVector < w.tile_bytes; ++n) {
      const std::uint32_t valid = share.valid(w, place, n);
      auto* to = reinterpret_cast<std::byte*>(slot + share.index(w, n));
      const std::byte* from = w.in + place.offset + share.offset(w, n);
      if (valid == kVector) {
        cuda::memcpy_async(to, from, cuda::aligned_size_t<kVector>(kVector), pipeline);
      } else if (valid > 0) {
        cuda::memcpy_async(to, from, valid, pipeline);
      }
    }
  }
  pipeline.producer_commit();
}

/// All threads are producers and consumers. A tile may be read after consumer_wait. Its slot may be refilled when all
/// threads have called consumer_release; producer_acquire waits for that.
template <SmemType kType, unsigned kVectors, unsigned kStages>
__global__ void __launch_bounds__(kMaxThreads) pipeline_kernel(const SmemWork w) {
  extern __shared__ uint4 slots[];
  __shared__ std::uint32_t ring[Feed::kRing];
// make_pipeline initialises `state`; the examples of the CUDA guide suppress this warning, too.
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  Pipeline pipeline = cuda::make_pipeline(cg::this_thread_block(), &state);
  Feed feed(w, ring, kStages - 1);
  const ThreadSlice mine(w, threadIdx.x);
  const ThreadSlice theirs(w, neighbour(w));
  const unsigned slot_vectors = w.tile_bytes / kVector;
  for (unsigned k = 0; k < kStages; ++k) load_stage(w, pipeline, slots + k * slot_vectors, feed.at(k), mine);
  unsigned slot = 0;
  std::uint32_t sum = 0;
  std::uint32_t tile;
  for (unsigned k = 0; (tile = feed.at(k)) < w.tiles; ++k) {
    pipeline.consumer_wait();
    work_on_shared<kType, kVectors>(w, slots + slot * slot_vectors, place_of(w, tile), theirs, sum);
    pipeline.consumer_release();
    if (w.queue != nullptr) {  // the barrier is only needed to publish the next tile
      feed.publish(k);
      __syncthreads();
    }
    load_stage(w, pipeline, slots + slot * slot_vectors, feed.at(k + kStages), mine);
    if (++slot == kStages) slot = 0;
  }
  for (unsigned k = 0; k < kStages; ++k) {  // drain the empty stages after the last tile
    pipeline.consumer_wait();
    pipeline.consumer_release();
  }
  finish_sum(w, sum);
  feed.finish();
}

/// Copies a tile with all threads of the block. cg::wait_prior counts each call of cg::memcpy_async as one group. If a
/// range is not a whole number of vectors, cg::memcpy_async uses ordinary loads and stores.
__device__ void load_tile(const SmemWork& w, cg::thread_block& block, uint4* slot, std::uint32_t tile) {
  if (!w.copies || tile >= w.tiles) return;
  const Place place = place_of(w, tile);
  auto* to = reinterpret_cast<std::byte*>(slot);
  const std::uint32_t width = 1U << w.width_log2;
  const auto copy = [&](std::uint32_t at, const std::byte* from, std::uint32_t whole, std::uint32_t valid) {
    if (valid == whole) {
      cg::memcpy_async(block, to + at, from, cuda::aligned_size_t<kVector>(whole));
    } else {
      cg::memcpy_async(block, to + at, from, valid);
    }
  };
  if (w.is_array) {
    const std::uint64_t end = (w.rows - 1) * w.pitch + w.last_row_bytes;
    const std::uint64_t valid = min(static_cast<std::uint64_t>(w.tile_bytes), end - place.offset);
    copy(0, w.in + place.offset, w.tile_bytes, static_cast<std::uint32_t>(valid));
    return;
  }
  for (std::uint32_t row = 0; row < w.tile_rows; ++row) {
    const std::uint32_t valid = valid_bytes(w, place.row + row, place.column, width);
    copy(row << w.width_log2, w.in + (valid == 0 ? 0 : place.offset + row * w.pitch), width, valid);
  }
}

/// Waits until at most `groups` of the block's copy calls are pending, then synchronizes the block.
/// cg::wait_prior needs a compile-time constant.
__device__ void wait_for_all_but(const cg::thread_block& block, unsigned groups) {
  switch (groups) {
    case 0: return cg::wait_prior<0>(block);
    case 1: return cg::wait_prior<1>(block);
    case 2: return cg::wait_prior<2>(block);
    case 3: return cg::wait_prior<3>(block);
    case 4: return cg::wait_prior<4>(block);
    case 5: return cg::wait_prior<5>(block);
    case 6: return cg::wait_prior<6>(block);
    default: break;
  }
  static_assert(kSmemMaxCgCalls == 24);
  if (groups >= 24) return cg::wait_prior<24>(block);
  if (groups >= 16) return cg::wait_prior<16>(block);
  if (groups >= 12) return cg::wait_prior<12>(block);
  return cg::wait_prior<7>(block);
}

/// The ring of smem_cp_async.cu with cooperative-groups copies and waits. Without the launch bound of one block per
/// multiprocessor, the assembler would allow so few registers that the kernel spills.
template <SmemType kType, unsigned kVectors>
__global__ void __launch_bounds__(kMaxThreads, 1) cg_kernel(const SmemWork w) {
  extern __shared__ uint4 slots[];
  __shared__ std::uint32_t ring[Feed::kRing];
  cg::thread_block block = cg::this_thread_block();
  const unsigned ahead = w.stages - 1;
  const unsigned calls = w.is_array ? 1 : w.tile_rows;  // copy calls per tile
  Feed feed(w, ring, w.stages > 2 ? w.stages - 2 : 0);
  const ThreadSlice theirs(w, neighbour(w));
  const unsigned slot_vectors = w.tile_bytes / kVector;
  for (unsigned k = 0; k < ahead; ++k) load_tile(w, block, slots + k * slot_vectors, feed.at(k));
  unsigned slot = 0;
  unsigned free = ahead;
  std::uint32_t sum = 0;
  std::uint32_t tile;
  for (unsigned k = 0; (tile = feed.at(k)) < w.tiles; ++k) {
    if (ahead == 0) load_tile(w, block, slots, tile);
    // After the last tile no more copies are issued, so the number of pending calls no longer tells whether this tile
    // has arrived. Then the block waits for all calls.
    const bool full = feed.at(k + (ahead > 0 ? ahead - 1 : 0)) < w.tiles;
    feed.publish(k);
    wait_for_all_but(block, ahead == 0 || !full ? 0 : (ahead - 1) * calls);
    if (ahead > 0) {
      load_tile(w, block, slots + free * slot_vectors, feed.at(k + ahead));
      free = slot;
    }
    work_on_shared<kType, kVectors>(w, slots + slot * slot_vectors, place_of(w, tile), theirs, sum);
    if (ahead == 0) block.sync();
    if (++slot == w.stages) slot = 0;
  }
  finish_sum(w, sum);
  feed.finish();
}

/// Returns the kernel for a stage count, which is a template parameter. To limit the number of kernels, none is
/// compiled for 2 vectors.
template <SmemType kType, unsigned kVectors>
const void* pipeline_entry(unsigned stages) {
  switch (stages) {
    case 1: return entry(pipeline_kernel<kType, kVectors, 1>);
    case 2: return entry(pipeline_kernel<kType, kVectors, 2>);
    case 3: return entry(pipeline_kernel<kType, kVectors, 3>);
    case 4: return entry(pipeline_kernel<kType, kVectors, 4>);
    case 5: return entry(pipeline_kernel<kType, kVectors, 5>);
    case 6: return entry(pipeline_kernel<kType, kVectors, 6>);
    case 7: return entry(pipeline_kernel<kType, kVectors, 7>);
    default: return entry(pipeline_kernel<kType, kVectors, 8>);
  }
}

}  // namespace

const void* smem_library_kernel(const SmemShape& shape, unsigned vectors) {
  return instantiation(shape.type, vectors, [&]<SmemType kType, unsigned kVectors>() -> const void* {
    if (shape.method == SmemMethod::cg) return entry(cg_kernel<kType, kVectors>);
    if constexpr (kVectors == 2) {
      return nullptr;
    } else {
      return pipeline_entry<kType, kVectors>(shape.stages);
    }
  });
}

}  // namespace xferbench::kernels
