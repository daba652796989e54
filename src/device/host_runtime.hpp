// The host as a program on it sees it: threads, how they talk, what work on them takes, and clocks. A simulated machine
// has a host with threads and a clock of its own, so scenarios use these and never std::thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "core/non_copyable.hpp"
#include "device/types.hpp"

namespace xferbench {

/// A running thread. Destroying it waits for its end.
class HostThread : NonCopyable {
 public:
  virtual ~HostThread() = default;
  /// Waits for its end and rethrows what its body threw.
  virtual void join() = 0;
};

/// An unbounded queue of numbers between threads, first in, first out. Outlives every thread that uses it.
class Channel : NonCopyable {
 public:
  virtual ~Channel() = default;
  /// From any thread, host functions of the driver too.
  virtual void post(std::uint64_t message) = 0;
  /// Waits for a message: polls for a while, then sleeps. Nothing once the channel is closed and empty, or after
  /// `patience` seconds (a simulated channel knows when nothing can come any more and throws std::logic_error instead).
  virtual std::optional<std::uint64_t> take(double patience) = 0;
  std::optional<std::uint64_t> take() { return take(std::numeric_limits<double>::infinity()); }
  /// No messages will come any more. Whoever waits goes on.
  virtual void close() = 0;
};

class HostRuntime : NonCopyable {
 public:
  virtual ~HostRuntime() = default;

  /// The host's clock, in seconds.
  [[nodiscard]] virtual double now() const = 0;
  /// CPU time of the calling thread so far, in seconds.
  [[nodiscard]] virtual double cpu_now() const = 0;
  /// Polls until that moment of the host's clock; returns at once where it is past.
  virtual void wait_until(double moment) = 0;

  /// The body may use the machine's devices. What it throws, join() rethrows.
  [[nodiscard]] virtual std::unique_ptr<HostThread> start_thread(std::function<void()> body) = 0;
  [[nodiscard]] virtual std::unique_ptr<Channel> make_channel() = 0;
  /// Does `work` on the calling thread. On a simulated host it takes what `cost` says, and is done only where data is
  /// moved.
  virtual void work(const HostCost& cost, const std::function<void()>& work) = 0;
};

/// The real one.
class RealHost : public HostRuntime {
 public:
  /// `prepare` runs first on every thread that is started; what it throws, start_thread() throws.
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
