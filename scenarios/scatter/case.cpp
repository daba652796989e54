#include "scenarios/scatter/case.hpp"

#include <fmt/format.h>

#include <bit>
#include <variant>

#include "core/error.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

namespace {

constexpr const char* kScatterBothWays = "bidirectional";
constexpr std::size_t kAligned = 256;  // places are at multiples of this number, unless --align asks for less

/// Returns the distance in bytes between neighbouring places; 0: pieces follow each other without gaps.
std::size_t pitch_of(const ScatterCase& c, const Layout& layout, std::size_t largest) {
  if (layout.kind == Layout::Kind::contiguous) return 0;
  return c.pitch == 0 && layout.kind == Layout::Kind::strided ? 2 * largest : c.pitch;
}

/// Whether the pieces fill their buffer without gaps.
bool is_gapless(const ScatterCase& c, const Layout& layout) {
  const std::size_t pitch = pitch_of(c, layout, c.piece);
  return pitch == 0 || (c.equal_pieces() && pitch == c.piece);
}

/// Whether the places of this side are in order and at an even distance, as cudaMemcpy2DAsync needs them.
bool is_even(const Layout& layout) {
  return layout.kind == Layout::Kind::contiguous || layout.kind == Layout::Kind::strided;
}

/// Returns the axes that define which pieces move, and where they lie.
std::vector<Axis> axes_of_pieces() {
  constexpr double kMostNumber = 1'000'000;
  constexpr double kLargest = 1e12;  // bytes; products with the number of pieces cannot overflow
  const Axis layout{.kind = AxisKind::text, .example = "runs:16"};
  const auto side = [&layout](const char* name, const char* help) {
    Axis axis = layout;
    axis.name = name;
    axis.help = help;
    return axis;
  };
  Axis both = side("layout",
                   "order of the pieces on both sides: contiguous, strided, shuffled or runs:N, which is runs "
                   "of N neighbours in random order");
  both.defaults = "shuffled";
  return {
      choice_axis("dir", {"h2d", "d2h", "d2d", kScatterBothWays},
                  {.defaults = "h2d,d2h", .help = "direction; bidirectional: H2D and D2H at once"}),
      only_with(
          "dir", {"h2d", "d2h", kScatterBothWays},
          choice_axis("host", {"pinned", "pageable"},
                      {.defaults = "pinned", .help = "host memory of the pieces; pageable: with calls and packed"})),
      size_axis("size", {.defaults = "64M", .help = "bytes of all pieces together, for each direction"}),
      size_axis("piece", {.defaults = "16K", .help = "bytes of a piece", .max = kLargest}),
      only_with("piece", {},
                size_axis("piece-to", {.help = "mixed sizes, from --piece to this one: as many from 4K to 8K as from "
                                               "8K to 16K",
                                       .max = kLargest})),
      {.name = "piece-sizes",
       .kind = AxisKind::file,
       .help = "file with the bytes of each piece, one number in each line, repeated until --size is reached",
       .example = "sizes.txt",
       .alternative_to = "piece"},
      {.name = "kv",
       .kind = AxisKind::text,
       .help = "pieces of a cache of keys and values: one for each layer's keys or values in a block of tokens, "
               "several shapes separated by semicolons; in host memory a block's pieces lie together, unless "
               "--host-layout says otherwise",
       .example = "layers:32,heads:8,dim:128,tokens:16,dtype:bf16",
       .separator = ';',
       .alternative_to = "piece"},
      {.name = "pieces", .help = "number of pieces, in place of --size", .max = kMostNumber, .alternative_to = "size"},
      both,
      side("host-layout", "layout in host memory, in place of --layout; with --dir d2d of the source"),
      side("gpu-layout", "layout in GPU memory, in place of --layout; with --dir d2d of the destination"),
      size_axis("pitch", {.help = "bytes from one place to the next; default: twice the piece if strided, else no gap",
                          .max = kLargest}),
      {.name = "align", .help = "power of two: addresses are multiples of it, and of nothing larger", .max = kAligned},
  };
}

/// Returns the axes that define how the pieces are moved.
std::vector<Axis> axes_of_ways() {
  const auto yes = [](const char* name, const char* help) {
    return choice_axis(name, {"yes"}, {.implicit_value = "yes", .help = help});
  };
  const std::vector<std::string> by_batch{"batch", "batch-3d"};
  const std::vector<std::string> by_kernel{"kernel", "bulk", "staged", "packed"};
  return {
      choice_axis("way", words(kScatterWays),
                  {.defaults = "calls,batch,kernel,staged",
                   .tuning = "calls,batch,strided,kernel,bulk,staged,packed",
                   .help = "what moves the pieces; staged: copies of the whole host range, which "
                           "must have no gaps, and a kernel that spreads or packs them"}),
      yes("merge", "join pieces that are neighbours on both sides before they are moved"),
      only_with("way", {"calls"},
                {.name = "streams", .defaults = "1", .help = "streams that share the calls", .max = 64}),
      only_with("way", {"staged"},
                {.name = "chunks",
                 .defaults = "5",
                 .tuning = "3,5,7",
                 .help = "whole copies per pass, each half as large as the one before",
                 .max = 64}),
      only_with("way", {"packed"},
                {.name = "threads",
                 .defaults = "8",
                 .tuning = "4,8,12",
                 .help = "CPU threads that pack or unpack",
                 .max = 256}),
      only_with("way", by_kernel,
                {.name = "blocks",
                 .tuning = "8,16,33,66",
                 .help = "thread blocks of the kernel; default: enough to fill the link",
                 .max = 1024}),
      only_with(
          "way", by_kernel,
          choice_axis("list", words(kPieceLists),
                      {.defaults = "copied",
                       .help = "where the kernel finds the list of pieces: copied to the GPU in each pass, mapped "
                               "host memory, or resident on the GPU"})),
      only_with("way", by_batch,
                choice_axis("source-order", words(kSourceOrders),
                            {.defaults = "stream", .help = "when the driver may read the sources"})),
      only_with("way", by_batch, yes("prefer-overlap", "ask the driver to overlap the batch with kernels")),
      only_with("way", by_batch,
                {.name = "behind-kernel",
                 .kind = AxisKind::time,
                 .help = "launch a kernel first that runs so long, as the driver copies small pieces itself if the "
                         "stream is idle; it counts in all times; a number without a unit is in microseconds",
                 .min = 0,
                 .max = 1e6,
                 .unit = 1e-6}),
      choice_axis(
          "beside", words(kBeside),
          {.defaults = "none", .help = "a kernel that fills the GPU meanwhile and uses its memory or computes"}),
  };
}

/// Returns why the piece sizes of the case are invalid; nothing if they are valid.
std::optional<SkipReason> reason_against_sizes(const ScatterCase& c) {
  if (!c.kv.empty() && !c.piece_sizes.empty())
    return SkipReason::impossible("--kv and --piece-sizes exclude each other");
  const auto parsed = parse_cache_block(c.kv);
  if (const auto* fault = std::get_if<std::string>(&parsed); fault != nullptr && !c.kv.empty()) {
    return SkipReason::impossible(fmt::format(
        "--kv {}: {}; write a shape like layers:32,heads:8,dim:128,tokens:16,dtype:bf16, and several separated by ;",
        c.kv, *fault));
  }
  if (c.size == 0)
    return SkipReason::impossible("mixed sizes need --size, the bytes of all pieces, in place of --pieces");
  if (c.piece_to != 0 && c.piece_to < c.piece) return SkipReason::impossible("--piece-to is smaller than --piece");
  if (c.piece_sizes.empty() && c.size / c.piece >= kMostPieces) {
    return SkipReason::impossible("there would be more than 4,000,000 pieces; choose a larger --piece");
  }
  if (std::max(c.piece, c.piece_to) > c.size) return SkipReason::impossible("a piece is larger than --size");
  try {
    static_cast<void>(c.piece_sizes.empty() ? std::vector<std::size_t>() : c.sizes());
  } catch (const InputError& error) {
    return SkipReason::impossible(error.what());
  }
  return std::nullopt;
}

/// Returns why the layout of the case is impossible; nothing if it is possible.
std::optional<SkipReason> reason_against_shape(const ScatterCase& c) {
  if (!c.host || !c.gpu) {
    return SkipReason::impossible("a layout is one of contiguous, strided, shuffled and runs:N, such as runs:16");
  }
  if (auto reason = reason_against_sizes(c)) return reason;
  if (c.pitch != 0 && c.pitch < std::max(c.piece, c.piece_to)) {
    return SkipReason::impossible("--pitch is smaller than a piece");
  }
  if (c.align != 0 && !std::has_single_bit(c.align)) return SkipReason::impossible("--align is not a power of two");
  return std::nullopt;
}

bool suits_bulk_copies(const ScatterCase& c) {
  constexpr std::size_t kUnit = 16;
  const auto suits = [](std::size_t bytes) { return bytes % kUnit == 0; };
  const bool all_suit = suits(c.piece) && suits(c.piece_to) && suits(c.size) && suits(c.pitch) && suits(c.align);
  return c.piece_sizes.empty() ? all_suit : suits(c.pitch) && suits(c.align) && std::ranges::all_of(c.sizes(), suits);
}

/// Returns why the way cannot move such pieces on any device; nothing if it can.
std::optional<SkipReason> reason_against_way(const ScatterCase& c) {
  if (c.way == ScatterWay::strided && !(is_even(*c.host) && is_even(*c.gpu))) {
    return SkipReason::meaningless("strided needs the layout strided or contiguous on both sides");
  }
  if (c.way == ScatterWay::strided && (!c.equal_pieces() || c.size % c.piece != 0)) {
    return SkipReason::impossible("strided needs pieces of equal size, and a --size that is a multiple of --piece");
  }
  if ((c.way == ScatterWay::staged || c.way == ScatterWay::packed) && c.inside_gpu()) {
    return SkipReason::meaningless("staged and packed are for copies over the link");
  }
  if (c.way == ScatterWay::staged && !is_gapless(c, *c.host)) {
    return SkipReason::meaningless(
        "staged needs pieces that fill host memory without gaps; with gaps, kernel and packed are fast");
  }
  if (c.memory == HostMemory::pageable && c.way != ScatterWay::calls && c.way != ScatterWay::packed) {
    return SkipReason::meaningless("pageable memory can be moved by calls and packed only");
  }
  if (c.way == ScatterWay::bulk && !suits_bulk_copies(c)) {
    return SkipReason::impossible("bulk copies need pieces, places and sizes that are multiples of 16 bytes");
  }
  return std::nullopt;
}

}  // namespace

ScatterCase scatter_case(const Case& c) {
  ScatterCase s;
  s.dir = c.word("dir");
  s.directions = {Direction::h2d, Direction::d2h};
  if (s.dir != kScatterBothWays) s.directions = {c.one_of<Direction>("dir", kDirections)};
  const auto layout = [&c](const char* side) { return parse_layout(c.word(c.has(side) ? side : "layout")); };
  s.host = layout("host-layout");
  s.gpu = layout("gpu-layout");
  s.piece = c.count_or("piece", 1);
  s.piece_to = c.count_or("piece-to", 0);
  if (c.has("piece-sizes")) s.piece_sizes = c.word("piece-sizes");
  if (c.has("kv")) s.kv = c.word("kv");
  const auto parsed = parse_cache_block(s.kv);
  if (const auto* block = std::get_if<CacheBlock>(&parsed)) {
    s.piece = block->piece;
    if (!c.has("host-layout")) s.host = Layout{Layout::Kind::runs, block->pieces};
  }
  s.size = c.count_or("size", s.equal_pieces() ? s.piece * c.count_or("pieces", 0) : 0);  // 0 is refused later
  s.pitch = c.count_or("pitch", 0);
  s.align = c.count_or("align", 0);
  s.way = c.one_of<ScatterWay>("way", kScatterWays);
  s.merge = c.is("merge", "yes");
  s.streams = c.count_or("streams", 1);
  s.chunks = c.count_or("chunks", 1);
  s.threads = c.count_or("threads", 1);
  if (c.has("host")) s.memory = host_memory(c.word("host"));
  if (c.has("blocks")) s.blocks = static_cast<unsigned>(c.count("blocks"));
  if (c.has("list")) s.list = c.one_of<PieceList>("list", kPieceLists);
  if (c.has("source-order")) s.order = c.one_of<SourceOrder>("source-order", kSourceOrders);
  s.beside_kernels = c.is("prefer-overlap", "yes");
  if (c.has("behind-kernel")) s.behind_kernel = c.real("behind-kernel") * 1e-6;
  s.beside = c.one_of<Beside>("beside", kBeside);
  return s;
}

std::vector<std::size_t> ScatterCase::sizes() const {
  if (!piece_sizes.empty()) return sizes_in_file(piece_sizes, size);
  return piece_to == 0 ? equal_sizes(size, piece) : spread_sizes(size, piece, piece_to);
}

Places ScatterCase::places(bool on_host, std::span<const std::size_t> sizes) const {
  const Layout& layout = on_host ? *host : *gpu;
  // The two sides are shifted by different amounts, so that their addresses differ in the bits below `align`, too.
  const std::size_t shift = align == 0 ? 0 : on_host ? align : 2 * align;
  return places_of(layout, sizes, pitch_of(*this, layout, std::ranges::max(sizes)), shift, on_host ? 1 : 2);
}

std::vector<Axis> scatter_axes() { return with_shared(axes_of_pieces(), axes_of_ways()); }

std::optional<SkipReason> reason_against(const ScatterCase& c, const Capabilities* can) {
  if (auto reason = reason_against_shape(c)) return reason;
  if (auto reason = reason_against_way(c)) return reason;
  if (can == nullptr) return std::nullopt;
  if (can->environment.simulated() && c.beside == Beside::memory && c.by_kernel()) {
    return SkipReason::unavailable(
        "the simulated device does not model what a kernel that uses memory loses beside one that copies");
  }
  if (can->environment.simulated() && c.beside_kernels) {
    return SkipReason::unavailable("--prefer-overlap asks the driver, and the simulated device has none; leave it out");
  }
  constexpr unsigned kHopper = 90;
  if (c.way == ScatterWay::bulk && can->multiprocessor.compute_capability < kHopper && !can->environment.simulated()) {
    return SkipReason::unavailable("bulk copies need a GPU of compute capability 9.0 or higher");
  }
  if (c.by_batch() && !can->batch_copies) {
    return SkipReason::unavailable("batches of copies need CUDA 12.8 or newer, in the driver and in this build");
  }
  return std::nullopt;
}

}  // namespace xferbench
