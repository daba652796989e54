// What streams of the simulated machine tell those who watch it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/trace.hpp"
#include "device/sim/event_simulator.hpp"
#include "recording/recording.hpp"

namespace xferbench::sim {

/// What is said of a call and of what it enqueues.
struct Call {
  std::string name;  ///< empty: nothing, as of gates and stamps
  std::uint64_t bytes = 0;
  Activity::Row row = Activity::Row::internal;  ///< of the operation, if it occupies an engine

  // What only recordings say.
  std::optional<recording::CopyKind> copy{};            ///< of a copy
  recording::Memory host = recording::Memory::unknown;  ///< its end on the host, if it has one there
  unsigned peer = 0;                                    ///< the device at its other end, if that is another one
  recording::Channel by = recording::Channel::unknown;  ///< what carries it out
  unsigned blocks = 0;                                  ///< of a kernel
};

struct Enqueued {
  Call call;
  OperationPtr operation;
  unsigned gpu = 0;              ///< the number of the stream's device
  const void* stream = nullptr;  ///< only tells streams apart
  double called = 0;             ///< by the host's clock, ...
  double returned = 0;
  std::uint64_t graph_node = 0;       ///< its number in its graph; 0: it is in none
  const void* replayed_in = nullptr;  ///< the stream that its graph was launched in
};

}  // namespace xferbench::sim
