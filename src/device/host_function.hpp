// A function of the host that a stream calls.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <utility>

#include "core/error.hpp"

namespace xferbench {

/// Runs on a thread of the driver, whose frames no exception may cross: what goes wrong is kept for whoever asks. Stays
/// where it is, and may be called again and again, once at a time. To be kept alive until no stream can call it.
class HostFunction {
 public:
  /// `body` must not use any device.
  explicit HostFunction(std::function<void()> body) : body_(std::move(body)) {}
  HostFunction(const HostFunction&) = delete;
  HostFunction& operator=(const HostFunction&) = delete;
  ~HostFunction() = default;

  /// For backends: the stream got there.
  void call() noexcept {
    try {
      body_();
    } catch (...) {
      if (failed_.load(std::memory_order_acquire)) return;  // the first error is the one to tell
      error_ = std::current_exception();
      failed_.store(true, std::memory_order_release);
    }
  }
  /// The same: the stream will not get there, because it is broken. `error` lives for ever.
  void stream_failed(const char* error) noexcept { stream_error_.store(error, std::memory_order_release); }

  /// Throws what the body threw, or the stream's error, and forgets it. After a wait for the stream.
  void rethrow() {
    if (failed_.exchange(false, std::memory_order_acquire)) std::rethrow_exception(std::exchange(error_, nullptr));
    if (const char* const error = stream_error_.exchange(nullptr, std::memory_order_acquire)) {
      throw DeviceError("a stream that was to call the host", error);
    }
  }

 private:
  std::function<void()> body_;
  std::exception_ptr error_;  // there while failed_
  std::atomic<bool> failed_{false};
  std::atomic<const char*> stream_error_{nullptr};
};

}  // namespace xferbench
