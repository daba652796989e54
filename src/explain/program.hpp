// What a program did in a stretch of its life, as a graph of what depends on what: calls of the host in order on their
// threads, operations in order on their streams, waits and events between them. Made from a recording; replayed with
// or without changes (explain/replay.hpp). Times in seconds from the beginning of the stretch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "explain/costs.hpp"
#include "explain/window.hpp"
#include "recording/cuda_calls.hpp"
#include "recording/recording.hpp"
#include "results/recording_file.hpp"

namespace xferbench::explain {

using Index = std::uint32_t;
inline constexpr Index kNone = std::numeric_limits<Index>::max();

/// What only one operation can use at a time.
enum class Engine : std::uint8_t {
  h2d,
  d2h,
  compute,  ///< kernels and fills; those that ran side by side may do so again
  inside,   ///< copies inside the GPU
  peer,
  none,
};

/// That something must wait for.
struct Dependency {
  Index operation = kNone;
  bool legacy = false;  ///< only because one of both is in the legacy default stream
};

/// On a device.
struct Operation {
  double begin = 0;  ///< as recorded
  double end = 0;
  double work = 0;      ///< what it takes with its engine, and the link, to itself
  double delay = 0;     ///< from the begin of its call to its own, if nothing else holds it up
  double handover = 0;  ///< from the end of what it depends on to its begin, likewise
  std::uint64_t bytes = 0;
  Index call = kNone;             ///< that enqueued it; none: before the stretch, or by the device
  Index stream = 0;               ///< Program::streams
  Index name = 0;                 ///< NameId of a kernel
  float least_part = 0;           ///< of a kernel: the share of its time below which parts of it do not get
  std::uint32_t correlation = 0;  ///< of its call
  std::vector<Dependency> after{};
  std::uint32_t device = 0;
  Engine engine = Engine::none;
  recording::CopyKind copy = recording::CopyKind::other;
  recording::Memory host = recording::Memory::unknown;  ///< of a copy: where its end on the host is
  bool is_copy = false;
  bool side_by_side = false;  ///< a kernel that ran beside another one for most of its time, or of that one's
  bool in_graph = false;
  bool is_join = false;  ///< nothing that ran: it is done once all in `after` are, and has a stream number of its own
  bool varies = false;   ///< from run to run: what the host carries, and kernels that wait for managed pages
};

/// Of the host.
struct HostCall {
  double begin = 0;  ///< as recorded
  double end = 0;
  double gap = 0;   ///< from the end of `follows` to its begin: the program's own work
  double own = 0;   ///< that it takes without waiting
  double wake = 0;  ///< from the end of the last that it waits for to its own; below 0 where it returns before that
  Index follows = kNone;   ///< the call whose end leads to this one: of the same thread, or of one that handed over
  Index previous = kNone;  ///< of the same thread, where that is another one
  Index name = 0;          ///< NameId
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
  CudaCallKind kind = CudaCallKind::none;
  bool asynchronous = false;
  std::vector<Index> operations{};  ///< that it enqueues, in their order
  std::vector<Index> waits_for{};   ///< operations
};

struct StreamOf {
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  recording::StreamFlag flag = recording::StreamFlag::unknown;
};

struct Program {
  double seconds = 0;                   ///< of the stretch, as recorded
  std::vector<HostCall> calls{};        ///< by begin; the last one is the end of the stretch
  std::vector<Operation> operations{};  ///< by begin, and behind them joins
  std::vector<StreamOf> streams{};
  double duplex_h2d = 1;  ///< the share of its speed that a copy to the GPU keeps while one from it runs
  double duplex_d2h = 1;
  std::size_t kernels_at_once = 1;  ///< that ran side by side, at the most
};

/// Makes an operation wait for another one, if that is not known; for kNone nothing is done.
void depend(Operation& o, Index on, bool legacy = false);

/// A call that does nothing but wait for the GPU.
bool is_wait(const HostCall& call);

/// The kernel of that device whose accesses move pages at that time: of those that run the one that began last. kNone:
/// there is none.
Index kernel_at(const Program& program, std::uint32_t device, double time);

/// The part of a recording that lies in the window, on a machine with these costs.
Program program_of(const Recording& recording, const Window& window, const Costs& costs);

// --- Its parts ------------------------------------------------------------------------------------------------------

/// Sets HostCall::follows, previous and gap. A call follows the one before it on its thread; where threads take turns,
/// as Python's and PyTorch's for going back through a network do, the first call of each turn follows the last of the
/// turn before: whoever waits for another thread makes no call that would tell.
void follow_threads(Program& program);

/// Sets Operation::work, delay, handover and side_by_side, HostCall::own and wake. Each keeps what it was seen to take
/// where that decided when it began or ended; where something else did, what is usual for its kind. So an unchanged
/// replay gives the recorded times, but for what the graph does not know of.
void calibrate(Program& program, const Costs& costs);

}  // namespace xferbench::explain
