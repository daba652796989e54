// Divides the operations of a stream into repeated steps, each of copies in, kernels and copies back.
#pragma once

#include <cstdint>
#include <vector>

#include "explain/program.hpp"

namespace xferbench::explain {

enum class Phase : std::uint8_t { in, work, out };
Phase phase_of(const Operation& o);

struct Step {
  std::vector<Index> all{};  ///< indices of the operations of all phases, in stream order
  std::vector<Index> in{};
  std::vector<Index> work{};
  std::vector<Index> out{};
  bool in_order = true;  ///< the step has all copies in first, then all kernels, then all copies back
};

/// Returns the index of the last operation in the list; kNone if the list is empty.
Index last_of(const std::vector<Index>& operations);
/// Returns the operation after which the step's result is complete: its last copy back, or its last kernel if it has
/// none. kNone if the step has neither.
Index result_of(const Step& step);

/// The steps of one stream. A step begins with a large copy to the GPU that follows a kernel or a copy back. Steps
/// without a large copy are left out, and so are graph nodes.
using Chain = std::vector<Step>;

/// Returns one chain for each stream of the program.
std::vector<Chain> chains_of(const Program& p);
std::vector<Chain> chains_of(const Program& p, const std::vector<Index>& streams);

}  // namespace xferbench::explain
