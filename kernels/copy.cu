// Copy kernels. Inside a GPU, one 16-byte access per thread with one thread per vector reaches the rate of the copy
// engine (see elementwise.cu). Over the link fewer than a hundred blocks are enough, and each thread issues several
// loads before its first store, because a load from host memory takes more than a microsecond.
#include <algorithm>

#include "device/load.cuh"
#include "kernels/copy.hpp"

namespace xferbench::kernels {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kInFlight = 4;  // loads per thread before the first store
// Numbers of blocks for copies over the link. If only one direction runs, 16 blocks saturate the link. If both
// directions run, more requests in flight slow each other down (sweep in docs/lab/transfers.md).
constexpr unsigned kReadBlocks = 66;
constexpr unsigned kWriteBlocks = 33;
// Between GPUs the plain kernel with the largest blocks was the fastest for reads and writes, in a sweep over load
// instructions, loads in flight, threads and blocks (docs/lab/several-gpus.md).
constexpr unsigned kPeerThreads = 1024;
using Vector = uint4;

__device__ std::size_t thread_index() { return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

/// Copies the bytes after the last whole vector: the first threads of the grid copy one byte each.
__device__ void copy_tail(std::byte* destination, const std::byte* source, std::size_t bytes) {
  const std::size_t i = bytes / sizeof(Vector) * sizeof(Vector) + thread_index();
  if (i < bytes) destination[i] = source[i];
}

template <unsigned threads>
__global__ void __launch_bounds__(threads)
    copy_between_memories(std::byte* destination, const std::byte* source, std::size_t bytes) {
  const std::size_t i = thread_index();
  if (i < bytes / sizeof(Vector))
    reinterpret_cast<Vector*>(destination)[i] = reinterpret_cast<const Vector*>(source)[i];
  copy_tail(destination, source, bytes);
}

__global__ void __launch_bounds__(kThreads)
    copy_over_link(std::byte* destination, const std::byte* source, std::size_t bytes) {
  auto* out = reinterpret_cast<Vector*>(destination);
  const auto* in = reinterpret_cast<const Vector*>(source);
  const std::size_t vectors = bytes / sizeof(Vector);
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kThreads;
  std::size_t i = thread_index();
  for (; i + (kInFlight - 1) * stride < vectors; i += kInFlight * stride) {
    Vector held[kInFlight];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) held[k] = in[i + k * stride];
#pragma unroll
    for (unsigned k = 0; k < kInFlight; ++k) out[i + k * stride] = held[k];
  }
  for (; i < vectors; i += stride) out[i] = in[i];
  copy_tail(destination, source, bytes);
}

/// For addresses that are not 16-byte aligned: copies byte by byte.
__global__ void __launch_bounds__(kThreads)
    copy_bytes(std::byte* destination, const std::byte* source, std::size_t bytes) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kThreads;
  for (std::size_t i = thread_index(); i < bytes; i += stride) destination[i] = source[i];
}

bool aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Vector) == 0; }

unsigned blocks_for(std::size_t all, unsigned threads = kThreads) {
  return static_cast<unsigned>((all + threads - 1) / threads);
}

}  // namespace

void MemoryCopy::preload() const {
  load(copy_between_memories<kThreads>, copy_between_memories<kPeerThreads>, copy_over_link, copy_bytes);
}

void MemoryCopy::launch(void* cuda_stream) const {
  const auto stream = static_cast<cudaStream_t>(cuda_stream);
  std::byte* const destination = copy_.destination;
  const std::byte* const source = copy_.source;
  const std::size_t bytes = copy_.bytes;
  const std::size_t vectors = bytes / sizeof(Vector) + 1;  // + 1, so that a tail alone has a block, too
  if (!aligned(destination) || !aligned(source)) {
    copy_bytes<<<kReadBlocks, kThreads, 0, stream>>>(destination, source, bytes);
  } else if (copy_.direction == Direction::d2d) {
    copy_between_memories<kThreads><<<blocks_for(vectors), kThreads, 0, stream>>>(destination, source, bytes);
  } else if (copy_.direction == Direction::p2p) {
    const unsigned blocks = blocks_for(vectors, kPeerThreads);
    copy_between_memories<kPeerThreads><<<blocks, kPeerThreads, 0, stream>>>(destination, source, bytes);
  } else {
    const unsigned most = copy_.direction == Direction::h2d ? kReadBlocks : kWriteBlocks;
    const unsigned blocks = std::min(most, blocks_for((vectors + kInFlight - 1) / kInFlight));
    copy_over_link<<<blocks, kThreads, 0, stream>>>(destination, source, bytes);
  }
}

}  // namespace xferbench::kernels
