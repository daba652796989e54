// Arguments of every tile kernel, derived from a SmemShape once per launch. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xferbench::kernels {

struct SmemWork {
  const std::byte* in;
  std::byte* out;
  std::uint32_t* sums;
  std::uint32_t* queue;  ///< [0] next tile, [1] blocks that are done; null: block b works on tiles b, b + grid, ...
  std::uint64_t pitch;   ///< bytes between the starts of rows
  std::uint64_t step;    ///< bytes in global memory between successive vectors of a thread
  std::uint32_t rows;
  std::uint32_t row_bytes;
  std::uint32_t last_row_bytes;
  std::uint32_t across;  ///< tiles per row of the matrix
  std::uint32_t tiles;
  std::uint32_t tile_bytes;
  std::uint32_t tile_rows;
  std::uint32_t width_log2;  ///< logarithm to base 2 of the tile's width in bytes
  std::uint32_t threads;     ///< threads that work on elements
  std::uint32_t groups;      ///< rounds per tile; in each round a thread works on kVectors vectors
  std::uint32_t stages;
  std::uint32_t swizzle;  ///< XOR mask for the position of a 16-byte vector
  std::uint32_t intensity;
  float one;      ///< 1.0; a kernel argument, so that the compiler cannot fold the chain of steps into one
  bool is_array;  ///< contiguous: each tile is one range of memory
  bool halve;     ///< op scale: halves each element before the additions
  bool reads;     ///< op read: stores sums instead of elements
  bool copies;    ///< false: only arithmetic, no access to global memory
  bool async_store;
};

}  // namespace xferbench::kernels
