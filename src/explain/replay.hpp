// Estimates a program's duration: carries out its calls and operations again, on engines that each run one operation at
// a time.
#pragma once

#include <vector>

#include "explain/program.hpp"

namespace xferbench::explain {

/// When each call and operation began and ended, in seconds. The window ends with its last call, but not before all
/// operations that ended in the recorded window, even if no call waits for them. So no fix seems faster than the GPU.
struct Replay {
  double seconds = 0;
  std::vector<double> call_begins{};
  std::vector<double> call_ends{};
  std::vector<double> operation_begins{};
  std::vector<double> operation_ends{};
};

/// Takes O(n log n) time. A call begins when the call that it follows has ended and its `gap` has passed. An operation
/// begins when it is enqueued, its dependencies have ended and its engine is free. Copies in both directions slow each
/// other. Throws InputError if the program deadlocks.
Replay replay(const Program& program);

}  // namespace xferbench::explain
