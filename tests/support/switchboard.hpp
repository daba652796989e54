// Ranks within one process: Communicators that exchange messages through its memory.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ranks/communicator.hpp"

namespace xferbench::test {

/// Scheduling of ranks that share the process.
class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler() = default;
  /// The rank has nothing to do until wake(). May return early.
  virtual void pause(int rank) = 0;
  /// The rank may continue.
  virtual void wake(int rank) = 0;
};

/// State of the communication. If collective calls do not match, or a message has another size than its receive, ranks
/// get a CommunicationError.
class Switchboard {
 public:
  /// Fills nodes one after the other.
  Switchboard(int ranks, int ranks_per_node, Scheduler& turns);

  std::unique_ptr<Communicator> communicator(int rank);
  /// Operations that this rank begins from now on never end, on any rank.
  void stop_responding(int rank);

 private:
  class Rank;
  class Operation;

  /// A collective call of all ranks.
  struct Collective {
    std::string what;  // kind, root and sizes, which must match
    int entered = 0;
    bool root_entered = false;
    std::string error;
    std::vector<double> values;                 // of all_reduce
    std::vector<std::byte> data;                // of broadcast
    std::vector<std::vector<std::byte>> parts;  // of gather
  };
  using CollectivePtr = std::shared_ptr<Collective>;
  /// Messages from one rank to another with one tag, in order.
  struct Box {
    std::deque<std::vector<std::byte>> messages;
    std::size_t first = 0;              // number of the first message in the queue
    std::size_t asked = 0;              // number of the next receive
    std::map<std::size_t, bool> taken;  // received messages after the first in the queue
  };

  /// Enters the rank's next collective call, which other ranks may have entered before. `add` runs under the lock. Null
  /// if the rank is silent.
  CollectivePtr enter(int rank, const std::string& what, const std::function<void(Collective&)>& add);
  [[nodiscard]] bool silent(int rank) const { return silent_.at(static_cast<std::size_t>(rank)); }

  int ranks_;
  int ranks_per_node_;
  Scheduler& turns_;
  std::mutex mutex_;
  std::vector<char> silent_;
  std::vector<std::size_t> next_;          // by rank: number of its next collective call
  std::deque<CollectivePtr> collectives_;  // calls that not all ranks have entered
  std::size_t first_collective_ = 0;
  std::vector<std::map<std::pair<int, int>, Box>> boxes_;  // by receiver, then by sender and tag
};

}  // namespace xferbench::test
