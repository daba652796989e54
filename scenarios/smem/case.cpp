#include "scenarios/smem/case.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/units.hpp"
#include "scenarios/smem/rules.hpp"

namespace xferbench {

namespace {

unsigned number(const Case& c, const char* axis, unsigned otherwise) {
  return static_cast<unsigned>(c.count_or(axis, otherwise));
}

SmemStore store_of(const Case& c, const SmemShape& shape) {
  if (c.has("store")) return c.one_of<SmemStore>("store", kernels::kSmemStoreNames);
  return by_bulk_copy(shape.method) && shape.op != SmemOp::read ? SmemStore::async : SmemStore::registers;
}

std::optional<std::string> beyond_cache(const SmemShape& shape, std::uint64_t cache) {
  // The data must fit in half of L2, because each half of an H200's L2 may hold its own copy of the data. Both input
  // and output count, even if the kernel only reads: the cudaMemcpyAsync that the kernel is compared with reads and
  // writes the whole payload.
  const std::uint64_t touched = 2 * shape.payload_bytes();
  if (touched <= cache / 2) return std::nullopt;
  return fmt::format(
      "--l2 resident: {} read and written are more than half of the L2 cache of {}; choose a smaller --size",
      format_size(touched), format_size(cache));
}

/// Returns an error message if the size is not a whole number of rows or elements, otherwise nothing.
std::optional<std::string> broken_size(const SmemCase& c) {
  const std::uint64_t unit = c.strided ? c.shape.row_bytes : kernels::bytes_of(c.shape.type);
  if (c.size % unit == 0) return std::nullopt;
  const std::uint64_t below = c.size / unit * unit;
  const std::string nearest = below == 0 ? fmt::format("{}", unit) : fmt::format("{} or {}", below, below + unit);
  return fmt::format("--size {} is not a whole number of {} of {} B; choose {}", c.size,
                     c.strided ? "rows" : "elements", unit, nearest);
}

/// Returns why this GPU cannot run a case that is otherwise legal; nothing if it can.
std::optional<std::string> beyond_device(const SmemCase& c, const Capabilities& can) {
  if (can.environment.simulated()) return "the simulator does not model which instructions copy faster";
  if (auto broken = broken_rule(c.shape, can.multiprocessor)) return broken;
  const unsigned most = most_blocks(c.shape, can.multiprocessor);
  if (auto full = no_room(c.blocks_per_multiprocessor, most, "threads and shared memory leave")) return full;
  return c.resident ? beyond_cache(c.shape, can.environment.gpu.l2_bytes) : std::nullopt;
}

}  // namespace

SmemCase smem_case(const Case& c) {
  SmemCase s;
  SmemShape& shape = s.shape;
  shape.method = c.one_of<SmemMethod>("method", kernels::kSmemMethodNames);
  shape.op = c.one_of<SmemOp>("op", kernels::kSmemOpNames);
  shape.type = c.one_of<SmemType>("dtype", kernels::kSmemTypeNames);
  shape.schedule = c.one_of<SmemSchedule>("schedule", kernels::kSmemScheduleNames);
  const bool swizzled = c.has("swizzle") && c.word("swizzle") != "none";
  if (swizzled) shape.swizzle = static_cast<unsigned>(std::stoul(c.word("swizzle")));
  shape.tile_bytes = number(c, "tile", 0);
  shape.tile_width = number(c, "tile-width", shape.swizzle != 0 ? shape.swizzle : kernels::kSmemMaxWidth);
  shape.threads = number(c, "threads", 0);
  shape.stages = number(c, "stages", 1);
  if (c.has("copy-bytes")) shape.copy_bytes = static_cast<unsigned>(std::stoul(c.word("copy-bytes")));
  shape.store = store_of(c, shape);
  shape.fill_nan = c.is("fill", "nan");
  shape.intensity = number(c, "intensity", 0);
  s.size = c.count("size");
  s.strided = c.has("columns");
  if (s.strided) {
    const std::uint64_t row = c.count("columns") * kernels::bytes_of(shape.type);
    shape.set_matrix(std::max<std::uint64_t>(1, s.size / row), row);
  } else {
    shape.set_array(s.size);
  }
  if (c.has("blocks-per-sm")) s.blocks_per_multiprocessor = number(c, "blocks-per-sm", 1);
  s.resident = c.is("l2", "resident");
  return s;
}

std::optional<SkipReason> smem_skip_reason(const SmemCase& c, const Capabilities* can) {
  if (auto broken = broken_rule(c.shape)) return SkipReason::meaningless(std::move(*broken));
  if (auto broken = broken_size(c)) return SkipReason::impossible(std::move(*broken));
  if (can == nullptr) return std::nullopt;
  auto reason = beyond_device(c, *can);
  return reason ? std::optional(SkipReason::unavailable(std::move(*reason))) : std::nullopt;
}

std::uint64_t traffic(const SmemShape& shape) { return kernels::Smem(shape, {}).cost().bytes; }

bool computes(const SmemShape& shape) { return shape.intensity > 0 || shape.op == SmemOp::scale; }

double in_flight_per_block(const SmemShape& shape) {
  std::uint64_t bytes = shape.tile_bytes;
  switch (shape.method) {
    // Each thread loads as many vectors as it holds at a time, and issues the next loads when these have arrived.
    case SmemMethod::direct:
    case SmemMethod::sync:
      bytes = std::uint64_t{shape.vectors_at_a_time()} * kernels::kSmemVector * shape.threads;
      break;
    case SmemMethod::prefetch: break;
    // One slot of shared memory is processed while the others are loaded.
    case SmemMethod::cp_async:
    case SmemMethod::cg: bytes *= std::max(1U, shape.stages - 1); break;
    // Slots of shared memory are refilled as soon as they are free, so all of them are in flight while the block waits.
    // Async stores cost one slot, because the first warp waits until the previous store has read its slot.
    case SmemMethod::bulk:
    case SmemMethod::tma: bytes *= shape.uses_async_store() ? std::max(1U, shape.stages - 1) : shape.stages; break;
    case SmemMethod::pipeline:
    case SmemMethod::tma_specialized: bytes *= shape.stages; break;
  }
  // Tiles at the edge of a matrix, and all tiles of a narrow matrix, contain bytes outside of the payload.
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
  constexpr double kMostColumns = (1U << 29) - 1;  // keeps rows below 2^31 bytes
  const auto of_method = [](std::vector<std::string> methods, Axis axis) {
    return only_with("method", std::move(methods), std::move(axis));
  };
  const auto of_tensor = [&](Axis axis) { return of_method({"tma", "tma-specialized"}, std::move(axis)); };
  return {
      choice_axis("method", words(kernels::kSmemMethodNames),
                  {.defaults = "all", .tuning = "all", .help = "how a tile is loaded from global memory"}),
      choice_axis("op", words(kernels::kSmemOpNames),
                  {.defaults = "copy",
                   .help = "what is done with a tile; copy: store it; read: sum it up; scale: halve and store it"}),
      choice_axis("dtype", words(kernels::kSmemTypeNames), {.defaults = "f32", .help = "element type"}),
      choice_axis("access", {"contiguous", "strided"},
                  {.defaults = "contiguous",
                   .help = "contiguous: each tile is one piece of memory; strided: a box of a matrix"}),
      size_axis("size", {.defaults = "1G", .tuning = "512M", .help = "bytes of payload", .min = 2}),
      only_with("access", {"strided"},
                {.name = "columns", .defaults = "8192", .help = "elements per row of the matrix", .max = kMostColumns}),
      size_axis("tile", {.defaults = "4K,16K",
                         .tuning = "2K,4K,8K,16K,32K",
                         .help = "bytes per tile, a multiple of 16 per thread",
                         .min = 512,
                         .max = 1U << 20}),
      {.name = "tile-width",
       .help = "bytes per row of a tile, a power of two, which is the width of the TMA box; default: 512, or the span "
               "of the swizzle",
       .min = kernels::kSmemVector,
       .max = kernels::kSmemMaxWidth},
      {.name = "threads",
       .defaults = "128",
       .tuning = "64,128,256,512",
       .help = "threads per tile, a multiple of 32",
       .min = 32,
       .max = kernels::kSmemMaxThreads},
      {.name = "stages",
       .defaults = "1,4",
       .tuning = "1,2,3,4,6,8",
       .help = "tiles that a block holds in shared memory at a time",
       .max = kernels::kSmemMaxStages},
      choice_axis("schedule", words(kernels::kSmemScheduleNames),
                  {.defaults = "one-tile-per-block,dynamic",
                   .tuning = "all",
                   .help = "how tiles are assigned to blocks; dynamic: the next tile from a counter"}),
      only_with("schedule", {"persistent", "dynamic"},
                {.name = "blocks-per-sm",
                 .tuning = "1,2,4,8",
                 .help = "blocks per multiprocessor; default: as many as fit at once",
                 .max = 32}),
      of_method({"cp-async"}, choice_axis("copy-bytes", {"4", "8", "16"},
                                          {.help = "bytes that a thread copies with each cp.async; default: 16"})),
      of_method({"bulk", "tma", "tma-specialized"},
                choice_axis("store", words(kernels::kSmemStoreNames),
                            {.tuning = "all",
                             .help = "how results are stored: by each thread from registers, or by a bulk copy from "
                                     "shared memory (async); default: async"})),
      of_tensor(choice_axis("swizzle", {"none", "32", "64", "128"},
                            {.help = "span in bytes of the TMA swizzle of shared memory; default: none"})),
      of_tensor(choice_axis("fill", {"zeros", "nan"},
                            {.help = "value that TMA delivers for elements outside of the matrix; default: zeros"})),
      {.name = "intensity",
       .defaults = "0",
       .help = "fused multiply-adds per element",
       .min = 0,
       .max = static_cast<double>(kernels::max_intensity(SmemType::f32))},
      choice_axis("l2", {"cold", "resident"},
                  {.defaults = "cold", .help = "cold: the data comes from memory; resident: from the L2 cache"}),
  };
}

}  // namespace xferbench
