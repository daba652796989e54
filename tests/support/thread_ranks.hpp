// Ranks that are threads of this process, for tests of what talks to other ranks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "support/switchboard.hpp"

namespace xferbench::test {

class ThreadRanks final : private Turns {
 public:
  /// Nodes are filled one after the other; all ranks are on one node without `ranks_per_node`.
  explicit ThreadRanks(int ranks, int ranks_per_node = 0);

  /// Runs `body` once for each rank, all at once, each in a thread with its Communicator. What they throw is thrown
  /// once all have ended: that of the lowest rank.
  void run(const std::function<void(Communicator&)>& body);

  /// What the rank begins from now on never ends, for it or for others. From any thread.
  void fall_silent(int rank) { board_.fall_silent(rank); }

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
