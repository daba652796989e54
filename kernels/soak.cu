// Soak kernels. Each thread makes one 16-byte access, which reaches the full memory rate, as in elementwise.cu.

#include "device/load.cuh"
#include "kernels/soak.hpp"

namespace xferbench::kernels {

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kLanes = 4;  // 32-bit words per 16-byte access
using Vector = uint4;

__device__ std::size_t thread_index() { return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; }

/// Adds one wrong word to `found`. Errors are rare, so this is not optimized.
__device__ void note(SoakErrors& found, std::uint64_t index, std::uint32_t expected, std::uint32_t is) {
  const unsigned long long before = atomicAdd(&found.words, 1ULL);
  if (before < SoakErrors::kExamples) found.examples[before] = {index, expected, is};
  atomicAdd(&found.bytes, static_cast<unsigned long long>(differing_bytes(expected ^ is)));
  atomicAdd(&found.bits, static_cast<unsigned long long>(__popc(expected ^ is)));
  atomicMax(&found.not_first, static_cast<unsigned long long>(~index));
  atomicMax(&found.last, static_cast<unsigned long long>(index));
}

__global__ void __launch_bounds__(kThreads)
    check(const Vector* data, std::size_t vectors, SoakWords words, SoakErrors* found) {
  const std::size_t i = thread_index();
  if (i >= vectors) return;
  const Vector vector = data[i];
  const std::uint32_t is[kLanes] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t index = i * kLanes + lane;
    const std::uint32_t expected = words.at(index);
    if (is[lane] != expected) note(*found, index, expected, is[lane]);
  }
}

// Number of mixing steps per word, which are followed by as many inverse steps. With 4 steps, the kernel is as fast as
// a copy inside the GPU on an H200, within 1 % (docs/lab/soak.md): it uses the full memory rate, and the arithmetic
// adds load.
constexpr unsigned kSteps = 4;

/// Multiplies x by `factor` and then by `inverse`; their product is 1 (mod 2^32). Both are kernel arguments, because a
/// compiler that knew their values would remove both steps.
__device__ std::uint32_t multiply_and_undo(std::uint32_t x, std::uint32_t factor, std::uint32_t inverse) {
#pragma unroll
  for (unsigned step = 0; step < kSteps; ++step) x = (x ^ (x >> 16)) * factor;
#pragma unroll
  for (unsigned step = 0; step < kSteps; ++step) {
    x *= inverse;
    x ^= x >> 16;  // this xor is its own inverse
  }
  return x;
}

__global__ void __launch_bounds__(kThreads)
    work(Vector* destination, const Vector* source, std::size_t vectors, std::uint32_t factor, std::uint32_t inverse) {
  const std::size_t i = thread_index();
  if (i >= vectors) return;
  Vector v = source[i];
  v.x = multiply_and_undo(v.x, factor, inverse);
  v.y = multiply_and_undo(v.y, factor, inverse);
  v.z = multiply_and_undo(v.z, factor, inverse);
  v.w = multiply_and_undo(v.w, factor, inverse);
  destination[i] = v;
}

constexpr std::uint32_t kFactor = 0x9E3779B1U;

/// Returns the inverse modulo 2^32, by Newton's method; each step doubles the number of correct bits.
constexpr std::uint32_t inverse_of(std::uint32_t odd) {
  std::uint32_t inverse = odd;  // its 3 lowest bits are correct
  for (unsigned bits = 3; bits < 32; bits *= 2) inverse *= 2 - odd * inverse;
  return inverse;
}
static_assert(kFactor * inverse_of(kFactor) == 1);

unsigned blocks_for(std::size_t vectors) { return static_cast<unsigned>((vectors + kThreads - 1) / kThreads); }

}  // namespace

void SoakCheck::preload() const { load(check); }

void SoakCheck::launch(void* cuda_stream) const {
  const std::size_t vectors = args_.bytes / sizeof(Vector);
  check<<<blocks_for(vectors), kThreads, 0, static_cast<cudaStream_t>(cuda_stream)>>>(
      reinterpret_cast<const Vector*>(args_.data), vectors, args_.words, args_.found);
}

void SoakWork::preload() const { load(work); }

void SoakWork::launch(void* cuda_stream) const {
  const std::size_t vectors = bytes_ / sizeof(Vector);
  work<<<blocks_for(vectors), kThreads, 0, static_cast<cudaStream_t>(cuda_stream)>>>(
      reinterpret_cast<Vector*>(destination_), reinterpret_cast<const Vector*>(source_), vectors, kFactor,
      inverse_of(kFactor));
}

}  // namespace xferbench::kernels
