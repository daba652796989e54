// What a machine takes for what a program asks of it. Times in seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/recording.hpp"
#include "core/units.hpp"
#include "explain/program.hpp"

namespace xferbench::explain {

/// Up to this a copy takes its latency more than its rate, and measured from event to event some of theirs, too.
inline constexpr std::uint64_t kSmallCopy = 64 * KiB;

struct Costs {
  /// For one copy between the GPU and such memory of the host, with the link to itself; nothing where it is not known.
  std::function<std::optional<double>(recording::CopyKind, recording::Memory, std::uint64_t bytes)> copy =
      [](auto, auto, auto) { return std::nullopt; };
  Duplex duplex{};
  std::optional<double> pin{};      ///< for each byte of memory that is there and registered, and unregistered again
  double asynchronous_copy = 3e-6;  ///< on the host, for the call
  double graph_launch = 6e-6;       ///< the same, of a small graph
  double graph_node = 1.1e-6;       ///< on the device, for an empty kernel that is one of many nodes in a row
  double handover = 1.5e-6;         ///< from a copy to a kernel in a stream, or the other way round
  double gather = 1e-10;            ///< for each byte that the host moves from one buffer to another: 10 GB/s
};

}  // namespace xferbench::explain
