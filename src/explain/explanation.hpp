// The result of an analysis: plain records, without any presentation. Times in seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/enum_text.hpp"
#include "recording/recording.hpp"

namespace xferbench::explain {

/// Breakdown of the wall time of the analyzed window; the parts add up to it.
struct Shares {
  double kernels = 0;    ///< kernels without concurrent copies; includes fills and copies within GPU memory
  double copies = 0;     ///< copies without concurrent kernels
  double both = 0;       ///< kernels and copies at the same time
  double waiting = 0;    ///< GPU idle while the program waits for it
  double calls = 0;      ///< GPU idle during other CUDA calls
  double loading = 0;    ///< GPU idle during CUDA start-up, code loading, allocation or pinning
  double program = 0;    ///< GPU idle while the program runs its own code
  double profiling = 0;  ///< profiler overhead; 0 without a baseline run
  [[nodiscard]] double total() const {
    return kernels + copies + both + waiting + calls + loading + program + profiling;
  }
};

/// Statistics of the copies that have the same direction, kind of host memory and size class.
struct Traffic {
  recording::CopyKind kind = recording::CopyKind::other;
  recording::Memory host = recording::Memory::unknown;  ///< memory of the host side; `device` if there is none
  std::uint64_t smallest = 0;                           ///< smallest recorded copy, bytes
  std::uint64_t largest = 0;
  std::size_t count = 0;
  std::uint64_t bytes = 0;  ///< total size of the copies
  double seconds = 0;       ///< sum of the durations
  double busy = 0;          ///< time during which at least one of the copies ran
  /// Sum of the times that these copies take at this machine's measured limits. Nothing if a limit is unknown, or if
  /// the copies are too small for a meaningful comparison (kSmallCopy).
  std::optional<double> reachable{};
  /// Like `reachable`, if the host memory of the copies were pinned.
  std::optional<double> pinned{};
};

/// Where most of the calls or operations of a finding are in the program.
struct Place {
  std::string call{};                ///< CUDA function that is called there, for example "cudaMemcpyAsync"
  std::string range{};               ///< innermost NVTX range around the calls
  std::string kernel_before{};       ///< kernel that most often runs before the operations in their stream
  std::string kernel_after{};        ///< kernel that most often runs after the operations in their stream
  std::vector<std::string> stack{};  ///< host call stack, innermost frame first, if recorded
};

enum class FindingKind {
  pageable,        ///< copies from or to pageable memory
  small_copies,    ///< many small copies in a row that could be merged into one
  slow_copies,     ///< copies that are slower than this machine's measured limit
  no_overlap,      ///< copies and kernels alternate instead of overlapping
  needless_wait,   ///< the host waits for the GPU although nothing was copied back since its last wait
  result_wait,     ///< the host waits for a small result in each iteration
  blocking_copy,   ///< blocking copies from pinned memory, for example by cudaMemcpy
  launch_bound,    ///< many short kernels whose launches one CUDA graph launch could replace
  setup,           ///< allocating, pinning or loading code inside the window
  default_stream,  ///< the legacy default stream makes other streams wait
  managed,         ///< managed pages migrate on access
  fresh_memory,    ///< memory is touched for the first time by a copy, or anew in each step
  mapped_copy,     ///< copies from a file that is mapped into memory
  read_in_turn,    ///< files are read between the copies to the GPU, by the same thread
  read_twice,      ///< parts of files are read again
  host_copy,       ///< before copies to the GPU, their thread probably copies the data into pinned memory
  slow_workers,    ///< before copies to the GPU, their thread waits for workers that prepare the data
};
constexpr auto texts_of(FindingKind) {
  return enum_texts("pageable", "small-copies", "slow-copies", "no-overlap", "needless-wait", "result-wait",
                    "blocking-copy", "launch-bound", "setup", "default-stream", "managed", "fresh-memory",
                    "mapped-copy", "read-in-turn", "read-twice", "host-copy", "slow-workers");
}

/// Another fix of a finding.
struct Alternative {
  std::string text{};        ///< what to do, as a noun
  double seconds_after = 0;  ///< seconds of the window with only this finding fixed, in this way
};

struct Finding {
  FindingKind kind = FindingKind::pageable;
  std::string what{};        ///< what was found, with count and sizes, as a sentence
  std::string fix{};         ///< what to do, as a sentence
  std::string assumption{};  ///< condition under which the program may be changed like this, as a sentence
  std::string way{};         ///< noun for the fix, if there are alternatives; may be empty
  Place place{};
  std::size_t count = 0;
  std::uint64_t bytes = 0;      ///< total size of the copies or migrations
  std::uint64_t each_size = 0;  ///< size of each copy if all are equal, else 0
  bool at_most = false;         ///< the gain is an upper bound; otherwise an estimate
  /// Seconds of the window with only this finding fixed, and with this and all earlier findings of the list fixed.
  /// Nothing if gains are unavailable.
  std::optional<double> seconds_after{};
  std::optional<double> seconds_after_all{};
  /// Lower end of the range of which `seconds_after` is the upper end. It assumes that the program's own work that
  /// recurs before each merged copy (wrappers, a loop iteration) disappears with the copy, or that the CPU copies fast
  /// where fixed copies depend on it. Nothing if both ends differ by less than 2 %.
  std::optional<double> seconds_after_least{};
  double work_around = 0;                   ///< seconds of that recurring work, of all copies; 0: a fast CPU is assumed
  std::vector<Alternative> alternatives{};  ///< fastest first
  double share = 0;  ///< the larger gain of this fix, alone or after the earlier fixes, as a share of the wall time
};

/// The analyzed part of the program: all of it, or an NVTX range.
struct WindowSummary {
  std::string range{};    ///< NVTX range; empty: the whole program
  std::size_t times = 1;  ///< number of occurrences of the range; they are analyzed together
  double seconds = 0;     ///< duration with the profiler
  std::optional<double>
      baseline{};  ///< duration without the profiler: of the median run, or of the faster of the two middle ones
  std::optional<double> replayed{};  ///< duration of the replay of the unchanged program
  /// Returns the duration to which gains are relative: `baseline` if it is known, else `seconds`.
  [[nodiscard]] double reference() const { return baseline.value_or(seconds); }
  /// Returns the slow-down factor of the profiler; nothing without a baseline run.
  [[nodiscard]] std::optional<double> profiling() const {
    if (!baseline || *baseline <= 0) return std::nullopt;
    return seconds / *baseline;
  }
};

/// One point of the scatter plot of copy size and rate.
struct CopyPoint {
  recording::CopyKind kind = recording::CopyKind::other;
  recording::Memory host = recording::Memory::unknown;
  std::uint64_t bytes = 0;
  double seconds = 0;
  std::size_t count = 1;  ///< number of copies of this kind and size with about the same duration
};

/// Kind of a timeline row.
enum class Track {
  h2d,
  kernel,
  d2h,
  inside,  ///< copies inside the GPU, fills
  peer,    ///< copies between GPUs
  moved,   ///< migrations of managed pages
  calls,   ///< CUDA calls of a thread
  ranges,  ///< NVTX ranges
};
constexpr auto texts_of(Track) {
  return enum_texts("H2D", "kernel", "D2H", "inside", "P2P", "managed", "calls", "ranges");
}

/// One interval in a timeline row.
struct TimelineSpan {
  Track track = Track::kernel;
  std::uint32_t number = 0;  ///< id of the stream (operations) or of the thread (calls, ranges)
  std::uint32_t device = 0;  ///< id of the GPU; only for operations and migrations
  std::string name{};
  std::uint64_t bytes = 0;
  double begin = 0;  ///< seconds from the beginning of the window
  double end = 0;
};

/// Timeline of the window, from the first recorded span on. If there are too many spans, the last ones are left out.
struct Timeline {
  double from = 0;  ///< seconds from the beginning of the window
  double to = 0;
  std::vector<TimelineSpan> spans{};  ///< all spans that began between `from` and `to`, sorted by begin
};

struct Counts {
  std::size_t copies = 0;
  std::size_t kernels = 0;
  std::size_t fills = 0;
  std::size_t calls = 0;
  std::size_t waits = 0;
  std::size_t graph_nodes = 0;
};

/// The analysis of one process that used a GPU.
struct ProcessExplanation {
  std::uint32_t pid = 0;
  std::string command{};
  std::vector<std::string> gpus{};  ///< names of the GPUs that the process used
  /// A sentence if the recording ended before the process, or the process ended abnormally; else empty.
  std::string ending{};
  std::vector<std::string> notes{};  ///< limitations of this analysis, as sentences
  WindowSummary window_summary{};
  Counts counts{};
  Shares shares{};
  double collectives = 0;  ///< seconds of NCCL's kernels on each GPU; they also wait for other processes
  std::vector<Traffic> traffic{};
  /// Why gains are unavailable; empty if they are available.
  std::string gains_unavailable{};
  std::vector<Finding> findings{};  ///< sorted by gain, largest first
  std::size_t small_findings = 0;   ///< number of findings left out because they gain less than `least_share`
  double least_share = 0.01;        ///< findings that gain a smaller share of the wall time are left out
  /// Seconds of the window with only the findings of the requested kinds (`fixed`) fixed. Nothing if no such finding
  /// exists, or if gains are unavailable.
  std::optional<double> seconds_fixed{};
  std::optional<double> seconds_fixed_least{};  ///< lower end of its range; see Finding::seconds_after_least
  std::vector<std::string> fixed{};             ///< kinds of findings that the user asked to fix (Options::fixed)
  bool fixed_at_most = false;  ///< the gain of the fixes is an upper bound, also that of `seconds_fixed_least`
  std::vector<std::string> fixes_missing{};  ///< the kinds in `fixed` without a finding
  std::vector<CopyPoint> cloud{};
  Timeline timeline{};
};

/// The measured time of one copy of this size.
struct LimitPoint {
  std::uint64_t bytes = 0;
  double seconds = 0;
};
struct LimitCurve {
  recording::CopyKind kind = recording::CopyKind::other;
  recording::Memory host = recording::Memory::unknown;
  std::vector<LimitPoint> points{};
};

/// Other measured times of this machine in seconds; nothing if not measured.
struct LimitTimes {
  std::optional<double> copy_call{};       ///< host time of an asynchronous copy call
  std::optional<double> launch_call{};     ///< host time of a kernel launch call
  std::optional<double> kernel_start{};    ///< from the kernel launch call to the begin of the kernel
  std::optional<double> wake{};            ///< from the end of a kernel to the return of the call that waits for it
  std::optional<double> handover{};        ///< from the end of an operation to the begin of one that depends on it
  std::optional<double> graph_call{};      ///< host time of launching a small graph
  std::optional<double> graph_node{};      ///< GPU time per additional empty kernel in a graph
  std::optional<double> pin_per_byte{};    ///< seconds per byte to register and unregister memory
  std::optional<double> touch_per_byte{};  ///< seconds per byte to allocate, touch and free memory
};

struct Explanation {
  std::vector<std::string> command{};  ///< command line of the analyzed program
  bool simulated = false;
  std::string no_trace{};   ///< why nothing was recorded, as a sentence; GPU use is then unknown
  std::string profile{};    ///< profile of the simulated device, if simulated
  std::string limits_of{};  ///< source of the limits, for example "NVIDIA H200, measured 2026-11-23"; empty: unknown
  std::vector<LimitCurve> limits{};
  LimitTimes limit_times{};
  /// Wall time of the whole program without the profiler in seconds, for each run.
  std::vector<double> baseline_runs{};
  std::vector<double> profiled_runs{};
  std::vector<std::string> warnings{};
  std::vector<ProcessExplanation> processes{};  ///< processes that used a GPU, longest use first
};

}  // namespace xferbench::explain
