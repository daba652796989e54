// Threads, channels, timed work and clocks of the host. A simulated machine has its own host threads and clock, so
// scenarios use this interface and never std::thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "core/non_copyable.hpp"
#include "device/types.hpp"

namespace xferbench {

/// A running thread. The destructor waits for its end.
class HostThread : NonCopyable {
 public:
  virtual ~HostThread() = default;
  /// Waits for the thread's end and rethrows what its body threw.
  virtual void join() = 0;
};

/// An unbounded first-in, first-out queue of numbers between threads. Must outlive every thread that uses it.
class Channel : NonCopyable {
 public:
  virtual ~Channel() = default;
  /// Callable from any thread, including driver threads that run host functions.
  virtual void post(std::uint64_t message) = 0;
  /// Waits for a message: spins for a while, then sleeps. Returns nothing once the channel is closed and empty, or
  /// after a timeout of `timeout` seconds. A simulated channel throws std::logic_error instead of timing out.
  virtual std::optional<std::uint64_t> take(double timeout) = 0;
  std::optional<std::uint64_t> take() { return take(std::numeric_limits<double>::infinity()); }
  /// Ends the channel and wakes all waiting threads.
  virtual void close() = 0;
};

class HostRuntime : NonCopyable {
 public:
  virtual ~HostRuntime() = default;

  /// The host's clock, in seconds.
  [[nodiscard]] virtual double now() const = 0;
  /// CPU time of the calling thread so far, in seconds.
  [[nodiscard]] virtual double cpu_now() const = 0;
  /// Spins until that time of the host's clock, in seconds; returns at once if it has passed.
  virtual void wait_until(double moment) = 0;

  /// Starts a thread that may use the machine's devices. join() rethrows what the body throws.
  [[nodiscard]] virtual std::unique_ptr<HostThread> start_thread(std::function<void()> body) = 0;
  [[nodiscard]] virtual std::unique_ptr<Channel> make_channel() = 0;
  /// Runs `work` on the calling thread. A simulated host charges the time in `cost` and runs `work` only if data
  /// movement is on.
  virtual void work(const HostCost& cost, const std::function<void()>& work) = 0;
};

/// Threads and clocks of the real host.
class RealHost : public HostRuntime {
 public:
  /// `prepare` runs first on every started thread; start_thread() rethrows its exceptions.
  explicit RealHost(std::function<void()> prepare = [] {}) : prepare_(std::move(prepare)) {}

  [[nodiscard]] double now() const override;
  [[nodiscard]] double cpu_now() const override;
  void wait_until(double moment) override;
  [[nodiscard]] std::unique_ptr<HostThread> start_thread(std::function<void()> body) override;
  [[nodiscard]] std::unique_ptr<Channel> make_channel() override;
  void work(const HostCost&, const std::function<void()>& work) override { work(); }

 private:
  std::function<void()> prepare_;
};

}  // namespace xferbench
