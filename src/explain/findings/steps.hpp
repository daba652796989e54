// What streams do again and again: copies in, kernels, copies back.
#pragma once

#include <cstdint>
#include <vector>

#include "explain/program.hpp"

namespace xferbench::explain {

enum class Phase : std::uint8_t { in, work, out };
Phase phase_of(const Operation& o);

struct Step {
  std::vector<Index> all{};  ///< in the order of the stream
  std::vector<Index> in{};
  std::vector<Index> work{};
  std::vector<Index> out{};
  bool in_order = true;  ///< first all that comes in, then all kernels, then all that goes back
};

/// kNone: there are none.
Index last_of(const std::vector<Index>& operations);
/// The operation that completes what a step brings. kNone: it brings nothing.
Index result_of(const Step& step);

/// What one stream does, step by step. A step begins with a large copy to the GPU behind something else; what stands
/// before the first large copy, and nodes of graphs, belong to none.
using Chain = std::vector<Step>;

/// Of each stream of the program.
std::vector<Chain> chains_of(const Program& p);
/// Of these streams.
std::vector<Chain> chains_of(const Program& p, const std::vector<Index>& streams);

}  // namespace xferbench::explain
