// The simulated host: threads with a virtual clock each. They are real threads that take turns, always the one whose
// clock is furthest behind, so that what they submit reaches the modelled GPU in the order of virtual time and every
// run is the same.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "device/host_function.hpp"
#include "device/host_runtime.hpp"
#include "device/sim/event_simulator.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/randomness.hpp"

namespace xferbench::sim {

class SimHost final : public HostRuntime {
 public:
  SimHost(EventSimulator& events, const Profile& profile, const DataMovement& data);
  ~SimHost() override;

  /// The running thread's clock; inside a function that the GPU calls, the GPU's.
  [[nodiscard]] double now() const override;
  /// The running thread's number, from 1.
  [[nodiscard]] std::uint32_t thread() const { return running_->number; }
  /// A simulated thread always works or polls.
  [[nodiscard]] double cpu_now() const override { return now(); }
  /// Late, where the profile says that hosts sometimes are.
  void wait_until(double moment) override;
  [[nodiscard]] std::unique_ptr<HostThread> start_thread(std::function<void()> body) override;
  [[nodiscard]] std::unique_ptr<Channel> make_channel() override;
  void work(const HostCost& cost, const std::function<void()>& work) override;

  /// The running thread works for so long. Threads that are behind then go first.
  void advance(double seconds);

  /// When something that a thread waits for has come true; nothing until then.
  using Condition = std::function<std::optional<double>()>;
  /// The running thread waits. Throws std::logic_error if that can never end.
  void wait(Condition condition);
  /// The running thread waits until the operation has finished, or all of them.
  void wait_for(const OperationPtr& operation) { wait_for(std::vector{operation}); }
  void wait_for(const std::vector<OperationPtr>& operations);
  /// The running thread waits until everything has finished.
  void wait_for_all();
  /// Lets the GPU work until the running thread's own time.
  void catch_up();
  /// The GPU calls a function of the host, at the GPU's time.
  void call(HostCall& function);

 private:
  class SimThread;
  class SimChannel;

  struct Thread {
    std::uint32_t number = 1;
    double now = 0;
    double busy_until = 0;
    Condition condition;  // waiting if there is one
    bool done = false;
    bool abandoned = false;
    bool stuck = false;
    std::condition_variable turn;
  };

  /// Threads that are working at the running thread's time, itself included.
  [[nodiscard]] std::size_t working() const;
  /// Whose turn is next: the thread that is furthest behind, once the GPU has been simulated up to its time if another
  /// thread waits for it.
  Thread& due();
  void wake_ready_threads();
  [[nodiscard]] Thread* furthest_behind() const;
  [[nodiscard]] bool any_waiting() const;
  /// Hands over to whoever is due and returns at this thread's next turn.
  void take_turns();
  void hand_over_to(Thread& next);
  /// Hands over and returns at this thread's next turn.
  void give_turn_to(Thread& next);
  /// Ends a thread at its next wait. Needs no memory.
  void abandon(Thread& thread);
  void run_body(Thread& self, const std::function<void()>& body);

  EventSimulator& events_;
  const Profile& profile_;
  const DataMovement& data_;
  std::mutex mutex_;  // guards only whose turn it is: everything else belongs to the thread whose turn it is
  std::vector<std::shared_ptr<Thread>> threads_;
  Thread* running_;
  std::uint32_t threads_made_ = 1;
  bool in_call_ = false;
  Randomness work_;
  Randomness waking_;
  std::exception_ptr error_;  // of the simulation, while a thread ended; for whoever runs next
};

}  // namespace xferbench::sim
