// What an explanation says of a program: plain records, without any presentation. Times in seconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_text.hpp"
#include "recording/recording.hpp"

namespace xferbench::explain {

/// Where the wall time of a stretch went; they add up to it.
struct Shares {
  double kernels = 0;   ///< kernels alone, and what else runs inside the GPU: fills, copies within its memory
  double copies = 0;    ///< copies alone
  double both = 0;      ///< kernels beside copies
  double waiting = 0;   ///< the GPU idle, the program waiting for its answer
  double calls = 0;     ///< the GPU idle, the program inside other CUDA calls
  double loading = 0;   ///< the GPU idle, CUDA starting, code being loaded, memory being allocated or pinned
  double program = 0;   ///< the GPU idle, the program doing work of its own
  double watching = 0;  ///< what recording added, as far as that is known
  [[nodiscard]] double total() const {
    return kernels + copies + both + waiting + calls + loading + program + watching;
  }
};

/// Copies of one direction, memory and size class.
struct Traffic {
  recording::CopyKind kind = recording::CopyKind::other;
  recording::Memory host = recording::Memory::unknown;  ///< of the side that is on the host; `device` where none is
  std::uint64_t smallest = 0;                           ///< bytes, of those that there are
  std::uint64_t largest = 0;
  std::size_t count = 0;
  std::uint64_t bytes = 0;  ///< all together
  double seconds = 0;       ///< sum of their times
  double busy = 0;          ///< in which at least one of them ran
  /// What this machine takes for copies of just these sizes from and to such memory, one after the other; nothing where
  /// it is not known, or says little because they are small (kSmallCopy).
  std::optional<double> reachable{};
  /// The same from and to pinned memory.
  std::optional<double> pinned{};
};

/// Where in the program something is.
struct Place {
  std::string call{};                ///< that most of it comes from: "cudaMemcpyAsync"
  std::string range{};               ///< the innermost NVTX range that is around most of it
  std::string kernel_before{};       ///< what most often ran in the stream before ...
  std::string kernel_after{};        ///< ... and after it
  std::vector<std::string> stack{};  ///< of the host, innermost first, where it was recorded
};

enum class FindingKind {
  pageable,        ///< copies from or to pageable memory
  small_copies,    ///< many that one could be
  slow_copies,     ///< slower than this machine can
  no_overlap,      ///< copies and kernels in turn
  needless_wait,   ///< the host waits and reads nothing
  result_wait,     ///< the host waits for a small result each time
  blocking_copy,   ///< copies from pinned memory by calls that block
  launch_bound,    ///< short kernels that a graph could launch at once
  setup,           ///< allocating, pinning, loading inside the stretch
  default_stream,  ///< makes other streams wait
  managed,         ///< pages that move because they are touched
};
constexpr auto texts_of(FindingKind) {
  return std::to_array<std::string_view>({"pageable", "small-copies", "slow-copies", "no-overlap", "needless-wait",
                                          "result-wait", "blocking-copy", "launch-bound", "setup", "default-stream",
                                          "managed"});
}

struct Finding {
  FindingKind kind = FindingKind::pageable;
  std::string what{};        ///< a sentence: what was found, with count and sizes
  std::string mend{};        ///< a sentence: what to do
  std::string assumption{};  ///< under which the gain holds: a sentence
  Place place{};
  std::size_t count = 0;
  std::uint64_t bytes = 0;      ///< all together
  std::uint64_t each_size = 0;  ///< of each copy, where all are of one size
  bool at_most = false;         ///< the gain may be less; else it is about that
  /// The stretch with this mended alone, and with all those before it in the list mended, too. Nothing where gains are
  /// withheld.
  std::optional<double> seconds_after{};
  std::optional<double> seconds_after_all{};
  double share = 0;  ///< of the wall time that is gained by it, alone or after the others, whichever is more
};

/// The stretch of the program that is explained.
struct Stretch {
  std::string range{};               ///< of NVTX; empty: the whole program
  std::size_t times = 1;             ///< that the range was there; they count together
  double seconds = 0;                ///< watched
  std::optional<double> bare{};      ///< the same without watching: the median of the runs
  std::optional<double> replayed{};  ///< by replay, with nothing changed
  /// What gains are relative to: `bare` where it is known, else `seconds`.
  [[nodiscard]] double reference() const { return bare.value_or(seconds); }
  /// How many times as long the program took watched; nothing without a bare run.
  [[nodiscard]] std::optional<double> watching() const {
    if (!bare || *bare <= 0) return std::nullopt;
    return seconds / *bare;
  }
};

/// One copy, for clouds of size over rate.
struct CopyPoint {
  recording::CopyKind kind = recording::CopyKind::other;
  recording::Memory host = recording::Memory::unknown;
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::size_t count = 1;  ///< copies of this kind and size that took about as long
};

/// What a line of a timeline is of.
enum class Track {
  h2d,
  kernel,
  d2h,
  inside,  ///< copies inside the GPU, fills
  peer,    ///< copies between GPUs
  moved,   ///< pages of managed memory that were touched
  calls,   ///< of a thread
  ranges,  ///< of NVTX
};
constexpr auto texts_of(Track) {
  return std::to_array<std::string_view>({"H2D", "kernel", "D2H", "inside", "P2P", "managed", "calls", "ranges"});
}

/// Something on it.
struct TimelineSpan {
  Track track = Track::kernel;
  std::uint32_t number = 0;  ///< of the stream, or of the thread
  std::uint32_t device = 0;  ///< of what ran on one
  std::string name{};
  std::uint64_t bytes = 0;
  double begin = 0;  ///< seconds from the beginning of the stretch
  double end = 0;
};

/// The first part of the stretch in which something was recorded.
struct Timeline {
  double from = 0;  ///< seconds from the beginning of the stretch
  double to = 0;
  std::vector<TimelineSpan> spans{};  ///< all that began in it, by begin
};

struct Counts {
  std::size_t copies = 0;
  std::size_t kernels = 0;
  std::size_t fills = 0;
  std::size_t calls = 0;
  std::size_t waits = 0;
  std::size_t graph_nodes = 0;
};

/// One process that used a GPU.
struct ProcessExplanation {
  std::uint32_t pid = 0;
  std::string command{};
  std::vector<std::string> gpus{};   ///< names
  std::string ending{};              ///< a sentence, where recording ended before the process did, or that in no order
  std::vector<std::string> notes{};  ///< sentences: what limits what is said here
  Stretch stretch{};
  Counts counts{};
  Shares shares{};
  std::vector<Traffic> traffic{};
  /// Why no gains are told; empty: they are.
  std::string withheld{};
  std::vector<Finding> findings{};  ///< by gain, the largest first
  std::size_t small_findings = 0;   ///< left out because they gain too little ...
  double least_share = 0.01;        ///< ... which is less than this share of the wall time
  /// The first so many findings mended together, from two on: [0] is of the first two.
  std::vector<double> together{};
  /// With just the kinds mended that were asked for: the stretch's time, whether it may take longer, and those kinds of
  /// which nothing was found. Nothing where none was found, or gains are withheld.
  std::optional<double> seconds_mended{};
  std::vector<std::string> mended{};  ///< that were asked for
  bool mended_at_most = false;
  std::vector<std::string> mended_missing{};
  std::vector<CopyPoint> cloud{};
  Timeline timeline{};
};

/// This machine's time for one copy of a size.
struct LimitPoint {
  std::uint64_t bytes = 0;
  double seconds = 0;
};
struct LimitCurve {
  recording::CopyKind kind = recording::CopyKind::other;
  recording::Memory host = recording::Memory::unknown;
  std::vector<LimitPoint> points{};
};

/// What else this machine takes, in seconds, as far as it was measured.
struct LimitTimes {
  std::optional<double> copy_call{};     ///< on the host, of an asynchronous copy
  std::optional<double> launch_call{};   ///< the same, of a kernel
  std::optional<double> kernel_start{};  ///< from that call to the kernel's begin
  std::optional<double> wake{};          ///< from the end of a kernel to that of the call that waits for it
  std::optional<double> handover{};      ///< from an operation to the next that waits for it
  std::optional<double> graph_call{};    ///< on the host, of a small graph's launch
  std::optional<double> graph_node{};    ///< on the device, for an empty kernel more in a graph
  std::optional<double> pin_per_byte{};  ///< for memory that is registered and unregistered again
};

struct Explanation {
  std::vector<std::string> command{};  ///< the program's
  bool simulated = false;
  std::string blind{};      ///< why nothing was recorded, a sentence: whether a GPU was used is not known then
  std::string profile{};    ///< of the simulated device
  std::string limits_of{};  ///< whose limits: "NVIDIA H200, driver 580.95, measured 2026-11-23"; empty: unknown
  std::vector<LimitCurve> limits{};
  LimitTimes limit_times{};
  std::vector<double> bare_runs{};  ///< seconds of the whole program, each time that it ran without being watched
  std::vector<double> watched_runs{};
  std::vector<std::string> warnings{};
  std::vector<ProcessExplanation> processes{};  ///< those that used a GPU, the one that used it longest first
};

}  // namespace xferbench::explain
