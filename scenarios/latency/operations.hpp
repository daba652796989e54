// The operations that scenario latency times. Each class owns its resources, provides regions, and can be verified.
// Only copies can check the output of timed passes: empty kernels write nothing, and passes with time stamps check
// their stamps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/non_copyable.hpp"
#include "device/device.hpp"
#include "measure/region.hpp"
#include "measure/timer_on_host.hpp"
#include "scenarios/common/transfer.hpp"

namespace xferbench {

/// GPU time stamps, which kernels write to page-locked memory.
class Stamps {
 public:
  Stamps(Device& device, std::size_t count);
  void clear();
  [[nodiscard]] std::uint64_t* slot(std::size_t i) const { return slots_ + i; }
  [[nodiscard]] bool written(std::size_t i) const;
  /// Returns stamp `i`. Throws VerificationError if it was not written since clear(), because then the wait failed.
  [[nodiscard]] std::uint64_t at(std::size_t i) const;

 private:
  HostBuffer memory_;
  std::uint64_t* slots_;
  std::size_t count_;
};

/// Times a small copy and the wait for its end.
class SmallCopy {
 public:
  SmallCopy(Device& device, const TransferSpec& spec)
      : transfer_(make_transfer(device, spec)), stream_(device.make_stream(StreamKind::nonblocking)) {}
  void prepare() { transfer_->prepare(); }
  /// Times the copy from its call to the end of the wait. The region part kHostCall is the duration of the call.
  [[nodiscard]] Region region();
  /// Runs the copy on poisoned memory and checks every byte.
  void check(Machine& machine, VerifiedRun run);

 private:
  std::unique_ptr<Transfer> transfer_;
  Stream stream_;
};

/// Times the launch of an empty kernel: the duration of the call, and the delay until the kernel starts on the GPU.
class EmptyLaunch {
 public:
  explicit EmptyLaunch(Device& device);
  /// Times a launch from its call to the end of the wait. The region part kHostCall is the duration of the call.
  [[nodiscard]] Region synchronised();
  /// Launches a kernel that only writes a time stamp. Region part kKernelStart is the time from the call to the stamp.
  [[nodiscard]] Region stamped();
  /// Throws VerificationError unless every launch ran exactly once.
  void check();
  [[nodiscard]] double clock_uncertainty() const { return timer_.uncertainty(); }

 private:
  double stamp_once();

  Device& device_;
  Stamps stamps_;
  TimerOnHost timer_;
  Stream stream_;
};

/// Times the launch of a graph that is a chain of empty kernels.
class GraphReplay {
 public:
  GraphReplay(Device& device, std::size_t nodes);
  /// Times a graph launch from its call to the end of the wait. The region part kHostCall is the duration of the call.
  [[nodiscard]] Region region();
  /// Throws VerificationError unless every node of the graph ran exactly once per launch.
  void check();

 private:
  [[nodiscard]] Graph capture(std::uint64_t* counter);

  Device& device_;
  std::size_t nodes_;
  Stream stream_;  // declared before graph_, which is captured from it
  Graph graph_;
};

enum class WaitMethod {
  stream,  ///< cudaStreamSynchronize
  event,   ///< cudaEventSynchronize
  query,   ///< poll cudaEventQuery
};

/// Sets how host threads wait for the device; the destructor restores the driver's default.
class WaitPolicyScope : NonCopyable {
 public:
  WaitPolicyScope(Device& device, WaitPolicy policy) : device_(device) { device_.set_wait_policy(policy); }
  ~WaitPolicyScope();

 private:
  Device& device_;
};

/// Times ways to wait for the end of a kernel.
class KernelWait {
 public:
  KernelWait(Device& device, WaitMethod method, WaitPolicy policy);
  /// Region parts: kLatency is the time from the kernel's end to the return of the wait, "waited" the duration of the
  /// wait, and "cpu" the CPU time of the wait. Each pass checks that the kernel had ended when the wait returned.
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

/// Times the delay from the end of work in one stream to the start of work that depends on it.
class StreamCrossing {
 public:
  explicit StreamCrossing(Device& device);
  /// The dependent work is in another stream, ordered by an event. Region part kLatency is the time between the stamps.
  [[nodiscard]] Region across();
  /// The dependent work is in the same stream. Region part "one-stream" is the time between the two time stamps.
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
