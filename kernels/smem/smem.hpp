// Global memory to the chip and back, tile by tile, by every method there is: the family of kernels behind the `smem`
// scenario. All of them compute the same function, so that only the way of the data differs:
//
//   copy   out = in + intensity                  copy and scale store every element; each fused multiply-add adds 1
//   scale  out = in / 2 + intensity
//   read   the sum of the 32-bit words of (in + intensity), modulo 2^32, in parts; nothing else is stored
//
// Every step is exact (see max_intensity), so the answers have a closed form to the bit. With `intensity` 0 copy and
// read do no arithmetic and take any bytes.
//
// The payload is a matrix of `rows` rows whose beginnings are `pitch` bytes apart; a tile is a box of it. An array
// without gaps is the matrix whose rows are as wide as a tile: then each tile is one piece of memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "device/kernel.hpp"

namespace xferbench::kernels {

enum class SmemMethod { direct, sync, prefetch, cp_async, pipeline, cg, bulk, tma, tma_specialized };
enum class SmemOp { copy, read, scale };
enum class SmemType { f32, f16 };
/// Which block works on which tile.
enum class SmemSchedule {
  one_tile,    ///< a block for each tile; the hardware hands out blocks
  persistent,  ///< a fixed grid, tile t belongs to block t mod grid
  dynamic,     ///< a fixed grid, each block takes the next tile from a counter in global memory
};
/// How the asynchronous copy engine's methods (bulk, tma, tma_specialized) get results out.
enum class SmemStore {
  registers,  ///< each thread stores what it worked on, as all other methods do
  async,      ///< back into the tile's place in shared memory, from there by a bulk or tensor copy
};
/// Which part of the loop runs, to find out what limits the whole.
enum class SmemPart {
  whole,
  memory,   ///< without arithmetic
  compute,  ///< without any copy between global memory and the chip; computes rubbish
};

inline constexpr std::array<std::string_view, 9> kSmemMethodNames{
    "direct", "sync", "prefetch", "cp-async", "pipeline", "cg", "bulk", "tma", "tma-specialized"};
inline constexpr std::array<std::string_view, 3> kSmemOpNames{"copy", "read", "scale"};
inline constexpr std::array<std::string_view, 2> kSmemTypeNames{"f32", "f16"};
inline constexpr std::array<std::string_view, 3> kSmemScheduleNames{"one-tile-per-block", "persistent", "dynamic"};
inline constexpr std::array<std::string_view, 2> kSmemStoreNames{"registers", "async"};

// What the kernels are compiled for.
inline constexpr unsigned kSmemVector = 16;       ///< bytes of the widest access of a thread
inline constexpr unsigned kSmemMaxWidth = 512;    ///< bytes of a tile's row
inline constexpr unsigned kSmemMaxThreads = 512;  ///< that work on a tile
inline constexpr unsigned kSmemMaxStages = 8;
inline constexpr unsigned kSmemMaxCgCalls = 24;  ///< that cg can have under way behind those it waits for

constexpr std::size_t bytes_of(SmemType type) { return type == SmemType::f32 ? 4 : 2; }

/// f32 elements are whole numbers up to 2^22 and f16 elements up to 2^9. Halves and sums of them with up to this many
/// steps stay exact.
constexpr std::uint32_t max_intensity(SmemType type) { return type == SmemType::f32 ? 1U << 20 : 1U << 9; }

/// The closed form of copy and scale.
constexpr float smem_expected(SmemOp op, float in, std::uint32_t intensity) {
  return (op == SmemOp::scale ? in / 2 : in) + static_cast<float>(intensity);
}

/// The bits of the half-precision float that equals `value`, a multiple of 1/2 in [0, 1024].
constexpr std::uint16_t half_bits(float value) {
  auto twice = static_cast<unsigned>(value * 2);
  if (twice == 0) return 0;
  unsigned exponent = 14;  // of 1/2, biased
  unsigned mantissa = twice << 10;
  while (mantissa >= 2048) {
    mantissa >>= 1;
    ++exponent;
  }
  return static_cast<std::uint16_t>(exponent << 10 | (mantissa & 1023));
}

/// What a launch does and how. Only what scenarios/smem/rules.hpp calls legal may be launched.
struct SmemShape {
  SmemMethod method = SmemMethod::direct;
  SmemOp op = SmemOp::copy;
  SmemType type = SmemType::f32;
  SmemSchedule schedule = SmemSchedule::one_tile;
  SmemStore store = SmemStore::registers;  ///< bulk, tma and tma_specialized only
  SmemPart part = SmemPart::whole;

  // The payload. `in` and `out` have the same shape.
  std::uint64_t rows = 1;
  std::uint64_t row_bytes = 0;       ///< whole elements
  std::uint64_t last_row_bytes = 0;  ///< of the last row; less than row_bytes only in an array
  std::uint64_t pitch = 0;           ///< a multiple of 16, at least row_bytes

  unsigned tile_bytes = 4096;   ///< a multiple of 16 * threads and of tile_width
  unsigned tile_width = 512;    ///< bytes of a tile's row: a power of two from 16 to 512
  unsigned threads = 256;       ///< that work on a tile; tma_specialized adds a warp to load, and one to store
  unsigned stages = 1;          ///< tiles in shared memory at a time, 1 to 8
  unsigned blocks = 0;          ///< of a persistent or dynamic grid
  unsigned copy_bytes = 16;     ///< cp_async only: 4, 8 or 16 at a time
  unsigned swizzle = 0;         ///< tma methods only: 0, or a span of 32, 64 or 128 bytes, at least tile_width
  bool fill_nan = false;        ///< tma methods only: what lies outside of the matrix arrives as NaN and not as zero
  std::uint32_t intensity = 0;  ///< fused multiply-adds for each element

  /// Makes the payload an array of so many bytes: the matrix whose rows are as wide as a tile; its last row may be cut
  /// short.
  void set_array(std::uint64_t bytes);
  void set_matrix(std::uint64_t how_many_rows, std::uint64_t bytes_of_row);
  /// Payload in that row.
  [[nodiscard]] std::uint64_t used_bytes(std::uint64_t row) const {
    return row + 1 == rows ? last_row_bytes : row_bytes;
  }

  /// Whether the payload is an array without gaps: then a tile is one piece of memory.
  [[nodiscard]] bool is_array() const { return pitch == tile_width && row_bytes == tile_width; }
  /// 16-byte vectors that a thread holds at a time: the more, the more loads and independent steps are on their way.
  [[nodiscard]] unsigned vectors_at_a_time() const;
  [[nodiscard]] unsigned tile_rows() const { return tile_bytes / tile_width; }
  [[nodiscard]] std::uint64_t tiles_across() const { return (row_bytes + tile_width - 1) / tile_width; }
  [[nodiscard]] std::uint64_t tiles() const { return (rows + tile_rows() - 1) / tile_rows() * tiles_across(); }
  [[nodiscard]] std::uint64_t payload_bytes() const { return (rows - 1) * row_bytes + last_row_bytes; }
  /// Of `in`, and of `out` where elements are stored; a multiple of 16, so that the last vector may be read whole.
  [[nodiscard]] std::uint64_t buffer_bytes() const { return rows * pitch; }
  [[nodiscard]] std::uint64_t grid() const { return schedule == SmemSchedule::one_tile ? tiles() : blocks; }
  /// read's sums: a 32-bit word for each warp that works. Only the sum of all of them is specified.
  [[nodiscard]] std::uint64_t sum_bytes() const { return grid() * (threads / 32) * sizeof(std::uint32_t); }
  [[nodiscard]] unsigned launched_threads() const;
  /// Dynamic shared memory of a block, with what alignment takes.
  [[nodiscard]] std::size_t shared_bytes() const;
  [[nodiscard]] bool uses_async_store() const { return store == SmemStore::async && op != SmemOp::read; }
};

/// Addresses that the GPU can use, all aligned to 128 bytes.
struct SmemArgs {
  const std::byte* in = nullptr;   ///< shape.buffer_bytes()
  std::byte* out = nullptr;        ///< buffer_bytes(), or sum_bytes() for read
  std::uint32_t* queue = nullptr;  ///< dynamic only: two words, zero before the first launch; each launch leaves zeros
};

class Smem final : public Kernel {
 public:
  Smem(const SmemShape& shape, const SmemArgs& args) : shape_(shape), args_(args) {}

  [[nodiscard]] std::string_view name() const override {
    return kSmemMethodNames[static_cast<std::size_t>(shape_.method)];
  }
  [[nodiscard]] KernelCost cost() const override;
  [[nodiscard]] std::span<std::byte> output() const override;
  /// What SmemPart::compute leaves behind is not specified. For read, the whole sum stands in the first word, and zeros
  /// follow.
  void compute(std::span<std::byte> result) const override;
  [[nodiscard]] std::optional<std::vector<std::span<const std::byte>>> reads() const override;
  [[nodiscard]] std::unique_ptr<Kernel> clone() const override { return std::make_unique<Smem>(*this); }
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
