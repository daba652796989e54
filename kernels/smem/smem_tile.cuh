// Code shared by all tile kernels: position of a tile, the 16-byte vectors of a thread, the arithmetic, and the
// assignment of tiles to blocks. The kernels' own files contain only the path of the data from global memory to
// registers.
//
// A tile is contiguous in shared memory, vector i at byte 16 i. Thread t of T works on the vectors t, t + T, t + 2 T,
// ..., kVectors of them at a time, so that neighbouring threads access neighbouring memory.
#pragma once

#include <cuda_fp16.h>

#include "kernels/smem/smem.hpp"
#include "kernels/smem/smem_work.hpp"

namespace xferbench::kernels::tile {

constexpr unsigned kWarp = 32;
constexpr unsigned kVector = 16;  // bytes of the widest access of a thread
constexpr unsigned kMaxThreads = kSmemMaxThreads;
constexpr unsigned kMaxStages = kSmemMaxStages;

// --- Position of a tile.

struct Place {
  std::uint32_t row;     // first row of the tile, in the matrix
  std::uint32_t column;  // first byte of the tile, in its row
  std::uint64_t offset;  // byte offset of the tile's first byte in the payload's memory
  bool whole;            // the tile lies completely inside of the matrix
};

__device__ inline Place place_of(const SmemWork& w, std::uint32_t tile) {
  std::uint32_t down = tile;
  std::uint32_t right = 0;
  if (w.across != 1) {
    down = tile / w.across;
    right = tile - down * w.across;
  }
  Place place;
  place.row = down * w.tile_rows;
  place.column = right << w.width_log2;
  place.offset = place.row * w.pitch + place.column;
  const std::uint32_t whole_rows = w.last_row_bytes == w.row_bytes ? w.rows : w.rows - 1;
  place.whole = place.row + w.tile_rows <= whole_rows && place.column + (1U << w.width_log2) <= w.row_bytes;
  return place;
}

/// Returns how many of the next `most` bytes at this row and byte column belong to the payload.
__device__ inline std::uint32_t valid_bytes(const SmemWork& w, std::uint32_t row, std::uint32_t column,
                                            std::uint32_t most) {
  if (row >= w.rows) return 0;
  const std::uint32_t end = row + 1 == w.rows ? w.last_row_bytes : w.row_bytes;
  return column >= end ? 0 : min(most, end - column);
}

/// Whether `row` is the last row of an array and shorter than the others.
__device__ inline bool is_partial(const SmemWork& w, std::uint32_t row) {
  return row + 1 == w.rows && w.last_row_bytes != w.row_bytes;
}

// --- Vectors of a thread.

/// The vectors of a tile that one thread works on. `first`: index, within the tile, of the thread's first vector.
class ThreadSlice {
 public:
  __device__ ThreadSlice(const SmemWork& w, std::uint32_t first)
      : first_(first),
        row_((first * kVector) >> w.width_log2),
        column_((first * kVector) & ((1U << w.width_log2) - 1)),
        offset_(row_ * w.pitch + column_) {}

  /// Returns the index in the tile of vector `n` of this slice.
  __device__ std::uint32_t index(const SmemWork& w, unsigned n) const { return first_ + n * w.threads; }
  __device__ std::uint64_t offset(const SmemWork& w, unsigned n) const { return offset_ + n * w.step; }
  __device__ std::uint32_t row(const SmemWork& w, unsigned n) const {
    return row_ + n * ((w.threads * kVector) >> w.width_log2);
  }
  __device__ std::uint32_t column() const { return column_; }
  __device__ std::uint32_t valid(const SmemWork& w, const Place& place, unsigned n) const {
    return place.whole ? kVector : valid_bytes(w, place.row + row(w, n), place.column + column_, kVector);
  }

 private:
  std::uint32_t first_;
  std::uint32_t row_;     // row of the first vector, within the tile
  std::uint32_t column_;  // byte column, the same for all vectors, as threads * 16 is a multiple of tile_width
  std::uint64_t offset_;
};

/// Index in a tile of the first vector that this thread reads from shared memory. Another warp (with a single warp,
/// another thread) wrote this vector to shared memory, so a missing barrier shows as wrong results.
__device__ inline std::uint32_t neighbour(const SmemWork& w) {
  return w.threads > kWarp ? (threadIdx.x + kWarp) % w.threads : (threadIdx.x + 1) % kWarp;
}

// --- Global memory.

/// Loads the first `bytes` bytes (an even number) of a vector by 4- and 2-byte accesses; the other bytes are zero.
__device__ inline uint4 load_part(const std::byte* from, std::uint32_t bytes) {
  std::uint32_t words[4] = {};
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    if (bytes >= 4 * i + 4) {
      words[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
    } else if (bytes == 4 * i + 2) {
      words[i] = reinterpret_cast<const std::uint16_t*>(from)[2 * i];
    }
  }
  return {words[0], words[1], words[2], words[3]};
}

__device__ inline void store_part(std::byte* to, const uint4& vector, std::uint32_t bytes) {
  const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    if (bytes >= 4 * i + 4) {
      reinterpret_cast<std::uint32_t*>(to)[i] = words[i];
    } else if (bytes == 4 * i + 2) {
      reinterpret_cast<std::uint16_t*>(to)[2 * i] = static_cast<std::uint16_t>(words[i]);
    }
  }
}

/// Loads vector `n` of slice `share`. Bytes outside of the payload are zero.
__device__ inline uint4 load(const SmemWork& w, const Place& place, const ThreadSlice& share, unsigned n) {
  const std::byte* from = w.in + place.offset + share.offset(w, n);
  const std::uint32_t valid = share.valid(w, place, n);
  return valid == kVector ? *reinterpret_cast<const uint4*>(from) : load_part(from, valid);
}

/// Loads kVectors vectors of slice `share`, starting with vector `first`. With SmemPart::compute, makes up values that
/// differ for every tile, so that the compiler cannot skip work. Whole tiles have a path without checks, here and in
/// emit_all, because checks per vector would cost as much as a tenth of the arithmetic.
template <unsigned kVectors>
__device__ void load_all(const SmemWork& w, const Place& place, const ThreadSlice& share, unsigned first,
                         uint4 (&vectors)[kVectors]) {
  if (!w.copies) {
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) vectors[i] = {threadIdx.x, first + i, place.row, place.column};
  } else if (place.whole) {
    const std::byte* from = w.in + place.offset + share.offset(w, first);
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i, from += w.step) vectors[i] = *reinterpret_cast<const uint4*>(from);
  } else {
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) vectors[i] = load(w, place, share, first + i);
  }
}

/// Returns the sum of the 32-bit words of a vector; only its first `valid` bytes count.
__device__ inline std::uint32_t sum_words(const uint4& v, std::uint32_t valid) {
  if (valid == kVector) return v.x + v.y + v.z + v.w;
  const std::uint32_t words[4] = {v.x, v.y, v.z, v.w};
  std::uint32_t sum = 0;
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    const std::uint32_t bytes = valid > 4 * i ? min(valid - 4 * i, 4U) : 0;
    sum += bytes == 4 ? words[i] : bytes == 2 ? words[i] & 0xFFFF : 0;
  }
  return sum;
}

// --- Arithmetic.

template <SmemType kType>
struct ElementTraits;

template <>
struct ElementTraits<SmemType::f32> {
  using Value = float;
  __device__ static Value of(std::uint32_t bits) { return __uint_as_float(bits); }
  __device__ static std::uint32_t bits(Value value) { return __float_as_uint(value); }
  __device__ static Value constant(float value) { return value; }
  __device__ static Value step(Value v, Value one) { return fmaf(v, one, one); }
  __device__ static Value times(Value v, Value factor) { return v * factor; }
};

template <>
struct ElementTraits<SmemType::f16> {
  using Value = __half2;
  __device__ static Value of(std::uint32_t bits) { return __halves2half2(low(bits), high(bits)); }
  __device__ static std::uint32_t bits(Value value) {
    return __half_as_ushort(__low2half(value)) | static_cast<std::uint32_t>(__half_as_ushort(__high2half(value))) << 16;
  }
  __device__ static Value constant(float value) { return __float2half2_rn(value); }
  __device__ static Value step(Value v, Value one) { return __hfma2(v, one, one); }
  __device__ static Value times(Value v, Value factor) { return __hmul2(v, factor); }

 private:
  __device__ static __half low(std::uint32_t bits) { return __ushort_as_half(static_cast<std::uint16_t>(bits)); }
  __device__ static __half high(std::uint32_t bits) { return __ushort_as_half(static_cast<std::uint16_t>(bits >> 16)); }
};

/// Applies the arithmetic to kVectors vectors, which are 4 * kVectors independent chains of dependent steps.
template <SmemType kType, unsigned kVectors>
__device__ void compute(uint4 (&vectors)[kVectors], const SmemWork& w) {
  using L = ElementTraits<kType>;
  if (!w.halve && w.intensity == 0) return;
  typename L::Value v[4 * kVectors];
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) {
    v[4 * i] = L::of(vectors[i].x), v[4 * i + 1] = L::of(vectors[i].y);
    v[4 * i + 2] = L::of(vectors[i].z), v[4 * i + 3] = L::of(vectors[i].w);
  }
  float steady = w.one;
  asm volatile("" : "+f"(steady));  // keeps the value in a register; otherwise the compiler reloads it in the loop
  const auto one = L::constant(steady);
  if (w.halve) {
    const auto half = L::constant(steady / 2);
#pragma unroll
    for (unsigned i = 0; i < 4 * kVectors; ++i) v[i] = L::times(v[i], half);
  }
#pragma unroll 8
  for (unsigned step = 0; step < w.intensity; ++step) {
#pragma unroll
    for (unsigned i = 0; i < 4 * kVectors; ++i) v[i] = L::step(v[i], one);
  }
#pragma unroll
  for (unsigned i = 0; i < kVectors; ++i) {
    vectors[i] = {L::bits(v[4 * i]), L::bits(v[4 * i + 1]), L::bits(v[4 * i + 2]), L::bits(v[4 * i + 3])};
  }
}

// --- Output.

/// Stores vector `n` of slice `share` at its place in w.out. At the edge of the matrix, stores only the bytes inside
/// it.
__device__ inline void store(const SmemWork& w, const Place& place, const ThreadSlice& share, unsigned n,
                             const uint4& vector) {
  std::byte* to = w.out + place.offset + share.offset(w, n);
  const std::uint32_t valid = share.valid(w, place, n);
  if (valid == kVector) {
    *reinterpret_cast<uint4*>(to) = vector;
  } else {
    store_part(to, vector, valid);
  }
}

/// Stores kVectors vectors of slice `share`, starting with vector `first`, or, for op read, adds them to the thread's
/// sum.
template <unsigned kVectors>
__device__ void emit_all(const SmemWork& w, const Place& place, const ThreadSlice& share, unsigned first,
                         const uint4 (&vectors)[kVectors], std::uint32_t& sum) {
  if (w.reads) {
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) sum += sum_words(vectors[i], share.valid(w, place, first + i));
    return;
  }
  if (!w.copies) {
    // With SmemPart::compute nothing is stored. No result has all bits set, but the compiler cannot know that, so it
    // must compute the results.
    bool never = true;
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) never &= (vectors[i].x & vectors[i].y & vectors[i].z & vectors[i].w) == ~0U;
    if (!never) return;
  }
  if (place.whole) {
    std::byte* to = w.out + place.offset + share.offset(w, first);
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i, to += w.step) *reinterpret_cast<uint4*>(to) = vectors[i];
  } else {
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) store(w, place, share, first + i, vectors[i]);
  }
}

/// For op read, stores each warp's sum over all of its tiles. The warps that work on tiles come first in the block.
__device__ inline void finish_sum(const SmemWork& w, std::uint32_t sum) {
  if (!w.reads) return;
  sum = __reduce_add_sync(0xFFFFFFFF, sum);
  if (threadIdx.x % kWarp == 0) w.sums[blockIdx.x * (w.threads / kWarp) + threadIdx.x / kWarp] = sum;
}

/// Loads a thread's share of the tile at `slot` in shared memory, computes, and stores the result.
template <SmemType kType, unsigned kVectors>
__device__ void work_on_shared(const SmemWork& w, const uint4* slot, const Place& place, const ThreadSlice& share,
                               std::uint32_t& sum) {
  for (unsigned group = 0; group < w.groups; ++group) {
    uint4 vectors[kVectors];
#pragma unroll
    for (unsigned i = 0; i < kVectors; ++i) vectors[i] = slot[share.index(w, group * kVectors + i)];
    compute<kType>(vectors, w);
    emit_all(w, place, share, group * kVectors, vectors, sum);
  }
}

// --- Assignment of tiles to blocks.

/// Takes the next tile from the counter in global memory.
__device__ inline std::uint32_t take(const SmemWork& w) { return atomicAdd(w.queue, 1U); }

/// Called by one thread of each block, after its last take(). The last block to call it resets the counter for the next
/// launch.
__device__ inline void retire(const SmemWork& w) {
  __threadfence();  // orders this block's take() calls before the addition below
  if (atomicAdd(w.queue + 1, 1U) + 1 == gridDim.x) {
    w.queue[0] = 0;
    w.queue[1] = 0;
  }
}

/// Yields the tile indices of a block; an index >= w.tiles ends the sequence. All threads of the block must make the
/// same calls.
///
/// Dynamic schedule: thread 0 takes tiles ahead of time and publishes them in shared memory. A take() costs about a
/// microsecond, so it is issued in one iteration and published in the next.
class Feed {
 public:
  /// `ahead`: number of tiles that at() may look ahead. The largest allowed argument of at() is `ahead` before the
  /// first iteration, and k + 1 + ahead after the barrier of iteration k.
  __device__ Feed(const SmemWork& w, std::uint32_t* ring, unsigned ahead) : w_(w), ring_(ring), ahead_(ahead) {
    if (w_.queue == nullptr) return;
    if (threadIdx.x == 0) {
      for (unsigned k = 0; k <= ahead; ++k) ring_[k] = take(w_);
      next_ = take(w_);
    }
    __syncthreads();
  }

  __device__ std::uint32_t at(unsigned k) const {
    return w_.queue == nullptr ? blockIdx.x + k * gridDim.x : ring_[k % kRing];
  }
  /// Publishes the tile that was taken in advance. Must be called in iteration k, before a barrier of the block.
  __device__ void publish(unsigned k) {
    if (w_.queue == nullptr || threadIdx.x != 0) return;
    ring_[(k + 1 + ahead_) % kRing] = next_;
    next_ = take(w_);
  }
  __device__ void finish() const {
    if (w_.queue != nullptr && threadIdx.x == 0) retire(w_);
  }

  static constexpr unsigned kRing = 16;
  static_assert(kRing > kMaxStages + 2, "a slot must not be overwritten while it is read");

 private:
  const SmemWork& w_;
  std::uint32_t* ring_;
  unsigned ahead_;
  std::uint32_t next_ = 0;
};

// --- Selection among the instantiations of a kernel.

template <class Kernel>
const void* entry(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}

/// Calls choose.operator()<type, vectors>() with run-time values as template arguments.
template <class Choose>
const void* instantiation(SmemType type, unsigned vectors, const Choose& choose) {
  const auto of_type = [&]<SmemType kType>() -> const void* {
    switch (vectors) {
      case 4: return choose.template operator()<kType, 4>();
      case 2: return choose.template operator()<kType, 2>();
      default: return choose.template operator()<kType, 1>();
    }
  };
  return type == SmemType::f32 ? of_type.template operator()<SmemType::f32>()
                               : of_type.template operator()<SmemType::f16>();
}

}  // namespace xferbench::kernels::tile
