// Ranks that take turns in one thread, each on a stack of its own: tens of thousands of them, and every run is the
// same.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <vector>

#include "support/switchboard.hpp"

namespace xferbench::test {

class FiberRanks final : private Turns {
 public:
  FiberRanks(int ranks, int ranks_per_node);

  /// Runs `body` once for each rank, with its Communicator, to the end. A rank that asks whether an operation is done
  /// goes on when it is; where nobody can go on, all ask again. Throws what the first that failed threw.
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
