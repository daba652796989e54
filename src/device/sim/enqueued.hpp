// Describes calls and enqueued operations of a simulated machine, for traces and recordings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/trace.hpp"
#include "device/sim/event_simulator.hpp"
#include "recording/recording.hpp"

namespace xferbench::sim {

/// A host call and the operation that it enqueues.
struct Call {
  std::string name;  ///< name of the call; empty if traces leave the call out (gates and stamps)
  std::uint64_t bytes = 0;
  Activity::Row row = Activity::Row::internal;  ///< timeline row; unused if the operation occupies no engine

  // The following members are used only in recordings.
  std::optional<recording::CopyKind> copy{};            ///< kind of a copy; nothing for other operations
  recording::Memory host = recording::Memory::unknown;  ///< kind of host memory of a copy between host and GPU
  unsigned peer = 0;                                    ///< device number of the other GPU, for a copy between GPUs
  recording::Channel by = recording::Channel::unknown;  ///< unit that executes the operation
  unsigned blocks = 0;                                  ///< number of thread blocks of a kernel
};

struct Enqueued {
  Call call;
  OperationPtr operation;
  unsigned gpu = 0;                   ///< number of the stream's device
  const void* stream = nullptr;       ///< stream of the operation; never dereferenced
  double called = 0;                  ///< host time at the beginning of the call, in seconds
  double returned = 0;                ///< host time at the end of the call
  std::uint64_t graph_node = 0;       ///< node number within its graph; 0: not in a graph
  const void* replayed_in = nullptr;  ///< stream in which the graph was launched; null: not in a graph
};

}  // namespace xferbench::sim
