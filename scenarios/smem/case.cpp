#include "scenarios/smem/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/units.hpp"
#include "scenarios/smem/rules.hpp"

namespace xferbench {

namespace {

using kernels::SmemMethod;
using kernels::SmemOp;
using kernels::SmemPart;
using kernels::SmemSchedule;
using kernels::SmemShape;
using kernels::SmemStore;
using kernels::SmemType;

constexpr unsigned kVector = 16;
constexpr unsigned kWidest = 512;  // bytes of a tile's row

/// The position of the axis' word among the names of an enumeration.
template <class Enumeration, std::size_t n>
Enumeration word(const Case& c, const char* axis, const std::array<std::string_view, n>& names) {
  const auto found = std::ranges::find(names, c.word(axis));
  if (found == names.end()) throw std::logic_error(std::string("no such ") + axis);
  return static_cast<Enumeration>(found - names.begin());
}

template <std::size_t n>
std::vector<std::string> words(const std::array<std::string_view, n>& names) {
  return {names.begin(), names.end()};
}

unsigned number(const Case& c, const char* axis, unsigned otherwise) {
  return c.has(axis) ? static_cast<unsigned>(c.count(axis)) : otherwise;
}

/// 0 for "none".
unsigned swizzle_of(const Case& c) {
  if (!c.has("swizzle") || c.word("swizzle") == "none") return 0;
  return static_cast<unsigned>(std::stoul(c.word("swizzle")));
}

SmemStore store_of(const Case& c, const SmemShape& shape) {
  if (c.has("store")) return word<SmemStore>(c, "store", kernels::kSmemStoreNames);
  return by_bulk_copy(shape.method) && shape.op != SmemOp::read ? SmemStore::async : SmemStore::registers;
}

std::uint64_t bytes_of_row(const Case& c, SmemType type) { return c.count("columns") * kernels::bytes_of(type); }

/// An array is the matrix whose rows are as wide as a tile; its last row may be cut short.
void set_payload(const Case& c, SmemShape& shape) {
  const std::uint64_t size = c.count("size");
  if (c.has("columns")) {
    shape.row_bytes = shape.last_row_bytes = bytes_of_row(c, shape.type);
    shape.rows = std::max<std::uint64_t>(1, size / shape.row_bytes);
    shape.pitch = (shape.row_bytes + kVector - 1) / kVector * kVector;
  } else {
    shape.row_bytes = shape.pitch = std::max(shape.tile_width, 1U);
    shape.rows = std::max<std::uint64_t>(1, (size + shape.row_bytes - 1) / shape.row_bytes);
    shape.last_row_bytes = size - (shape.rows - 1) * shape.row_bytes;
  }
}

std::optional<std::string> beyond_cache(const SmemShape& shape, std::uint64_t cache) {
  // The halves of an H200's cache may each hold a copy of what the multiprocessors near them use. The copy by
  // cudaMemcpyAsync beside the kernel writes as much as it reads, whatever the kernel does.
  const std::uint64_t touched = 2 * shape.payload_bytes();
  if (touched <= cache / 2) return std::nullopt;
  return fmt::format(
      "--l2 resident: {} read and written are more than half of the L2 cache of {}; choose a smaller --size",
      format_size(touched), format_size(cache));
}

}  // namespace

SmemCase smem_case(const Case& c) {
  SmemCase s;
  SmemShape& shape = s.shape;
  shape.method = word<SmemMethod>(c, "method", kernels::kSmemMethodNames);
  shape.op = word<SmemOp>(c, "op", kernels::kSmemOpNames);
  shape.type = word<SmemType>(c, "dtype", kernels::kSmemTypeNames);
  shape.schedule = word<SmemSchedule>(c, "schedule", kernels::kSmemScheduleNames);
  shape.swizzle = swizzle_of(c);
  shape.tile_bytes = number(c, "tile", 0);
  shape.tile_width = number(c, "tile-width", shape.swizzle != 0 ? shape.swizzle : kWidest);
  shape.threads = number(c, "threads", 0);
  shape.stages = number(c, "stages", 1);
  if (c.has("copy-bytes")) shape.copy_bytes = static_cast<unsigned>(std::stoul(c.word("copy-bytes")));
  shape.store = store_of(c, shape);
  shape.fill_nan = c.has("fill") && c.word("fill") == "nan";
  shape.intensity = number(c, "intensity", 0);
  set_payload(c, shape);
  if (c.has("blocks-per-sm")) s.blocks_per_multiprocessor = number(c, "blocks-per-sm", 1);
  s.resident = c.word("l2") == "resident";
  return s;
}

namespace {

/// Why a matrix of this size does not exist: rows and elements are whole.
std::optional<std::string> broken_size(const Case& c, SmemType type) {
  const std::uint64_t size = c.count("size");
  const std::uint64_t unit = c.has("columns") ? bytes_of_row(c, type) : kernels::bytes_of(type);
  if (size % unit == 0) return std::nullopt;
  const std::uint64_t below = size / unit * unit;
  const std::string nearest = below == 0 ? fmt::format("{}", unit) : fmt::format("{} or {}", below, below + unit);
  return fmt::format("--size {} is no whole number of {} of {} B; choose {}", size,
                     c.has("columns") ? "rows" : "elements", unit, nearest);
}

/// What this GPU cannot do of a case that is legal.
std::optional<std::string> beyond_device(const SmemCase& c, const Capabilities& can) {
  if (can.environment.simulated()) return "the simulated device cannot say which instructions copy faster";
  if (auto broken = broken_rule(c.shape, can.multiprocessor)) return broken;
  const unsigned most = most_blocks(c.shape, can.multiprocessor);
  if (most == 0) return "not even one block fits a multiprocessor; choose fewer --threads or a smaller --tile";
  if (c.blocks_per_multiprocessor.value_or(1) > most) {
    return fmt::format("--blocks-per-sm {} do not fit at once: threads and shared memory leave room for {}",
                       *c.blocks_per_multiprocessor, most);
  }
  return c.resident ? beyond_cache(c.shape, can.environment.gpu.l2_bytes) : std::nullopt;
}

}  // namespace

std::optional<SkipReason> smem_skip_reason(const Case& c, const Capabilities* can) {
  const SmemCase s = smem_case(c);
  if (auto broken = broken_rule(s.shape)) return SkipReason::meaningless(std::move(*broken));
  if (auto broken = broken_size(c, s.shape.type)) return SkipReason::impossible(std::move(*broken));
  if (can == nullptr) return std::nullopt;
  auto reason = beyond_device(s, *can);
  return reason ? std::optional(SkipReason::unavailable(std::move(*reason))) : std::nullopt;
}

std::uint64_t traffic(const SmemShape& shape) { return kernels::Smem(shape, {}).cost().bytes; }

bool computes(const SmemShape& shape) { return shape.intensity > 0 || shape.op == SmemOp::scale; }

double in_flight_per_block(const SmemShape& shape) {
  constexpr unsigned kVectorBytes = 16;
  std::uint64_t bytes = shape.tile_bytes;
  switch (shape.method) {
    // Threads load as many vectors at a time as they hold, and go on to the next when these are done with.
    case SmemMethod::direct:
    case SmemMethod::sync: bytes = std::uint64_t{shape.vectors_at_a_time()} * kVectorBytes * shape.threads; break;
    case SmemMethod::prefetch: break;
    // One place is worked on while the others are filled.
    case SmemMethod::cp_async:
    case SmemMethod::cg: bytes *= std::max(1U, shape.stages - 1); break;
    // A place is filled again as soon as it is free, so that while the block waits for a tile all of them are; but not
    // where results leave through it and the block's own first warp waits for that.
    case SmemMethod::bulk:
    case SmemMethod::tma: bytes *= shape.uses_async_store() ? std::max(1U, shape.stages - 1) : shape.stages; break;
    case SmemMethod::pipeline:
    case SmemMethod::tma_specialized: bytes *= shape.stages; break;
  }
  // Boxes at the edge of a matrix, and of narrow ones all, are payload in part only.
  const double whole = static_cast<double>(shape.tiles()) * shape.tile_bytes;
  return static_cast<double>(bytes) * static_cast<double>(shape.payload_bytes()) / whole;
}

SmemShape as_sync(const SmemShape& shape) {
  SmemShape sync = shape;
  sync.method = SmemMethod::sync;
  sync.store = SmemStore::registers;
  sync.stages = 1;
  sync.swizzle = 0;
  sync.fill_nan = false;
  return sync;
}

SmemShape only(SmemPart part, const SmemShape& shape) {
  SmemShape changed = shape;
  changed.part = part;
  return changed;
}

void add_rates(const SmemShape& shape, double seconds, double theoretical, Result& result) {
  const auto moved = static_cast<double>(traffic(shape));
  result.add("bandwidth", static_cast<double>(shape.payload_bytes()) / seconds / 1e9, "GB/s");
  result.add("memory_traffic", moved / seconds / 1e9, "GB/s");
  if (theoretical > 0) result.add("of_theoretical", moved / seconds / theoretical, "1");
}

std::vector<Axis> smem_axes() {
  const std::vector<std::string> fixed_grid{"persistent", "dynamic"};
  const std::vector<std::string> bulk{"bulk", "tma", "tma-specialized"};
  const std::vector<std::string> tensor{"tma", "tma-specialized"};
  constexpr double kMostColumns = (1U << 29) - 1;  // rows of less than 2^31 bytes
  return {
      {.name = "method",
       .kind = AxisKind::choice,
       .defaults = "all",
       .tuning = "all",
       .help = "how a tile gets from global memory to the chip",
       .choices = words(kernels::kSmemMethodNames)},
      {.name = "op",
       .kind = AxisKind::choice,
       .defaults = "copy",
       .help = "what becomes of it: stored again, summed up, or halved and stored",
       .choices = words(kernels::kSmemOpNames)},
      {.name = "dtype",
       .kind = AxisKind::choice,
       .defaults = "f32",
       .help = "type of the elements",
       .choices = words(kernels::kSmemTypeNames)},
      {.name = "access",
       .kind = AxisKind::choice,
       .defaults = "contiguous",
       .help = "each tile one piece of memory, or a box out of a matrix",
       .choices = {"contiguous", "strided"}},
      {.name = "size",
       .kind = AxisKind::size,
       .defaults = "1G",
       .tuning = "512M",
       .help = "bytes of payload",
       .min = 2},
      {.name = "columns",
       .defaults = "8192",
       .help = "elements of each row of the matrix",
       .max = kMostColumns,
       .only_with_axis = "access",
       .only_with_values = {"strided"}},
      {.name = "tile",
       .kind = AxisKind::size,
       .defaults = "4K,16K",
       .tuning = "2K,4K,8K,16K,32K",
       .help = "bytes of a tile, a multiple of 16 for each thread",
       .min = 512,
       .max = 1U << 20},
      {.name = "tile-width",
       .help = "bytes of a tile's row, a power of two: the width of TMA's box; default: 512, or the swizzle's span",
       .min = 16,
       .max = kWidest},
      {.name = "threads",
       .defaults = "128",
       .tuning = "64,128,256,512",
       .help = "threads that work on a tile, a multiple of 32",
       .min = 32,
       .max = kernels::kSmemMaxThreads},
      {.name = "stages",
       .defaults = "1,4",
       .tuning = "1,2,3,4,6,8",
       .help = "tiles of a block in shared memory at a time",
       .max = 8},
      {.name = "schedule",
       .kind = AxisKind::choice,
       .defaults = "one-tile-per-block,dynamic",
       .tuning = "all",
       .help = "which block works on which tile; dynamic: the next one from a counter",
       .choices = words(kernels::kSmemScheduleNames)},
      {.name = "blocks-per-sm",
       .tuning = "1,2,4,8",
       .help = "blocks of the grid for each multiprocessor; default: as many as fit at once",
       .max = 32,
       .only_with_axis = "schedule",
       .only_with_values = fixed_grid},
      {.name = "copy-bytes",
       .kind = AxisKind::choice,
       .help = "bytes that a thread copies by each cp.async; default: 16",
       .choices = {"4", "8", "16"},
       .only_with_axis = "method",
       .only_with_values = {"cp-async"}},
      {.name = "store",
       .kind = AxisKind::choice,
       .tuning = "all",
       .help = "how results get out: by each thread, or by a bulk copy out of shared memory; default: async",
       .choices = words(kernels::kSmemStoreNames),
       .only_with_axis = "method",
       .only_with_values = bulk},
      {.name = "swizzle",
       .kind = AxisKind::choice,
       .help = "span of TMA's swizzle of shared memory in bytes; default: none",
       .choices = {"none", "32", "64", "128"},
       .only_with_axis = "method",
       .only_with_values = tensor},
      {.name = "fill",
       .kind = AxisKind::choice,
       .help = "what TMA delivers for what lies outside of the matrix; default: zeros",
       .choices = {"zeros", "nan"},
       .only_with_axis = "method",
       .only_with_values = tensor},
      {.name = "intensity",
       .defaults = "0",
       .help = "fused multiply-adds for each element",
       .min = 0,
       .max = static_cast<double>(kernels::max_intensity(SmemType::f32))},
      {.name = "l2",
       .kind = AxisKind::choice,
       .defaults = "cold",
       .help = "the data comes from memory, or on purpose from the L2 cache",
       .choices = {"cold", "resident"}},
  };
}

}  // namespace xferbench
