// Waiting for other ranks, with patience and an eye on Ctrl-C.
#pragma once

#include <climits>
#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ranks/communicator.hpp"

namespace xferbench {

/// Others did not answer in time.
struct RanksSilentError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How a rank waits for others.
struct Patience {
  double seconds = 60;              ///< at most
  double after_interrupt = 0.3;     ///< at most, once interrupted() says that this process was asked to end
  std::function<void()> idle = {};  ///< called again and again meanwhile; may be empty
};

/// Asks until it is done: without a pause at first, then, where that takes longer, sleeping ever longer, up to 200 us,
/// so that ranks that share a processor let each other work. Throws RanksSilentError that begins with `what`.
void wait_for(Pending& operation, const Patience& patience, const std::string& what);

// Collective calls that wait; every rank calls them in the same order. The patience is with each of the operations that
// they are made of. Where it ends, memory that MPI may still write is left to it.

/// Bytes that MPI takes in one operation.
constexpr std::size_t kMostAtOnce = INT_MAX;

void barrier(Communicator& ranks, const Patience& patience, const std::string& what);
/// The root's text, to all.
std::string broadcast(Communicator& ranks, std::string text, int root, const Patience& patience,
                      const std::string& what);
/// The texts of all ranks by their numbers, at rank 0; nothing elsewhere. Where they are too large together for one
/// operation they come in parts: `at_once` bytes, no fewer than there are ranks.
std::vector<std::string> gather(Communicator& ranks, const std::string& mine, const Patience& patience,
                                const std::string& what, std::size_t at_once = kMostAtOnce);
void all_reduce(Communicator& ranks, std::span<double> values, Reduction reduction, const Patience& patience,
                const std::string& what);

}  // namespace xferbench
