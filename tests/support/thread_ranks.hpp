// Ranks as threads of this process, for tests of communication.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "support/switchboard.hpp"

namespace xferbench::test {

class ThreadRanks final : private Scheduler {
 public:
  /// Fills nodes one after the other; `ranks_per_node` = 0: all ranks are on one node.
  explicit ThreadRanks(int ranks, int ranks_per_node = 0);

  /// Runs `body` once per rank, each in a thread with its Communicator. After all have ended, rethrows the exception of
  /// the lowest rank that failed.
  void run(const std::function<void(Communicator&)>& body);

  /// Operations that this rank begins from now on never end, on any rank. Callable from any thread.
  void stop_responding(int rank) { board_.stop_responding(rank); }

 private:
  struct Place {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t changes = 0;
    std::size_t seen = 0;
  };

  void pause(int rank) override;
  void wake(int rank) override;

  std::vector<Place> places_;
  Switchboard board_;
};

}  // namespace xferbench::test
