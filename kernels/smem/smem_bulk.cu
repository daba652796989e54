// Bulk copies: one instruction copies a contiguous range of any multiple of 16 bytes without using threads or
// registers. A tile of an array takes one copy; a tile of a matrix takes one copy per row. From sm_90. [PTX ISA,
// cp.async.bulk; CUDA C++ Programming Guide, Tensor Memory Accelerator]
#include "kernels/smem/smem_async.cuh"
#include "kernels/smem/smem_entries.hpp"

namespace xferbench::kernels {

namespace {

using namespace tile;

/// The contiguous ranges of memory that make up a tile: `count` ranges with `bytes` bytes of payload each.
struct Pieces {
  std::uint32_t count;
  std::uint32_t bytes;
};

__device__ Pieces pieces_of(const SmemWork& w, const Place& place) {
  const std::uint32_t width = 1U << w.width_log2;
  if (w.is_array) {
    const std::uint64_t end = (w.rows - 1) * w.pitch + w.last_row_bytes;
    return {1, static_cast<std::uint32_t>(min(static_cast<std::uint64_t>(w.tile_bytes), end - place.offset))};
  }
  return {min(w.tile_rows, w.rows - place.row), min(width, w.row_bytes - place.column)};
}

struct BulkEngine {
  /// Rounds the size of each range up to 16 bytes. Rows begin at multiples of 16, so the extra bytes are padding.
  __device__ void load(const SmemWork& w, uint4* slot, std::uint32_t tile, std::uint64_t* barrier) const {
    const Place place = place_of(w, tile);
    const Pieces pieces = pieces_of(w, place);
    const std::uint32_t bytes = (pieces.bytes + kVector - 1) / kVector * kVector;
    if (threadIdx.x == 0) ptx::mbarrier_arrive_expect_tx(barrier, pieces.count * bytes);
    __syncwarp();  // hazard: the bytes must be announced to the barrier before copies deliver them
    auto* to = reinterpret_cast<std::byte*>(slot);
    for (std::uint32_t i = threadIdx.x; i < pieces.count; i += kWarp) {
      ptx::bulk_load(to + (i << w.width_log2), w.in + place.offset + i * w.pitch, bytes, barrier);
    }
  }

  /// Bulk stores write whole vectors only. Ordinary stores write the rest of a range, so that padding stays unchanged.
  __device__ void store(const SmemWork& w, const uint4* slot, std::uint32_t tile) const {
    const Place place = place_of(w, tile);
    const Pieces pieces = pieces_of(w, place);
    const std::uint32_t rest = pieces.bytes % kVector;
    const std::uint32_t bytes = pieces.bytes - rest;
    const auto* from = reinterpret_cast<const std::byte*>(slot);
    for (std::uint32_t i = threadIdx.x; i < pieces.count; i += kWarp) {
      std::byte* to = w.out + place.offset + i * w.pitch;
      const std::byte* piece = from + (i << w.width_log2);
      if (bytes > 0) ptx::bulk_store(to, piece, bytes);
      if (rest > 0) store_part(to + bytes, *reinterpret_cast<const uint4*>(piece + bytes), rest);
    }
  }

  __device__ static std::uint32_t place(const SmemWork&, std::uint32_t index) { return index; }
  __device__ static bool brings(const SmemWork&, std::uint32_t) { return true; }
  __device__ static bool takes(const SmemWork&, std::uint32_t, std::uint32_t) { return true; }
  __device__ static bool takes_all(const SmemWork&, const Place&) { return true; }
};

template <SmemType kType, unsigned kVectors>
__global__ void __launch_bounds__(kMaxThreads, kLeastBlocks<kVectors>) bulk_kernel(const SmemWork w) {
  extern __shared__ uint4 memory[];
  if constexpr (ptx::kHasBulkCopies) run_ring<kType, kVectors>(w, BulkEngine{}, memory);
}

}  // namespace

const void* smem_bulk_kernel(const SmemShape& shape, unsigned vectors) {
  return instantiation(shape.type, vectors,
                       [&]<SmemType kType, unsigned kVectors>() { return entry(bulk_kernel<kType, kVectors>); });
}

}  // namespace xferbench::kernels
