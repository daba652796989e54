// Estimates a program's duration by discrete-event simulation of its calls and operations, on engines that each run one
// operation at a time.
#pragma once

#include <vector>

#include "explain/program.hpp"

namespace xferbench::explain {

/// Begin and end of each call and operation, in seconds from the begin of the window. `seconds` is the end of the last
/// call, or of the last operation if that ends later, so that no fix seems faster than the GPU. Operations that ended
/// after the recorded window do not count.
struct Replay {
  double seconds = 0;
  std::vector<double> call_begins{};
  std::vector<double> call_ends{};
  std::vector<double> operation_begins{};
  std::vector<double> operation_ends{};
};

/// Simulates the program in O(n log n) time. A call begins when the call that it follows has ended and its `gap` has
/// passed. An operation begins when it is enqueued, its dependencies have ended and its engine is free. Copies in
/// opposite directions slow each other down. Throws InputError if the program deadlocks.
Replay replay(const Program& program);

}  // namespace xferbench::explain
