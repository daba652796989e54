// A function of the host that a stream calls.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "core/non_copyable.hpp"

namespace xferbench {

/// What a backend sees of a HostFunction, and what lives as long as a stream may call it. It runs on a thread of the
/// driver, whose frames no exception may cross: what goes wrong is kept for whoever asks.
class HostCall : public std::enable_shared_from_this<HostCall>, NonCopyable {
 public:
  explicit HostCall(std::function<void()> body) : body_(std::move(body)) {}

  /// The stream got there.
  void run() noexcept {
    const std::lock_guard lock(mutex_);
    if (abandoned_) return;
    try {
      body_();
    } catch (...) {
      if (!error_) error_ = std::current_exception();  // the first is the one to tell
    }
  }
  /// The stream will never get there, because it is broken. `error` lives for ever.
  void stream_failed(const char* error) noexcept {
    const std::lock_guard lock(mutex_);
    if (stream_error_ == nullptr) stream_error_ = error;
  }

  /// For a stream that takes a plain pointer: stays alive until release() was called as often, from wherever. Where
  /// that never happens, because the context is lost, neither does its end.
  [[nodiscard]] void* keep() {
    const std::lock_guard lock(mutex_);
    if (kept_++ == 0) self_ = shared_from_this();
    return this;
  }
  [[nodiscard]] static std::shared_ptr<HostCall> release(void* kept) {
    auto& call = *static_cast<HostCall*>(kept);
    const std::lock_guard lock(call.mutex_);
    return --call.kept_ == 0 ? std::move(call.self_) : call.self_;
  }

 private:
  friend class HostFunction;

  std::mutex mutex_;
  std::function<void()> body_;
  bool abandoned_ = false;
  std::exception_ptr error_;
  const char* stream_error_ = nullptr;
  std::size_t kept_ = 0;
  std::shared_ptr<HostCall> self_;  // while it is kept
};

/// May be called by streams again and again. A stream that gets there when it is gone calls nothing.
class HostFunction : NonCopyable {
 public:
  /// `body` must not use any device.
  explicit HostFunction(std::function<void()> body) : call_(std::make_shared<HostCall>(std::move(body))) {}
  /// Waits for the body if it runs now.
  ~HostFunction() {
    const std::lock_guard lock(call_->mutex_);
    call_->abandoned_ = true;
  }

  /// Throws what the body threw, or the stream's error, and forgets it. After a wait for the stream.
  void rethrow() {
    const std::lock_guard lock(call_->mutex_);
    if (call_->error_) std::rethrow_exception(std::exchange(call_->error_, nullptr));
    if (const char* const error = std::exchange(call_->stream_error_, nullptr)) {
      throw DeviceError("a stream that was to call the host", error);
    }
  }

  /// For backends.
  [[nodiscard]] const std::shared_ptr<HostCall>& call() const { return call_; }

 private:
  std::shared_ptr<HostCall> call_;
};

}  // namespace xferbench
