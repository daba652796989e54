#include "scenarios/smem/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "core/units.hpp"

namespace xferbench {

namespace {

using kernels::SmemMethod;
using kernels::SmemOp;
using kernels::SmemSchedule;
using kernels::SmemShape;

using Broken = std::optional<std::string>;

constexpr unsigned kWarp = 32;
constexpr unsigned kVector = kernels::kSmemVector;

std::string name_of(SmemMethod method) {
  return std::string(kernels::kSmemMethodNames[static_cast<std::size_t>(method)]);
}

/// Blocks must consist of whole warps. tma-specialized adds one or two warps and stays below the limit of 1024 threads.
Broken threads(const SmemShape& s) {
  constexpr unsigned kMost = kernels::kSmemMaxThreads;
  if (s.threads >= kWarp && s.threads <= kMost && s.threads % kWarp == 0) return std::nullopt;
  return fmt::format("--threads {} is not a multiple of {} from {} to {}", s.threads, kWarp, kWarp, kMost);
}

/// All threads must process the same number of 16-byte vectors of a tile.
Broken tile(const SmemShape& s) {
  const unsigned step = kVector * s.threads;
  if (s.tile_bytes > 0 && s.tile_bytes % step == 0) return std::nullopt;
  return fmt::format("--tile {} does not divide evenly: with {} threads, choose a multiple of {} B",
                     format_size_exact(s.tile_bytes), s.threads, step);
}

/// The box of a tensor copy is at most 256 elements wide (cuTensorMapEncodeTiled: boxDim[i] is at most 256) and a
/// multiple of 16 bytes; 512 bytes are 256 elements of two bytes. A power of two lets all methods compute addresses by
/// shifts. With at most 512 bytes every tile has whole rows, because a tile is a multiple of 32 threads * 16 bytes.
Broken tile_width(const SmemShape& s) {
  constexpr unsigned kMost = kernels::kSmemMaxWidth;
  if (std::has_single_bit(s.tile_width) && s.tile_width >= kVector && s.tile_width <= kMost) return std::nullopt;
  return fmt::format("--tile-width {} is not a power of two from {} to {}", s.tile_width, kVector, kMost);
}

/// cuTensorMapEncodeTiled: boxDim[i] is at most 256.
Broken box(const SmemShape& s) {
  constexpr unsigned kMostRows = 256;
  if (!by_tensor_copy(s.method) || s.tile_rows() <= kMostRows) return std::nullopt;
  return fmt::format("a TMA box has at most {} rows, but --tile {} with --tile-width {} has {}", kMostRows,
                     format_size_exact(s.tile_bytes), s.tile_width, s.tile_rows());
}

Broken stages(const SmemShape& s) {
  constexpr unsigned kMost = kernels::kSmemMaxStages;
  if (s.stages < 1 || s.stages > kMost) return fmt::format("--stages {} is not from 1 to {}", s.stages, kMost);
  if (s.stages == 1) return std::nullopt;
  if (s.method == SmemMethod::direct || s.method == SmemMethod::sync || s.method == SmemMethod::prefetch) {
    return fmt::format("{} has no second tile in shared memory; choose --stages 1", name_of(s.method));
  }
  if (s.schedule == SmemSchedule::one_tile) {
    return "with one tile per block, a second stage has no use; choose --stages 1, or --schedule persistent or dynamic";
  }
  return std::nullopt;
}

/// Method prefetch holds the next tile in registers, in arrays of 1, 2 or 4 vectors.
Broken held_in_registers(const SmemShape& s) {
  constexpr unsigned kMostVectors = 4;
  const unsigned vectors = s.tile_bytes / (kVector * s.threads);
  if (s.method != SmemMethod::prefetch || (std::has_single_bit(vectors) && vectors <= kMostVectors))
    return std::nullopt;
  return fmt::format(
      "prefetch holds the next tile in registers, 16, 32 or 64 B per thread: with {} threads choose --tile {}, {} or "
      "{}, not {}",
      s.threads, format_size_exact(kVector * s.threads), format_size_exact(2 * kVector * s.threads),
      format_size_exact(kMostVectors * kVector * s.threads), format_size_exact(s.tile_bytes));
}

/// PTX ISA, "cp.async": cp-size is 4, 8 or 16 bytes.
Broken copy_bytes(const SmemShape& s) {
  if (s.method != SmemMethod::cp_async || s.copy_bytes == 4 || s.copy_bytes == 8 || s.copy_bytes == 16) {
    return std::nullopt;
  }
  return fmt::format("cp.async copies 4, 8 or 16 bytes, not --copy-bytes {}", s.copy_bytes);
}

/// cooperative_groups::memcpy_async commits each call, and wait_prior<N> needs a compile-time N (CUDA C++ Programming
/// Guide, "Asynchronous Data Copies"). Each row of a strided tile is one call. The kernel is compiled for some N up to
/// 24. With more pending calls, it would wait for copies that it does not need yet.
Broken counted_commits(const SmemShape& s) {
  constexpr unsigned kMost = kernels::kSmemMaxCgCalls;
  const unsigned pending = s.stages < 2 ? 0 : (s.stages - 2) * s.tile_rows();
  if (s.method != SmemMethod::cg || s.is_array() || pending <= kMost) return std::nullopt;
  return fmt::format(
      "cg allows at most {} pending copies here, and every row of a strided tile is one copy: (stages - 2) x {} rows "
      "are {}; choose fewer --stages or a smaller --tile",
      kMost, s.tile_rows(), pending);
}

/// cuTensorMapEncodeTiled: with swizzling the box is at most as wide as the span. A narrower box leaves gaps in shared
/// memory, so the width must equal the span. The pattern repeats every eight rows and depends on the shared memory
/// address (PTX ISA, "Swizzling modes"). So a tile must have a multiple of eight rows to make all stages alike.
Broken swizzle(const SmemShape& s) {
  if (s.swizzle == 0) return std::nullopt;
  if (!by_tensor_copy(s.method)) return name_of(s.method) + " cannot swizzle: only tma and tma-specialized do";
  if (s.swizzle != 32 && s.swizzle != 64 && s.swizzle != 128) {
    return fmt::format("there is no swizzle of {} bytes, only of 32, 64 and 128", s.swizzle);
  }
  if (s.tile_width != s.swizzle) {
    return fmt::format("a swizzle of {} bytes needs --tile-width {}, not {}", s.swizzle, s.swizzle, s.tile_width);
  }
  if (s.tile_bytes % (8 * s.swizzle) == 0) return std::nullopt;
  return fmt::format("a swizzle of {} bytes repeats every {} B, but --tile {} is not a multiple of that", s.swizzle,
                     8 * s.swizzle, format_size_exact(s.tile_bytes));
}

Broken store(const SmemShape& s) {
  if (s.store == kernels::SmemStore::registers) return std::nullopt;
  if (!by_bulk_copy(s.method)) {
    return name_of(s.method) + " stores from registers: only bulk, tma and tma-specialized have asynchronous stores";
  }
  if (s.op == SmemOp::read) return "--op read stores no elements; leave out --store async";
  return std::nullopt;
}

Broken fill(const SmemShape& s) {
  if (!s.fill_nan || by_tensor_copy(s.method)) return std::nullopt;
  return name_of(s.method) + " never reads outside of the matrix: --fill is only for tma and tma-specialized";
}

/// Beyond the limit results would be rounded, and would depend on the order of the arithmetic.
Broken intensity(const SmemShape& s) {
  const std::uint32_t most = kernels::max_intensity(s.type);
  if (s.intensity <= most) return std::nullopt;
  return fmt::format("--intensity {} is more than {}, the highest at which {} results are exact", s.intensity, most,
                     kernels::kSmemTypeNames[static_cast<std::size_t>(s.type)]);
}

/// Counts of tiles and rows are 32 bits wide, and the coordinates of a tensor copy are signed.
Broken counts(const SmemShape& s) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  if (s.row_bytes >= kMost)
    return fmt::format("rows of {} B exceed the maximum of 2^31 - 1; choose fewer --columns", s.row_bytes);
  if (s.rows >= kMost) return fmt::format("{} rows exceed the maximum of 2^31 - 1; choose a smaller --size", s.rows);
  if (s.tiles() < kMost) return std::nullopt;
  return fmt::format("{} tiles exceed the maximum of 2^31 - 1; choose a larger --tile or a smaller --size", s.tiles());
}

/// A tensor map needs at least one whole row. In an array, a row is as long as the box of the tensor copy is wide.
Broken one_row(const SmemShape& s) {
  if (!by_tensor_copy(s.method) || !s.is_array() || s.payload_bytes() >= s.tile_width) return std::nullopt;
  return fmt::format("{} B are less than one row of the TMA box: choose a larger --size, or a --tile-width below {}",
                     s.payload_bytes(), s.tile_width);
}

/// cuTensorMapEncodeTiled: globalStrides are multiples of 16 and less than 2^40.
Broken pitch(const SmemShape& s) {
  if (s.pitch >= s.row_bytes && s.pitch % kVector == 0 && s.pitch < std::uint64_t{1} << 40) return std::nullopt;
  return fmt::format("a row pitch of {} B is not a multiple of {} below 2^40 that holds {} B", s.pitch, kVector,
                     s.row_bytes);
}

/// Tensor stores write whole 16-byte vectors only, and a tensor map cannot have zero columns.
Broken whole_vectors(const SmemShape& s) {
  if (!by_tensor_copy(s.method) || !s.uses_async_store() || s.row_bytes >= kVector) return std::nullopt;
  return fmt::format(
      "--store async of a tensor copy writes {} B at a time, but rows have only {} B; choose --store registers",
      kVector, s.row_bytes);
}

using Rule = Broken (*)(const SmemShape&);
/// The order matters: later rules rely on what earlier rules have checked.
constexpr std::array<Rule, 16> kRules{threads,    tile,   tile_width,      box,          stages, held_in_registers,
                                      copy_bytes, pitch,  counted_commits, swizzle,      store,  fill,
                                      intensity,  counts, one_row,         whole_vectors};

/// Minimum compute capability of a method: 9.0 for cp.async.bulk, and 8.0 for cp.async and for redux.sync, which all
/// kernels here use (PTX ISA, "Target ISA Notes" of cp.async.bulk, cp.async and redux.sync).
unsigned first_capability(SmemMethod method) { return by_bulk_copy(method) ? 90 : 80; }

}  // namespace

std::optional<std::string> broken_rule(const SmemShape& shape) {
  for (const Rule rule : kRules) {
    if (auto broken = rule(shape)) return broken;
  }
  return std::nullopt;
}

std::optional<std::string> broken_rule(const SmemShape& shape, const Multiprocessor& multiprocessor) {
  if (auto broken = broken_rule(shape)) return broken;
  const unsigned needed = first_capability(shape.method);
  if (const unsigned has = multiprocessor.compute_capability; has < needed) {
    return fmt::format("{} needs compute capability {}.{}, this GPU has {}.{}", name_of(shape.method), needed / 10,
                       needed % 10, has / 10, has % 10);
  }
  if (shape.shared_bytes() <= multiprocessor.shared_per_block) return std::nullopt;
  return fmt::format(
      "{} of shared memory are more than the {} that this GPU allows per block; choose fewer --stages or a smaller "
      "--tile",
      format_size(shape.shared_bytes()), format_size(multiprocessor.shared_per_block));
}

unsigned most_blocks(const SmemShape& shape, const Multiprocessor& multiprocessor) {
  constexpr std::size_t kMost = 32;  // highest limit of blocks per multiprocessor that any compute capability has
  const std::size_t by_threads = multiprocessor.threads / shape.launched_threads();
  const std::size_t shared = shape.shared_bytes() + multiprocessor.shared_reserved;
  const std::size_t by_shared = shared == 0 ? kMost : multiprocessor.shared_in_all / shared;
  return static_cast<unsigned>(std::min({kMost, by_threads, by_shared}));
}

std::optional<std::string> no_room(std::optional<unsigned> asked, unsigned fit, std::string_view limit) {
  if (fit == 0) return "not even one block fits on a multiprocessor; choose fewer --threads or a smaller --tile";
  if (asked.value_or(1) <= fit) return std::nullopt;
  return fmt::format("--blocks-per-sm {} does not fit at once: {} room for {}", *asked, limit, fit);
}

}  // namespace xferbench
