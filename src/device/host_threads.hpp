// Threads of the host as a device sees them: real ones, or those of a simulated host. Scenarios start them through
// Device::start_thread and let them talk through Device::make_channel, and so run on both.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

namespace xferbench {

/// A running thread. Destroying it waits for its end.
class HostThread {
 public:
  HostThread() = default;
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;
  virtual ~HostThread() = default;
  /// Waits for its end and rethrows what its body threw.
  virtual void join() = 0;
};

/// An unbounded queue of numbers between threads, first in, first out. Outlives every thread that uses it.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
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

/// Real ones. `prepare` runs first on the new thread; what it throws, this throws.
std::unique_ptr<HostThread> start_real_thread(std::function<void()> prepare, std::function<void()> body);
std::unique_ptr<Channel> make_real_channel();

}  // namespace xferbench
