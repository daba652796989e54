// Piece copy kernels. A warp copies a slice of a piece at a time: a slice is small, so that pieces of any size occupy
// all warps, and each lane issues four loads before its first store, because a load from host memory takes more than a
// microsecond. The bulk kernel needs one thread per block: it keeps a ring of shared memory full of bulk copies.
#include <cuda_runtime.h>

#include "device/load.cuh"
#include "kernels/pieces.hpp"
#include "kernels/smem/ptx.cuh"

namespace xferbench::kernels {

namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kThreadsOfCopy = 512;
constexpr unsigned kInFlight = 4;       // loads of a lane before its first store
constexpr unsigned kStages = 16;        // slices in shared memory of the bulk kernel
constexpr unsigned kStoresPending = 6;  // stages that may still be read by stores when the next load is issued

/// The slices of a list: every piece counts as the same number of slices, of which short pieces leave some empty.
struct Slices {
  const ListedPiece* list;
  std::size_t per_piece;
  std::size_t all;
};

/// Copies `bytes` bytes with vectors of type V. Both addresses have the same remainder by sizeof(V).
template <class V>
__device__ void copy_by(std::byte* to, const std::byte* from, std::size_t bytes, unsigned lane) {
  const std::size_t before = min(bytes, (sizeof(V) - reinterpret_cast<std::uintptr_t>(from) % sizeof(V)) % sizeof(V));
  if (lane < before) to[lane] = from[lane];
  auto* out = reinterpret_cast<V*>(to + before);
  const auto* in = reinterpret_cast<const V*>(from + before);
  const std::size_t vectors = (bytes - before) / sizeof(V);
  std::size_t i = lane;
  for (; i + (kInFlight - 1) * kWarp < vectors; i += kInFlight * kWarp) {
    V held[kInFlight];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) held[k] = in[i + k * kWarp];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) out[i + k * kWarp] = held[k];
  }
  for (; i < vectors; i += kWarp) out[i] = in[i];
  const std::size_t done = before + vectors * sizeof(V);
  if (done + lane < bytes) to[done + lane] = from[done + lane];
}

__global__ void __launch_bounds__(kThreadsOfCopy) copy_pieces(const Slices slices) {
  const std::size_t warps = static_cast<std::size_t>(gridDim.x) * (kThreadsOfCopy / kWarp);
  const std::size_t warp = static_cast<std::size_t>(blockIdx.x) * (kThreadsOfCopy / kWarp) + threadIdx.x / kWarp;
  const unsigned lane = threadIdx.x % kWarp;
  for (std::size_t i = warp; i < slices.all; i += warps) {
    const ListedPiece piece = slices.list[i / slices.per_piece];
    const std::size_t begin = i % slices.per_piece * PieceCopy::kThreadsSlice;
    if (begin >= piece.bytes) continue;
    const std::size_t bytes = min(PieceCopy::kThreadsSlice, piece.bytes - begin);
    std::byte* const to = piece.destination + begin;
    const std::byte* const from = piece.source + begin;
    const std::uintptr_t apart = reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from);
    if (apart % sizeof(uint4) == 0) {
      copy_by<uint4>(to, from, bytes, lane);
    } else if (apart % sizeof(uint2) == 0) {
      copy_by<uint2>(to, from, bytes, lane);
    } else if (apart % sizeof(unsigned) == 0) {
      copy_by<unsigned>(to, from, bytes, lane);
    } else {
      copy_by<std::byte>(to, from, bytes, lane);
    }
  }
}

/// Returns slice number `turn` of this block, as a piece; it is empty beyond the end of a short piece.
__device__ ListedPiece bulk_slice(const Slices& slices, std::size_t turn) {
  const std::size_t i = blockIdx.x + turn * gridDim.x;
  ListedPiece piece = slices.list[i / slices.per_piece];
  const std::size_t begin = i % slices.per_piece * PieceCopy::kBulkSlice;
  piece.bytes = begin < piece.bytes ? min(PieceCopy::kBulkSlice, piece.bytes - begin) : 0;
  piece.destination += begin;
  piece.source += begin;
  return piece;
}

/// One thread per block issues bulk copies; the copy hardware moves the data.
__global__ void __launch_bounds__(1) copy_pieces_bulk(const Slices slices) {
  extern __shared__ uint4 memory[];
  if constexpr (ptx::kHasBulkCopies) {
    __shared__ std::uint64_t arrived[kStages];
    auto* const ring = reinterpret_cast<std::byte*>(memory);
    for (unsigned s = 0; s < kStages; ++s) ptx::mbarrier_init(&arrived[s], 1);
    ptx::fence_mbarrier_init();
    const std::size_t turns = slices.all > blockIdx.x ? (slices.all - blockIdx.x - 1) / gridDim.x + 1 : 0;
    const auto load = [&](std::size_t turn) {
      const ListedPiece piece = bulk_slice(slices, turn);
      std::uint64_t* const barrier = &arrived[turn % kStages];
      const auto bytes = static_cast<unsigned>(piece.bytes);
      ptx::mbarrier_arrive_expect_tx(barrier, bytes);
      if (bytes > 0) ptx::bulk_load(ring + turn % kStages * PieceCopy::kBulkSlice, piece.source, bytes, barrier);
    };
    for (std::size_t turn = 0; turn < min(turns, static_cast<std::size_t>(kStages - kStoresPending)); ++turn)
      load(turn);
    for (std::size_t turn = 0; turn < turns; ++turn) {
      ptx::mbarrier_wait(&arrived[turn % kStages], turn / kStages % 2);
      const ListedPiece piece = bulk_slice(slices, turn);
      const std::byte* const from = ring + turn % kStages * PieceCopy::kBulkSlice;
      if (piece.bytes > 0) ptx::bulk_store(piece.destination, from, static_cast<unsigned>(piece.bytes));
      ptx::bulk_commit();
      // The stage of the next load was last read by the store kStoresPending turns ago.
      ptx::bulk_wait_read<kStoresPending>();
      if (turn + kStages - kStoresPending < turns) load(turn + kStages - kStoresPending);
    }
    ptx::bulk_wait_read<0>();  // hazard: the block's shared memory must not be freed while stores read it
  }
}

/// Reads and writes the whole buffer `rounds` times; every thread keeps to its own vectors.
__global__ void __launch_bounds__(512, 4) busy_memory(uint4* memory, std::size_t vectors, unsigned rounds) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += stride) {
      uint4 value = memory[i];
      asm volatile("" : "+r"(value.x));  // the compiler must not remove the store of the same value
      memory[i] = value;
    }
  }
}

/// Dependent multiply-adds in registers. The result is written only under a condition that is never true, which the
/// compiler cannot know.
__global__ void __launch_bounds__(512, 4) busy_fma(float* memory, std::size_t steps) {
  float value = static_cast<float>(threadIdx.x);
  for (std::size_t i = 0; i < steps; ++i) value = fmaf(value, 0.5F, 1.0F);
  if (value < -1.0F) memory[threadIdx.x] = value;
}

}  // namespace

void PieceCopy::preload() const {
  load(copy_pieces, copy_pieces_bulk);
  cudaFuncSetAttribute(copy_pieces_bulk, cudaFuncAttributeMaxDynamicSharedMemorySize, kStages * kBulkSlice);
}

void PieceCopy::launch(void* cuda_stream) const {
  const auto stream = static_cast<cudaStream_t>(cuda_stream);
  const bool bulk = engine_ == PieceEngine::bulk;
  const std::size_t slice = bulk ? kBulkSlice : kThreadsSlice;
  const std::size_t per_piece = (largest_ + slice - 1) / slice;
  const Slices slices{list_, per_piece, per_piece * part_.size()};
  if (bulk) {
    copy_pieces_bulk<<<blocks_, 1, kStages * kBulkSlice, stream>>>(slices);
  } else {
    copy_pieces<<<blocks_, kThreadsOfCopy, 0, stream>>>(slices);
  }
}

void BusyKernel::preload() const { load(busy_memory, busy_fma); }

void BusyKernel::launch(void* cuda_stream) const {
  const auto stream = static_cast<cudaStream_t>(cuda_stream);
  const unsigned blocks = 4 * multiprocessors_;
  if (bound_ == Bound::memory) {
    auto* const vectors = reinterpret_cast<uint4*>(memory_.data());
    busy_memory<<<blocks, kThreads, 0, stream>>>(vectors, memory_.size() / sizeof(uint4), rounds_);
  } else {
    busy_fma<<<blocks, kThreads, 0, stream>>>(reinterpret_cast<float*>(memory_.data()),
                                              static_cast<std::size_t>(rounds_) * kStep);
  }
}

}  // namespace xferbench::kernels
