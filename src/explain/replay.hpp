// What a program would take: its calls and operations carried out again, on engines that do one thing at a time.
#pragma once

#include <vector>

#include "explain/program.hpp"

namespace xferbench::explain {

/// When each call and operation began and ended, and when the stretch did: with its last call, but not before all
/// operations that had ended in it when it was recorded, whoever waits for them. So nothing that is mended is faster
/// than the GPU.
struct Replay {
  double seconds = 0;
  std::vector<double> call_begins{};
  std::vector<double> call_ends{};
  std::vector<double> operation_begins{};
  std::vector<double> operation_ends{};
};

/// In time that grows with n log n. Each call begins when the one that it follows has ended and the program has done
/// its own work; each operation when it was enqueued, all that it depends on has ended and its engine is free; copies
/// of both directions at once slow each other. Throws InputError where something waits for what never ends.
Replay replay(const Program& program);

}  // namespace xferbench::explain
