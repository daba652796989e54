// A second host thread for concurrent submission: two blocking copies overlap only if two threads submit them.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "core/non_copyable.hpp"
#include "device/host_runtime.hpp"

namespace xferbench {

/// Runs one task at a time on its own thread. Calls of start() and finish() alternate.
class Worker : NonCopyable {
 public:
  /// Waiting strategy between tasks: sleep, or poll, which occupies a core but saves the wake-up time.
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

  /// Starts `task` on the other thread and returns.
  void start(std::function<void()> task) {
    task_ = std::move(task);
    begin_->post(0);
  }

  /// Waits for the task's end; rethrows its exception.
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
    // take() polls for this long (seconds) before it would sleep; repeating it keeps the thread polling.
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
