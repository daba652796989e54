// A second host thread that submits at the same time as the first: two copies that block their callers can only be in
// flight together from two threads.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "device/host_runtime.hpp"

namespace xferbench {

/// Runs one task at a time. start() and finish() alternate, from one thread.
class Worker {
 public:
  explicit Worker(HostRuntime& host)
      : begin_(host.make_channel()), end_(host.make_channel()), thread_(host.start_thread([this] { loop(); })) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { begin_->close(); }

  /// Begins `task` on the other thread and returns.
  void start(std::function<void()> task) {
    task_ = std::move(task);
    begin_->post(0);
  }

  /// Waits for the task; rethrows what it threw.
  void finish() {
    end_->take();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  void loop() {
    while (begin_->take()) {
      try {
        task_();
      } catch (...) {
        error_ = std::current_exception();
      }
      end_->post(0);
    }
  }

  std::unique_ptr<Channel> begin_;
  std::unique_ptr<Channel> end_;
  std::function<void()> task_;
  std::exception_ptr error_;
  std::unique_ptr<HostThread> thread_;  // last: it uses all the others
};

}  // namespace xferbench
