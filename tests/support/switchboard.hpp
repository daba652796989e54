// Ranks of one process: Communicators whose messages go through its memory.
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

/// How ranks that share the process let each other go on.
class Turns {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  virtual ~Turns() = default;
  /// This rank has nothing to do until something happens to it. May return early.
  virtual void pause(int rank) = 0;
  /// Something has happened to it.
  virtual void wake(int rank) = 0;
};

/// What the ranks have said so far. Collective calls of different kinds in the same place throw CommunicationError at
/// every rank, and so does a message of another size than is received.
class Switchboard {
 public:
  /// Nodes are filled one after the other.
  Switchboard(int ranks, int ranks_per_node, Turns& turns);

  std::unique_ptr<Communicator> communicator(int rank);
  /// What the rank begins from now on never ends, for it or for others.
  void fall_silent(int rank);

 private:
  class Rank;
  class Operation;

  /// One collective call of all ranks.
  struct Collective {
    std::string what;  // kind, root, sizes
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
    std::size_t first = 0;              // number of the message in front
    std::size_t asked = 0;              // number of the next receive
    std::map<std::size_t, bool> taken;  // behind the front
  };

  /// The rank's next one, which others may have entered before; null if the rank is silent. `add` sees it first.
  CollectivePtr enter(int rank, const std::string& what, const std::function<void(Collective&)>& add);
  [[nodiscard]] bool silent(int rank) const { return silent_.at(static_cast<std::size_t>(rank)); }

  int ranks_;
  int ranks_per_node_;
  Turns& turns_;
  std::mutex mutex_;
  std::vector<char> silent_;
  std::vector<std::size_t> next_;          // by rank: the number of its next collective call
  std::deque<CollectivePtr> collectives_;  // not all ranks have entered them
  std::size_t first_collective_ = 0;
  std::vector<std::map<std::pair<int, int>, Box>> boxes_;  // by receiver; sender and tag
};

}  // namespace xferbench::test
