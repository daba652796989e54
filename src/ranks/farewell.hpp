// The last thing that ranks say to each other when one of them does not answer any more.
#pragma once

#include <string>
#include <vector>

#include "ranks/communicator.hpp"

namespace xferbench {

struct Farewell {
  std::vector<std::string> texts;  ///< at rank 0: what each rank says; empty of those that say nothing
  std::vector<int> silent;         ///< at rank 0: who they are, ascending
};

/// Every rank that still can tells rank 0 a last text; none waits for longer than `seconds`. Each rank comes to this by
/// itself, when it sees that the others do not answer. From then on no rank uses MPI again, nor can MPI be ended. Never
/// throws.
Farewell say_farewell(Communicator& ranks, const std::string& mine, double seconds) noexcept;

}  // namespace xferbench
