// A host function that a stream calls (cudaLaunchHostFunc, cudaStreamAddCallback).
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

/// The part of a HostFunction that streams call. It lives as long as a stream may call it. It runs on a driver thread,
/// through which no exception may propagate, so exceptions are stored for HostFunction::rethrow().
class HostCall : public std::enable_shared_from_this<HostCall>, NonCopyable {
 public:
  explicit HostCall(std::function<void()> body) : body_(std::move(body)) {}

  /// Called when the stream reaches the function.
  void run() noexcept {
    const std::lock_guard lock(mutex_);
    if (abandoned_) return;
    try {
      body_();
    } catch (...) {
      if (!error_) error_ = std::current_exception();  // keep only the first error
    }
  }
  /// Called if the stream has failed and will never reach the function. `error` must have static lifetime.
  void stream_failed(const char* error) noexcept {
    const std::lock_guard lock(mutex_);
    if (stream_error_ == nullptr) stream_error_ = error;
  }

  /// Returns this object as the plain pointer that CUDA's callback functions take. The object stays alive until
  /// release() was called as often as keep(). If the context is lost and release() never comes, the object leaks.
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
  std::shared_ptr<HostCall> self_;  // holds a reference to itself while kept_ > 0
};

/// A host function that streams can call repeatedly. After its destruction, streams that reach the function skip it.
class HostFunction : NonCopyable {
 public:
  /// `body` must not use any device (CUDA forbids CUDA calls in host functions).
  explicit HostFunction(std::function<void()> body) : call_(std::make_shared<HostCall>(std::move(body))) {}
  /// If the body is running, waits until it ends.
  ~HostFunction() {
    const std::lock_guard lock(call_->mutex_);
    call_->abandoned_ = true;
  }

  /// Throws the body's exception or the stream's error, if any, and clears it. Call after synchronizing the stream.
  void rethrow() {
    const std::lock_guard lock(call_->mutex_);
    if (call_->error_) std::rethrow_exception(std::exchange(call_->error_, nullptr));
    if (const char* const error = std::exchange(call_->stream_error_, nullptr)) {
      throw DeviceError("calling a host function in a stream", error);
    }
  }

  [[nodiscard]] const std::shared_ptr<HostCall>& call() const { return call_; }

 private:
  std::shared_ptr<HostCall> call_;
};

}  // namespace xferbench
