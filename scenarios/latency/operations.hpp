// Not a scenario: the small things whose cost the scenario latency measures. Each owns what it needs, gives regions to
// time, and can be checked. Of timed passes only copies leave an output to be checked: empty kernels write nothing, and
// a pass that ends with a stamp looks at it itself, each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "measure/region.hpp"
#include "measure/timer_on_host.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

/// Slots in page-locked memory for stamps of the GPU's timer.
class Stamps {
 public:
  Stamps(Device& device, std::size_t count);
  void clear();
  [[nodiscard]] std::uint64_t* slot(std::size_t i) const { return slots_ + i; }
  [[nodiscard]] bool written(std::size_t i) const;
  /// Throws VerificationError if it was not written since clear(): whoever waited for it has not waited.
  [[nodiscard]] std::uint64_t at(std::size_t i) const;

 private:
  HostBuffer memory_;
  std::uint64_t* slots_;
  std::size_t count_;
};

/// A small copy and the wait for its end.
class SmallCopy {
 public:
  SmallCopy(Device& device, const TransferSpec& spec)
      : transfer_(make_transfer(device, spec)), stream_(device.make_stream(StreamKind::nonblocking)) {}
  void prepare() { transfer_->prepare(); }
  /// Parts: call.
  [[nodiscard]] Region region();
  /// Runs it on poisoned memory and checks every byte.
  void check(Machine& machine, VerifiedRun run);

 private:
  std::unique_ptr<Transfer> transfer_;
  Stream stream_;
};

/// A launch of an empty kernel, and when the GPU begins with one.
class EmptyLaunch {
 public:
  explicit EmptyLaunch(Device& device);
  /// From the launch to the return of the wait for its end. Parts: call.
  [[nodiscard]] Region synchronised();
  /// A kernel that writes a stamp as its first and only instruction. Parts: start.
  [[nodiscard]] Region stamped();
  /// Throws VerificationError unless every launch ran once.
  void check();
  [[nodiscard]] double clock_uncertainty() const { return timer_.uncertainty(); }

 private:
  double stamp_once();

  Device& device_;
  Stamps stamps_;
  TimerOnHost timer_;
  Stream stream_;
};

/// A graph of empty kernels, one behind the other.
class GraphReplay {
 public:
  GraphReplay(Device& device, std::size_t nodes);
  /// From the launch of the graph to the return of the wait for its end. Parts: call.
  [[nodiscard]] Region region();
  /// Throws VerificationError unless every node of every replay ran once.
  void check();

 private:
  [[nodiscard]] Graph capture(std::uint64_t* counter);

  Device& device_;
  std::size_t nodes_;
  Stream stream_;  // before the graph, which is captured from it
  Graph graph_;
};

enum class WaitMethod {
  stream,  ///< synchronise the stream
  event,   ///< synchronise an event
  query,   ///< ask for an event until it has happened
};

/// How threads wait while this lives; afterwards, however that comes about, as the driver chooses.
class WaitPolicyScope : NonCopyable {
 public:
  WaitPolicyScope(Device& device, WaitPolicy policy) : device_(device) { device_.set_wait_policy(policy); }
  ~WaitPolicyScope();

 private:
  Device& device_;
};

/// The wait for the end of a kernel.
class KernelWait {
 public:
  KernelWait(Device& device, WaitMethod method, WaitPolicy policy);
  /// Parts: latency, from the kernel's end to the wait's return; waited, the time in the wait; cpu, the CPU time of it.
  /// Checks in each pass that the kernel has ended when the wait returns.
  [[nodiscard]] Region region();
  [[nodiscard]] double clock_uncertainty() const { return timer_.uncertainty(); }

 private:
  struct Pass {
    double latency, waited, cpu;
  };
  Pass pass();
  void wait();

  Device& device_;
  WaitMethod method_;
  WaitPolicyScope policy_;
  Stamps stamps_;
  TimerOnHost timer_;
  Stream stream_;
  Event event_;
};

/// From the end of work in one stream to the beginning of work that waits for it.
class StreamCrossing {
 public:
  explicit StreamCrossing(Device& device);
  /// In another stream, by an event. Parts: latency.
  [[nodiscard]] Region across();
  /// Behind it in the same stream. Parts: one-stream.
  [[nodiscard]] Region within();

 private:
  [[nodiscard]] Region region(const char* name, const char* part, std::function<void()> submit);

  Device& device_;
  Stamps stamps_;
  Stream from_;
  Stream to_;
  Event event_;
};

}  // namespace xferbench
