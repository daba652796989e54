// The simulated host: threads that each have a virtual clock. They are real threads, of which only the one with the
// earliest clock runs at a time. So submissions reach the simulated GPU in the order of virtual time, and runs are
// reproducible.
#pragma once

#include <condition_variable>
#include <cstdint>
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
#include "device/sim/sim_files.hpp"

namespace xferbench::sim {

class SimHost final : public HostRuntime {
 public:
  SimHost(EventSimulator& events, const Profile& profile, DataMovement& data);
  ~SimHost() override;

  /// Virtual time of the running thread in seconds; inside a host function that a stream calls, the GPU's time.
  [[nodiscard]] double now() const override;
  /// Number of the running thread, from 1.
  [[nodiscard]] std::uint32_t thread() const { return running_->number; }
  /// CPU time: virtual time without that of sleep(). A simulated thread works or polls for the rest.
  [[nodiscard]] double cpu_now() const override { return now() - running_->slept; }
  /// Waits like a real host, and sometimes wakes up late at random, as the profile says (Variation).
  void wait_until(double moment) override;
  [[nodiscard]] std::unique_ptr<HostThread> start_thread(std::function<void()> body) override;
  [[nodiscard]] std::unique_ptr<Channel> make_channel() override;
  void work(const HostCost& cost, const std::function<void()>& work) override;
  [[nodiscard]] Files& files() override { return files_; }

  /// Advances the running thread's clock by that duration. Threads with earlier clocks then run first.
  void advance(double seconds);

  /// Like advance(), for a wait that takes no CPU time.
  void sleep(double seconds) {
    running_->slept += seconds;
    advance(seconds);
  }

  /// Counts CPU time of work that took place during an earlier sleep().
  void use_cpu(double seconds) { running_->slept -= seconds; }

  /// Function that returns the time at which a wait ended, or nothing while it continues.
  using Condition = std::function<std::optional<double>()>;
  /// Blocks the running thread until the condition holds. Throws std::logic_error if it can never hold.
  void wait(Condition condition);
  /// Blocks the running thread until the operations have finished.
  void wait_for(const OperationPtr& operation) { wait_for(std::vector{operation}); }
  void wait_for(const std::vector<OperationPtr>& operations);
  /// Blocks the running thread until all simulated GPUs are idle.
  void wait_for_all();
  /// Advances the simulated GPUs to the running thread's time.
  void catch_up();
  /// Runs a host function that a stream calls. Meanwhile, now() returns the GPU's time.
  void call(HostCall& function);

 private:
  class SimThread;
  class SimChannel;

  struct Thread {
    std::uint32_t number = 1;
    double now = 0;
    double busy_until = 0;
    double slept = 0;
    Condition condition;  // set while the thread waits
    bool done = false;
    bool abandoned = false;
    bool stuck = false;
    std::condition_variable turn;
  };

  /// Number of threads that do host work at the running thread's time, including the running thread.
  [[nodiscard]] std::size_t working() const;
  /// Returns the next thread to run: the one with the earliest clock. If other threads wait, first advances the GPUs to
  /// the time of that clock, because a waiting thread may become ready earlier.
  Thread& due();
  void wake_ready_threads();
  [[nodiscard]] Thread* furthest_behind() const;
  [[nodiscard]] bool any_waiting() const;
  /// Lets other threads with earlier clocks run. Returns when the calling thread has the earliest clock again.
  void take_turns();
  void hand_over_to(Thread& next);
  /// Lets `next` run. Returns when the calling thread is picked again.
  void switch_to(Thread& next);
  /// Ends a thread at its next wait, by an exception. Allocates no memory.
  void abandon(Thread& thread);
  void run_body(Thread& self, const std::function<void()>& body);

  EventSimulator& events_;
  const Profile& profile_;
  const DataMovement& data_;
  std::mutex mutex_;  // guards running_ only; all other state belongs to the running thread
  std::vector<std::shared_ptr<Thread>> threads_;
  Thread* running_;
  std::uint32_t threads_made_ = 1;
  bool in_call_ = false;
  Randomness work_;
  Randomness waking_;
  SimFiles files_;
  std::exception_ptr error_;  // simulation error at the end of a thread; the main thread rethrows it
};

}  // namespace xferbench::sim
