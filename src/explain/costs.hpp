// What a machine takes for what a program asks of it. Times in seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/units.hpp"
#include "recording/recording.hpp"

namespace xferbench::explain {

/// Up to this a copy takes its latency more than its rate, and measured from event to event some of theirs, too.
inline constexpr std::uint64_t kSmallCopy = 64 * KiB;

/// How copies slow down each other, in shares of their speeds.
struct Duplex {
  double h2d = 1;
  double d2h = 1;
};

/// Those of calls and hand-overs are usual ones until they are measured.
struct Costs {
  /// For one copy between the GPU and such memory of the host, with the link to itself; nothing where it is not known.
  std::function<std::optional<double>(recording::CopyKind, recording::Memory, std::uint64_t bytes)> copy =
      [](auto, auto, auto) { return std::nullopt; };
  Duplex duplex{};
  std::optional<double> pin{};      ///< for each byte of memory that is there and registered, and unregistered again
  double asynchronous_copy = 3e-6;  ///< on the host, for the call
  double launch = 2e-6;             ///< the same, of a kernel
  double start = 5e-6;              ///< from the call of a launch to the kernel's begin
  double wake = 5e-6;               ///< from the end of an operation to that of the call that waits for it
  double graph_launch = 6e-6;       ///< on the host, of a small graph
  double graph_node = 1.1e-6;       ///< on the device, for an empty kernel that is one of many nodes in a row
  double handover = 1.5e-6;         ///< from an operation to the next that waits for it, in its stream or another one
  double gather = 1e-10;            ///< for each byte that the host moves from one buffer to another: 10 GB/s
};

}  // namespace xferbench::explain
