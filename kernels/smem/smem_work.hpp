// What the host hands to every tile kernel, worked out from a SmemShape once for each launch. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xferbench::kernels {

struct SmemWork {
  const std::byte* in;
  std::byte* out;
  std::uint32_t* sums;
  std::uint32_t* queue;  ///< [0] the next tile, [1] blocks that are done; null: tile t belongs to block t mod grid
  std::uint64_t pitch;   ///< bytes between the beginnings of rows
  std::uint64_t step;    ///< bytes in memory between a thread's vectors, which are `threads` vectors apart in a tile
  std::uint32_t rows;
  std::uint32_t row_bytes;
  std::uint32_t last_row_bytes;
  std::uint32_t across;  ///< tiles side by side
  std::uint32_t tiles;
  std::uint32_t tile_bytes;
  std::uint32_t tile_rows;
  std::uint32_t width_log2;  ///< of the tile's row in bytes
  std::uint32_t threads;     ///< that work on elements
  std::uint32_t groups;      ///< of kVectors vectors that each thread works on in a tile
  std::uint32_t stages;
  std::uint32_t swizzle;  ///< mask of the bits by which the place of a 16-byte vector is changed
  std::uint32_t intensity;
  float one;      ///< 1: from the host, so that the compiler cannot fold the chain of steps into one
  bool is_array;  ///< without gaps between rows: a tile is one piece of memory
  bool halve;     ///< scale
  bool reads;     ///< read: sums instead of stores
  bool copies;    ///< false: only the arithmetic, nothing goes to or comes from global memory
  bool async_store;
};

}  // namespace xferbench::kernels
