// What the examples compute. It stands for any work: the GPU's time for it is set by `rounds`, no compiler can shorten
// it, and the host can repeat it for a few of the values to see whether all is right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace examples {

/// So many numbers further of Marsaglia's generator xorshift32.
__host__ __device__ inline std::uint32_t advance(std::uint32_t value, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    value ^= value << 13;
    value ^= value >> 17;
    value ^= value << 5;
  }
  return value;
}

/// Where all begin: another number for each index.
__host__ __device__ inline std::uint32_t number(std::size_t index) {
  return static_cast<std::uint32_t>(index) * 2654435761U + 1;
}

inline void fill_with_numbers(std::uint32_t* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = number(i);
}

inline constexpr unsigned kThreads = 256;
inline unsigned blocks_for(std::size_t count) { return static_cast<unsigned>((count + kThreads - 1) / kThreads); }

static __global__ void advance_all(std::uint32_t* values, std::size_t count, int rounds) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) values[i] = advance(values[i], rounds);
}

/// Mixes what has come into what is there.
static __global__ void mix_in(std::uint32_t* values, const std::uint32_t* arrived, std::size_t count, int rounds) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) values[i] = advance(values[i] ^ arrived[i], rounds);
}

/// For any number of blocks. `sum` is added to.
static __global__ void add_up(const std::uint32_t* values, std::size_t count, unsigned long long* sum) {
  unsigned long long mine = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) mine += values[i];
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(~0U, mine, lanes);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

/// Whether right(i) holds of all i below count, asked of about a hundred of them and of the last.
template <class Right>
bool spot_check(std::size_t count, Right right) {
  const std::size_t stride = std::max<std::size_t>(count / 101, 1);
  for (std::size_t i = 0; i < count; i += stride) {
    if (!right(i)) return false;
  }
  return count == 0 || right(count - 1);
}

}  // namespace examples
