// The cases of scenario scatter: axes, parsing, which combinations are legal, and the search space of `tune`.
#pragma once

#include <cstddef>
#include <string_view>

#include "device/types.hpp"
#include "run/scenario.hpp"
#include "scenarios/scatter/pieces.hpp"
#include "scenarios/scatter/sizes.hpp"

namespace xferbench {

/// How the pieces are moved.
enum class ScatterWay {
  calls,     ///< one cudaMemcpyAsync for each piece
  graph,     ///< the same calls, captured in a graph
  batch,     ///< one cudaMemcpyBatchAsync
  batch_3d,  ///< one cudaMemcpy3DBatchAsync, for which each piece is a volume of one row
  strided,   ///< one cudaMemcpy2DAsync, for pieces at an even distance
  kernel,    ///< a kernel whose threads read and write all pieces
  bulk,      ///< a kernel that moves all pieces by bulk copies (TMA)
  staged,    ///< whole copies between the host and a buffer on the GPU, and a kernel that spreads or packs the pieces
  packed,    ///< CPU threads pack the pieces into pinned slots or unpack them; then as staged
};
inline constexpr std::array<std::string_view, 9> kScatterWays{"calls",  "graph", "batch",  "batch-3d", "strided",
                                                              "kernel", "bulk",  "staged", "packed"};

/// Where a kernel finds its list of pieces.
enum class PieceList {
  copied,    ///< in GPU memory; each pass first copies it there
  mapped,    ///< in page-locked host memory, which the kernel reads
  resident,  ///< in GPU memory since before the first pass, as for a list that never changes
};
inline constexpr std::array<std::string_view, 3> kPieceLists{"copied", "mapped", "resident"};
inline constexpr std::array<std::string_view, 3> kSourceOrders{"stream", "during-call", "any"};

/// A kernel that fills the GPU while pieces move.
enum class Beside { none, memory, compute };
inline constexpr std::array<std::string_view, 3> kBeside{"none", "memory", "compute"};

/// Bytes of the buffer that Beside::memory reads and writes, many times the size of L2.
inline constexpr std::size_t kBusyBytes = std::size_t{512} << 20;

struct ScatterCase {
  std::string dir;
  std::vector<Direction> directions;  ///< two directions: both at once, each with a payload of its own
  std::size_t size = 0;               ///< bytes of all pieces of one direction
  std::size_t piece = 0;              ///< bytes of a piece, or of the smallest; the last piece may be shorter
  std::size_t piece_to = 0;           ///< bytes of the largest piece; 0: all are equal
  std::string piece_sizes;            ///< file with the sizes, instead of `piece` and `piece_to`; may be empty
  std::string kv;                     ///< shape of a KV cache's blocks, which defines `piece`; may be empty
  std::optional<Layout> host;         ///< layout in host memory or, for d2d, of the source; nothing: unknown word
  std::optional<Layout> gpu;          ///< layout in GPU memory or, for d2d, of the destination
  std::size_t pitch = 0;              ///< bytes from one place to the next; 0: the layout's default
  std::size_t align = 0;              ///< greatest power of two that divides all addresses; 0: at least 256
  ScatterWay way = ScatterWay::calls;
  bool merge = false;                      ///< join pieces that are neighbours on both sides
  std::size_t streams = 1;                 ///< ScatterWay::calls: number of streams that share the calls
  std::size_t chunks = 1;                  ///< ScatterWay::staged: number of whole copies
  std::size_t threads = 1;                 ///< ScatterWay::packed: number of CPU threads
  HostMemory memory = HostMemory::pinned;  ///< kind of the host memory that holds the pieces
  std::optional<unsigned> blocks;          ///< thread blocks of the kernel; nothing: the default of the way
  PieceList list = PieceList::copied;
  SourceOrder order = SourceOrder::stream;
  bool beside_kernels = false;  ///< only if by_batch(): whether the batch asks for overlap with kernels
  /// Only if by_batch(): seconds of a kernel that runs first, so that the stream is not idle; nothing: no kernel.
  std::optional<double> behind_kernel;
  Beside beside = Beside::none;

  [[nodiscard]] bool by_kernel() const {
    return way == ScatterWay::kernel || way == ScatterWay::bulk || way == ScatterWay::staged ||
           way == ScatterWay::packed;
  }
  [[nodiscard]] bool by_batch() const { return way == ScatterWay::batch || way == ScatterWay::batch_3d; }
  [[nodiscard]] bool inside_gpu() const { return directions.front() == Direction::d2d; }
  [[nodiscard]] bool equal_pieces() const { return piece_to == 0 && piece_sizes.empty(); }
  /// Returns the bytes of each piece. Throws InputError if the file with the sizes is unusable.
  [[nodiscard]] std::vector<std::size_t> sizes() const;
  /// Returns the places of pieces of these sizes on one side. `on_host`: the host side or, for d2d, the source.
  [[nodiscard]] Places places(bool on_host, std::span<const std::size_t> sizes) const;
  /// Bytes of all directions together.
  [[nodiscard]] std::size_t bytes() const { return directions.size() * size; }
};
ScatterCase scatter_case(const Case& c);

std::vector<Axis> scatter_axes();

/// Returns why the case cannot run; nothing if it can. With null capabilities, only reasons that hold on every device.
std::optional<SkipReason> reason_against(const ScatterCase& c, const Capabilities* can);

/// Returns a search space over the ways to move one list of pieces. The cases must be legal and do the same work.
/// Measures a contiguous copy, and the cost per piece of calls and of a batch.
std::unique_ptr<Tunable> scatter_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
