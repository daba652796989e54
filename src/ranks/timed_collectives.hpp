// Waits for other ranks, with timeouts and a reaction to Ctrl-C.
#pragma once

#include <climits>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ranks/communicator.hpp"

namespace xferbench {

struct RankTimeoutError : CommunicationError {
  using CommunicationError::CommunicationError;
};

/// How long to wait for other ranks.
struct Timeout {
  double seconds = 60;              ///< longest wait for one operation, in seconds
  double after_interrupt = 0.3;     ///< longest wait in seconds after Ctrl-C or another signal that ends this process
  std::function<void()> idle = {};  ///< called repeatedly while waiting; may be empty
};

/// Polls until the operation is done: without pauses at first, then with growing pauses of up to 200 us, so that ranks
/// on one processor let each other work. After a timeout, throws RankTimeoutError, whose text begins with `what`.
void wait_for(Pending& operation, const Timeout& timeout, const std::string& what);

// Blocking collective calls; all ranks must call them in the same order. The timeout applies to each of the operations
// that they consist of. After a timeout, memory that MPI may still write stays allocated.

/// Largest number of bytes in one MPI operation.
constexpr std::size_t kMostAtOnce = INT_MAX;

void barrier(Communicator& ranks, const Timeout& timeout, const std::string& what);
/// Returns the root's text on all ranks.
std::string broadcast(Communicator& ranks, std::string text, int root, const Timeout& timeout, const std::string& what);
/// At rank 0, returns the texts of all ranks, by rank; on other ranks, an empty list. Texts that are too large for
/// one operation are sent in several, each with at most `at_once` bytes of all ranks together. `at_once` must be at
/// least the number of ranks.
std::vector<std::string> gather(Communicator& ranks, const std::string& mine, const Timeout& timeout,
                                const std::string& what, std::size_t at_once = kMostAtOnce);
void all_reduce(Communicator& ranks, std::span<double> values, Reduction reduction, const Timeout& timeout,
                const std::string& what);

}  // namespace xferbench
