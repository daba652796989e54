// Ranks as fibers of one thread, each with its own stack: allows tens of thousands of ranks, in a repeatable order.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <vector>

#include "support/switchboard.hpp"

namespace xferbench::test {

class FiberRanks final : private Scheduler {
 public:
  FiberRanks(int ranks, int ranks_per_node);

  /// Runs `body` once per rank until all have returned. A rank that waits for an operation pauses until it is done; if
  /// all ranks pause, all of them poll again. Rethrows the first exception of a rank.
  void run(const std::function<void(Communicator&)>& body);

 private:
  enum class State { ready, running, paused, ended };
  struct Fiber {
    ucontext_t context{};
    State state = State::ready;
  };

  void pause(int rank) override;
  void wake(int rank) override;
  void make_ready(int rank);
  void resume(int rank);
  void be_rank(int rank) noexcept;
  static void enter(unsigned high, unsigned low);

  std::vector<Fiber> fibers_;
  std::deque<int> ready_;
  ucontext_t main_{};
  int running_ = 0;
  const std::function<void(Communicator&)>* body_ = nullptr;
  std::exception_ptr error_;
  Switchboard board_;
};

}  // namespace xferbench::test
