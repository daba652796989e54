// Interface to the host's threads, channels, timed work and clocks. A simulated machine has host threads and a clock of
// its own, so scenarios use this interface and never std::thread.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "core/non_copyable.hpp"
#include "device/file.hpp"
#include "device/types.hpp"

namespace xferbench {

/// A running thread. The destructor waits until the thread ends.
class HostThread : NonCopyable {
 public:
  virtual ~HostThread() = default;
  /// Waits until the thread ends, and rethrows the exception that its body threw.
  virtual void join() = 0;
};

/// An unbounded first-in, first-out queue of numbers between threads. It must outlive every thread that uses it.
class Channel : NonCopyable {
 public:
  virtual ~Channel() = default;
  /// May be called by any thread, including driver threads that run host functions.
  virtual void post(std::uint64_t message) = 0;
  /// Waits for a message and returns it; the thread spins for a while, then sleeps. Returns nothing if the channel is
  /// closed and empty, or after `timeout` seconds. A simulated channel throws std::logic_error instead of timing out.
  virtual std::optional<std::uint64_t> take(double timeout) = 0;
  std::optional<std::uint64_t> take() { return take(std::numeric_limits<double>::infinity()); }
  /// Closes the channel and wakes all waiting threads.
  virtual void close() = 0;
};

class HostRuntime : NonCopyable {
 public:
  virtual ~HostRuntime() = default;

  /// Time of the host's clock, in seconds.
  [[nodiscard]] virtual double now() const = 0;
  /// CPU time that the calling thread has used so far, in seconds.
  [[nodiscard]] virtual double cpu_now() const = 0;
  /// Spins until the host's clock reaches `moment`, in seconds; returns at once if it already has.
  virtual void wait_until(double moment) = 0;

  /// Starts a thread that may use the machine's devices. HostThread::join() rethrows the body's exception.
  [[nodiscard]] virtual std::unique_ptr<HostThread> start_thread(std::function<void()> body) = 0;
  [[nodiscard]] virtual std::unique_ptr<Channel> make_channel() = 0;
  /// Runs `work` on the calling thread. A simulated host advances its clock by the modelled `cost`, and runs `work`
  /// only while data movement is on.
  virtual void work(const HostCost& cost, const std::function<void()>& work) = 0;
  /// Returns the host's files. Throws std::logic_error for a host that exists only in a test.
  [[nodiscard]] virtual Files& files() { throw std::logic_error("this host has no files"); }
};

/// Implements HostRuntime by real threads and the system's clocks.
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
  [[nodiscard]] Files& files() override;

 private:
  std::function<void()> prepare_;
  std::unique_ptr<Files> files_;  // created by the first call of files()
};

}  // namespace xferbench
