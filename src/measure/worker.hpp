// A second host thread that submits at the same time as the first: two copies that block their callers can only be in
// flight together from two threads.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace xferbench {

/// Runs one task at a time. start() and finish() alternate, from one thread.
class Worker {
 public:
  /// `prepare` runs first, on the new thread (making a device current, for example). What it throws, the first finish()
  /// rethrows.
  explicit Worker(std::function<void()> prepare) : thread_([this, prepare = std::move(prepare)] { loop(prepare); }) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    state_.wait(State::busy);  // a task that was started and not finished, because something was thrown in between
    signal(State::quit);
  }

  /// Begins `task` on the other thread and returns.
  void start(std::function<void()> task) {
    task_ = std::move(task);
    signal(State::busy);
  }

  /// Waits for the task; rethrows what it threw.
  void finish() {
    state_.wait(State::busy);
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  enum class State { idle, busy, quit };

  void signal(State state) {
    state_.store(state);
    state_.notify_all();
  }

  void attempt(const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      if (!error_) error_ = std::current_exception();
    }
  }

  void loop(const std::function<void()>& prepare) {
    // Written before the first task is seen to end, so finish() reads it without a race.
    attempt(prepare);
    for (;;) {
      state_.wait(State::idle);
      if (state_.load() == State::quit) return;
      attempt(task_);
      signal(State::idle);
    }
  }

  std::atomic<State> state_{State::idle};
  std::function<void()> task_;
  std::exception_ptr error_;
  std::jthread thread_;
};

}  // namespace xferbench
