// A program in the analyzed window as a dependency graph: host calls in order on their threads, operations in order on
// their streams, and waits and events between them. It is made from a recording and replayed with or without changes
// (explain/replay.hpp). Times in seconds from the beginning of the window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "explain/costs.hpp"
#include "explain/window.hpp"
#include "recording/cuda_calls.hpp"
#include "recording/recording.hpp"
#include "results/recording_file.hpp"

namespace xferbench::explain {

using Index = std::uint32_t;
inline constexpr Index kNone = std::numeric_limits<Index>::max();

/// A resource of a GPU, such as a copy engine, that only one operation can use at a time.
enum class Engine : std::uint8_t {
  h2d,
  d2h,
  compute,  ///< kernels and fills; kernels that overlapped in the recording may overlap in the replay, too
  inside,   ///< copies inside the GPU
  peer,
  none,
};

/// An operation that must end before another one begins.
struct Dependency {
  Index operation = kNone;
  bool legacy = false;  ///< exists only because one of the two is in the legacy default stream
};

/// A copy, fill or kernel on a device, or a join (is_join), which only waits for other operations.
struct Operation {
  double begin = 0;  ///< as recorded
  double end = 0;
  double work = 0;      ///< duration in seconds if nothing else uses its engine and the link
  double delay = 0;     ///< seconds from the begin of the call to the operation's begin, if nothing else delays it
  double handover = 0;  ///< seconds from the last dependency's end to the operation's begin, if nothing else delays it
  std::uint64_t bytes = 0;
  Index call = kNone;    ///< index of the call that enqueued it; kNone: enqueued before the window, or by the device
  Index stream = 0;      ///< index into Program::streams
  Index name = 0;        ///< NameId; only for kernels
  float least_part = 0;  ///< if a kernel is split into chunks, each chunk takes at least this share of its time
  std::uint32_t correlation = 0;  ///< CUPTI's correlation id of its call
  std::vector<Dependency> after{};
  std::uint32_t device = 0;
  Engine engine = Engine::none;
  CopyKind copy = CopyKind::other;
  Memory host = Memory::unknown;  ///< copies: kind of memory on the host side
  bool is_copy = false;
  bool side_by_side = false;  ///< the kernel overlapped another for at least half of the shorter kernel's duration
  bool in_graph = false;
  bool is_join = false;  ///< not recorded: stands for all operations in `after`, and ends with the last of them
  /// True for copies that the host stages and kernels that wait for managed pages: their durations vary between runs.
  bool varies = false;
  bool by_cpu_rate = false;  ///< fixed copies: `work` follows from the CPU's copy rate, which varies between processes
};

/// Counters of a sampled copy (recording::Usage).
struct Sample {
  Index source_file = 0;     ///< NameId; the mapped file from which the copy reads
  std::uint64_t faults = 0;  ///< page faults in the call
  // Activity of the copy's thread since its previous sampled copy to the GPU; 0 for the first one in the window.
  std::uint64_t faults_before = 0;
  std::uint64_t read_before = 0;       ///< bytes read, as of the last time that the counter was read
  std::uint64_t from_disk_before = 0;  ///< bytes read from storage devices, likewise
  double idle_before = 0;              ///< seconds that it neither used a CPU nor was in a CUDA call
  double outside_before = 0;           ///< seconds outside of CUDA calls, `idle_before` among them
};

struct HostCall {
  double begin = 0;  ///< as recorded
  double end = 0;
  double gap = 0;  ///< from the end of `follows` to the begin of this call: the program's own work
  double own = 0;  ///< duration without waiting
  /// Seconds from the end of the last awaited operation to the return of the call; negative if the call returns first.
  double wake = 0;
  /// Index of the call that must end before this call is made: the previous call of its thread or, if threads take
  /// turns or this is the first call of its thread, a call of another thread.
  Index follows = kNone;
  Index previous = kNone;  ///< index of the previous call on the same thread if that is not `follows`, else kNone
  Index name = 0;          ///< NameId
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
  CudaCallKind kind = CudaCallKind::none;
  bool is_sampled = false;  ///< a copy to the GPU that is in Program::samples
  bool asynchronous = false;
  /// A fix merges this copy with a later one, or the call lies between such copies. The time since the previous
  /// call and the time of the call itself stay, unless remove_recurring_work() removes them.
  bool merged = false;
  /// True for the copy into which a fix merges others, and for later calls of its thread up to the next launch or wait.
  /// The time between the previous call and this one stays, because the program may need it to prepare the use of these
  /// copies; only remove_recurring_work() removes it.
  bool after_merged = false;
  std::vector<Index> operations{};  ///< indices of the operations that it enqueues, in order
  std::vector<Index> waits_for{};   ///< indices of the operations that it waits for
};

struct StreamInfo {
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  recording::StreamFlag flag = recording::StreamFlag::unknown;
};

struct Program {
  double seconds = 0;                   ///< duration of the window, as recorded
  std::vector<HostCall> calls{};        ///< sorted by begin; the last one marks the end of the window
  std::vector<Operation> operations{};  ///< sorted by begin, followed by the joins
  std::vector<StreamInfo> streams{};
  std::map<Index, Sample> samples{};  ///< by the index of the call
  double duplex_h2d = 1;              ///< speed of an H2D copy while a D2H copy runs, as a share of its speed alone
  double duplex_d2h = 1;              ///< speed of a D2H copy while an H2D copy runs, as a share of its speed alone
  std::size_t kernels_at_once = 1;    ///< largest number of kernels that ran concurrently
};

/// Makes an operation wait for operation `on`, unless it already does. Does nothing if `on` is kNone.
void depend(Operation& o, Index on, bool legacy = false);

/// Returns the sample of the call; all 0 for other calls.
const Sample& sample_of(const Program& program, Index call);

/// Whether the call only waits for the GPU, as cudaStreamSynchronize does.
bool is_wait(const HostCall& call);

/// Whether the call launches a kernel or a graph.
bool is_launch(const HostCall& call);

/// Returns the kernel to which a page migration at `time` is attributed: of the kernels that run on the device, the one
/// that began last. kNone if none runs.
Index kernel_at(const Program& program, std::uint32_t device, double time);

/// Makes the dependency graph of the part of a recording that lies in the window.
Program program_of(const Recording& recording, const Window& window, const Costs& costs);

// --- Parts of program_of() -------------------------------------------------------------------------------------------

/// Sets HostCall::follows, previous and gap. A call follows the one before it on its thread. If threads take turns, as
/// Python's main thread and PyTorch's backward thread do, the first call of a turn follows the last call of the other
/// thread: waiting for a thread involves no CUDA call, so it is not recorded.
void follow_threads(Program& program);

/// Sets Operation::work, delay, handover and side_by_side, and HostCall::own and wake. Derives them from recorded
/// times. A time that the recording does not show, because something else took longer, is the median for its kind. So a
/// replay of the unchanged program takes the recorded time, except for effects that the graph does not contain.
void calibrate(Program& program, const Costs& costs);

}  // namespace xferbench::explain
