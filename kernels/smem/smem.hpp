// The tile kernels of the `smem` scenario: they move data between global memory and the chip, tile by tile, by every
// available method. All methods compute the same function, so only the data path differs:
//
//   copy   out = in + intensity                  copy and scale store every element; each fused multiply-add adds 1
//   scale  out = in / 2 + intensity
//   read   the sum of the 32-bit words of (in + intensity), modulo 2^32, stored as one partial sum per warp
//
// Every step is exact (see max_intensity), so results have a bit-exact closed form. With `intensity` 0, copy and read
// do no arithmetic and accept any bytes.
//
// The payload is a matrix of `rows` rows that begin `pitch` bytes apart; a tile is a box of it. A contiguous array is a
// matrix whose rows are as wide as a tile, so that each tile is contiguous in memory.
#pragma once

#include <array>

#include "device/kernel.hpp"

namespace xferbench::kernels {

enum class SmemMethod { direct, sync, prefetch, cp_async, pipeline, cg, bulk, tma, tma_specialized };
enum class SmemOp { copy, read, scale };
enum class SmemType { f32, f16 };
/// How the tiles are assigned to thread blocks.
enum class SmemSchedule {
  one_tile,    ///< one block per tile; the hardware schedules the blocks
  persistent,  ///< fixed grid; block b works on the tiles b, b + grid, b + 2 grid, ...
  dynamic,     ///< fixed grid; each block takes the next tile from a counter in global memory
};
/// How the methods bulk, tma and tma_specialized write their results to global memory.
enum class SmemStore {
  registers,  ///< each thread stores from registers, as with all other methods
  async,      ///< results are written back to shared memory; a bulk or tensor copy stores them
};
/// Which part of the kernel's loop runs. Timing the parts alone shows the bottleneck.
enum class SmemPart {
  whole,
  memory,   ///< no arithmetic
  compute,  ///< no copies between global memory and the chip; results are meaningless
};

inline constexpr std::array<std::string_view, 9> kSmemMethodNames{
    "direct", "sync", "prefetch", "cp-async", "pipeline", "cg", "bulk", "tma", "tma-specialized"};
inline constexpr std::array<std::string_view, 3> kSmemOpNames{"copy", "read", "scale"};
inline constexpr std::array<std::string_view, 2> kSmemTypeNames{"f32", "f16"};
inline constexpr std::array<std::string_view, 3> kSmemScheduleNames{"one-tile-per-block", "persistent", "dynamic"};
inline constexpr std::array<std::string_view, 2> kSmemStoreNames{"registers", "async"};

// Compile-time limits of the kernels.
inline constexpr unsigned kSmemVector = 16;       ///< bytes of the widest access of a thread
inline constexpr unsigned kSmemMaxWidth = 512;    ///< bytes of a row of a tile
inline constexpr unsigned kSmemMaxThreads = 512;  ///< threads that work on a tile
inline constexpr unsigned kSmemMaxStages = 8;
inline constexpr unsigned kSmemMaxCgCalls = 24;  ///< largest number of pending copy calls in method cg

constexpr std::size_t bytes_of(SmemType type) { return type == SmemType::f32 ? 4 : 2; }

/// Returns the largest `intensity` for exact results: f32 elements are whole numbers up to 2^22 and f16 elements up to
/// 2^9, and op scale halves them first.
constexpr std::uint32_t max_intensity(SmemType type) { return type == SmemType::f32 ? 1U << 20 : 1U << 9; }

/// Returns the expected result of op copy or scale for the element `in`.
constexpr float smem_expected(SmemOp op, float in, std::uint32_t intensity) {
  return (op == SmemOp::scale ? in / 2 : in) + static_cast<float>(intensity);
}

/// Returns the bits of the half-precision float that equals `value`, a multiple of 1/2 in [0, 1024].
constexpr std::uint16_t half_bits(float value) {
  auto twice = static_cast<unsigned>(value * 2);
  if (twice == 0) return 0;
  unsigned exponent = 14;  // biased exponent of 1/2
  unsigned mantissa = twice << 10;
  while (mantissa >= 2048) {
    mantissa >>= 1;
    ++exponent;
  }
  return static_cast<std::uint16_t>(exponent << 10 | (mantissa & 1023));
}

/// The parameters of one launch, which must be legal by the rules of scenarios/smem/rules.hpp.
struct SmemShape {
  SmemMethod method = SmemMethod::direct;
  SmemOp op = SmemOp::copy;
  SmemType type = SmemType::f32;
  SmemSchedule schedule = SmemSchedule::one_tile;
  SmemStore store = SmemStore::registers;  ///< for bulk, tma and tma_specialized only
  SmemPart part = SmemPart::whole;

  // The payload; `in` and `out` have the same layout.
  std::uint64_t rows = 1;
  std::uint64_t row_bytes = 0;       ///< a multiple of the element size
  std::uint64_t last_row_bytes = 0;  ///< bytes of the last row; only an array may have a shorter last row
  std::uint64_t pitch = 0;           ///< a multiple of 16, at least row_bytes

  unsigned tile_bytes = 4096;   ///< a multiple of 16 * threads and of tile_width
  unsigned tile_width = 512;    ///< bytes of a row of a tile: a power of two from 16 to 512
  unsigned threads = 256;       ///< threads that work on a tile; see launched_threads() for tma_specialized
  unsigned stages = 1;          ///< tiles in shared memory at a time (ring buffer depth), 1 to 8
  unsigned blocks = 0;          ///< grid size, for persistent and dynamic schedules
  unsigned copy_bytes = 16;     ///< for cp_async only: bytes per copy, 4, 8 or 16
  unsigned swizzle = 0;         ///< for tma methods only: 0, or a span of 32, 64 or 128 bytes, at least tile_width
  bool fill_nan = false;        ///< for tma methods only: elements outside of the matrix arrive as NaN instead of zero
  std::uint32_t intensity = 0;  ///< fused multiply-adds per element

  /// Makes the payload a contiguous array of `bytes` bytes: its rows are as wide as a tile, and the last row may be
  /// shorter. tile_width must be set before.
  void set_array(std::uint64_t bytes);
  void set_matrix(std::uint64_t how_many_rows, std::uint64_t bytes_of_row);
  /// Returns the number of payload bytes in this row.
  [[nodiscard]] std::uint64_t used_bytes(std::uint64_t row) const {
    return row + 1 == rows ? last_row_bytes : row_bytes;
  }

  /// Whether the payload is a contiguous array: then each tile is contiguous in memory.
  [[nodiscard]] bool is_array() const { return pitch == tile_width && row_bytes == tile_width; }
  /// Returns the number of 16-byte vectors that a thread holds at a time (1, 2 or 4). With more vectors, more loads and
  /// independent steps are in flight.
  [[nodiscard]] unsigned vectors_at_a_time() const;
  [[nodiscard]] unsigned tile_rows() const { return tile_bytes / tile_width; }
  [[nodiscard]] std::uint64_t tiles_across() const { return (row_bytes + tile_width - 1) / tile_width; }
  [[nodiscard]] std::uint64_t tiles() const { return (rows + tile_rows() - 1) / tile_rows() * tiles_across(); }
  [[nodiscard]] std::uint64_t payload_bytes() const { return (rows - 1) * row_bytes + last_row_bytes; }
  /// Returns the size in bytes of `in` and, unless op is read, of `out`: a multiple of 16, the size of a vector.
  [[nodiscard]] std::uint64_t buffer_bytes() const { return rows * pitch; }
  [[nodiscard]] std::uint64_t grid() const { return schedule == SmemSchedule::one_tile ? tiles() : blocks; }
  /// Returns the output bytes of op read: one 32-bit sum per working warp. Only the total of these sums is specified.
  [[nodiscard]] std::uint64_t sum_bytes() const { return grid() * (threads / 32) * sizeof(std::uint32_t); }
  /// Returns the threads of a block: `threads`; tma_specialized adds a load warp and, with async stores, a store warp.
  [[nodiscard]] unsigned launched_threads() const;
  /// Returns the bytes of dynamic shared memory of a block, including space for alignment.
  [[nodiscard]] std::size_t shared_bytes() const;
  [[nodiscard]] bool uses_async_store() const { return store == SmemStore::async && op != SmemOp::read; }
};

/// Device addresses, all aligned to 128 bytes.
struct SmemArgs {
  const std::byte* in = nullptr;   ///< input of shape.buffer_bytes() bytes
  std::byte* out = nullptr;        ///< output of shape.buffer_bytes() bytes or, for op read, sum_bytes()
  std::uint32_t* queue = nullptr;  ///< dynamic schedule: two words, zero before the first launch; reset by each launch
};

class Smem final : public KernelOf<Smem> {
 public:
  Smem(const SmemShape& shape, const SmemArgs& args) : shape_(shape), args_(args) {}

  [[nodiscard]] std::string_view name() const override {
    return kSmemMethodNames[static_cast<std::size_t>(shape_.method)];
  }
  [[nodiscard]] KernelCost cost() const override;
  [[nodiscard]] std::span<std::byte> output() const override;
  /// With op read, the first word of `result` is the total and all others are zero. With SmemPart::compute the output
  /// is unspecified.
  void compute(std::span<std::byte> result) const override;
  [[nodiscard]] std::optional<std::vector<std::span<const std::byte>>> reads() const override;
#if XFERBENCH_WITH_CUDA
  void preload() const override;
  void launch(void* cuda_stream) const override;
  [[nodiscard]] std::optional<KernelResources> resources() const override;
#endif

 private:
  SmemShape shape_;
  SmemArgs args_;
};

}  // namespace xferbench::kernels
