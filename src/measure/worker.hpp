// A second host thread that submits work concurrently: two blocking copies overlap only if two threads submit them.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "core/non_copyable.hpp"
#include "device/host_runtime.hpp"

namespace xferbench {

/// Runs one task at a time on a thread of its own. The caller calls start() and finish() alternately.
class Worker : NonCopyable {
 public:
  /// How the thread waits for a task: it sleeps, or it polls, which occupies a CPU core but saves the wake-up time.
  enum class Idle { sleep, poll };

  explicit Worker(HostRuntime& host, Idle idle = Idle::sleep)
      : idle_(idle),
        begin_(host.make_channel()),
        end_(host.make_channel()),
        thread_(host.start_thread([this] { loop(); })) {}
  ~Worker() {
    closing_ = true;
    begin_->close();
  }

  /// Starts `task` on the thread and returns at once.
  void start(std::function<void()> task) {
    task_ = std::move(task);
    begin_->post(0);
  }

  /// Waits until the task has ended, and rethrows its exception if it threw one.
  void finish() {
    end_->take();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void loop() {
    while (await_task()) {
      try {
        task_();
      } catch (...) {
        error_ = std::current_exception();
      }
      end_->post(0);
    }
  }

  bool await_task() {
    // seconds for which take() polls before it would sleep; repeated calls keep the thread polling
    constexpr double kAwake = 1e-3;
    if (idle_ == Idle::sleep) return begin_->take().has_value();
    while (!begin_->take(kAwake)) {
      if (closing_) return false;
    }
    return true;
  }

  Idle idle_;
  std::atomic<bool> closing_{false};
  std::unique_ptr<Channel> begin_;
  std::unique_ptr<Channel> end_;
  std::function<void()> task_;
  std::exception_ptr error_;
  std::unique_ptr<HostThread> thread_;  // last: the thread uses all other members
};

}  // namespace xferbench
