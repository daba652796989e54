// One GPU, real or simulated. Scenarios and the measuring loop know it only through this and through what it makes:
// streams, events, graphs and memory. device/cuda and device/sim implement it.
#pragma once

#include <cstddef>
#include <optional>

#include "core/health.hpp"
#include "core/non_copyable.hpp"
#include "device/kernel.hpp"
#include "device/kernel_source.hpp"
#include "device/memory.hpp"
#include "device/stream.hpp"
#include "device/types.hpp"

namespace xferbench {

class HostRuntime;
class Machine;

/// Every operation throws DeviceError with the operation's name unless it says otherwise. What a device makes must not
/// outlive it.
class Device : NonCopyable {
 public:
  /// `number`: its place among the machine's devices.
  Device(Machine& machine, std::size_t number) : machine_(machine), number_(number) {}
  virtual ~Device() = default;

  /// The machine that it is part of.
  [[nodiscard]] Machine& machine() const { return machine_; }
  /// Its place among that machine's devices; not what CUDA counts it as, which is Environment::Gpu::index.
  [[nodiscard]] std::size_t number() const { return number_; }
  /// That machine's host.
  [[nodiscard]] HostRuntime& host() const;

  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;
  [[nodiscard]] virtual MemoryInfo memory() = 0;
  /// False once an error has destroyed the context: nothing more can run in this process.
  [[nodiscard]] virtual bool usable() noexcept = 0;
  /// How it is now, and what the driver has told of it since the last time. Takes a few milliseconds at most, and is
  /// not for anything that is timed. Nothing where it is not known, as of a simulated device.
  [[nodiscard]] virtual Health health() noexcept { return {}; }
  /// Its clocks now, as the driver tells them, likewise: what it costs, and where nothing is known.
  [[nodiscard]] virtual Clocks clocks() noexcept { return {}; }
  /// What its link has carried so far, likewise. Not part of health(), which takes what the driver has told of.
  [[nodiscard]] virtual std::optional<LinkBytes> link_bytes() noexcept { return {}; }

  [[nodiscard]] virtual Stream make_stream(StreamKind kind) = 0;
  [[nodiscard]] virtual Event make_event(EventKind kind) = 0;

  [[nodiscard]] virtual DeviceBuffer allocate_device(std::size_t bytes) = 0;
  /// Host memory that this device reaches well.
  [[nodiscard]] virtual HostBuffer allocate_host(std::size_t bytes, HostMemory kind, Prefault faults) = 0;
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind) {
    return allocate_host(bytes, kind, Prefault::yes);
  }
  /// Says that `host`, a whole allocation, will hold a payload of which every byte follows from its position, and
  /// returns the part of it that is to be filled and checked. A real device wants all of it. The simulated one moves
  /// and computes only that part from then on, in place of gigabytes whose arrival would show nothing more.
  virtual PayloadPart payload_part(const HostView& /*host*/) { return {}; }
  /// Lets kernels and copy engines of this device reach the memory of `peer`, another device of the machine, or not any
  /// more. Off at first; what is already so stays so. A copy between two devices that goes by streams of one that may
  /// not reach the other is staged through the host. Not while either works. Throws DeviceError where the link between
  /// them does not permit it (Environment::PeerLink::access).
  virtual void set_peer_access(Device& peer, bool on) = 0;
  /// Pins memory in place; `memory` must outlive it. What is pinned already cannot be pinned again.
  [[nodiscard]] virtual Registration register_host(const HostView& memory) = 0;

  /// The synchronous API (cudaMemcpy), for those who time it: runs in the legacy default stream and returns when the
  /// host's memory may be used again. Hazard: what came from pageable memory may still be on its way from the driver's
  /// buffers to the GPU then (CUDA Runtime API, API synchronization behavior), and a non-blocking stream does not wait
  /// for it.
  virtual void copy_blocking(const Copy& copy) = 0;
  /// Returns when the data has arrived, for whoever reads it next.
  void copy_and_wait(const Copy& copy) {
    copy_blocking(copy);
    synchronize();
  }
  /// Returns when all of it holds that value.
  void fill_and_wait(const DeviceView& range, std::byte value) {
    make_stream(StreamKind::legacy_default).fill(range, value);
    synchronize();
  }

  /// Waits for all its streams.
  virtual void synchronize() = 0;
  /// How threads wait for this device from now on, in every synchronize().
  virtual void set_wait_policy(WaitPolicy policy) = 0;

  /// Loads the kernel now: lazy loading inside a gated region would wait for the gate for ever.
  virtual void preload(const Kernel& kernel) = 0;
  /// Compiles and loads a kernel of the user's, once: whoever asks again for the same gets the same. It stays for as
  /// long as the device. Where it does not compile, the error names the file's lines.
  virtual const LoadedKernel& load_kernel(const KernelSource& source) = 0;
  /// What a launch of the kernel takes of this GPU; nothing where that is not known, as on a simulated one.
  [[nodiscard]] virtual std::optional<KernelResources> resources(const Kernel& kernel) = 0;
  /// Makes room for so many launches that kernels have made and that have not ended (cudaDeviceSetLimit); holds for the
  /// whole device until it is called again, and takes device memory. Returns how many there is room for, which may be
  /// more. Call it while the device is idle. Devices whose kernels cannot launch throw.
  virtual std::size_t reserve_device_launches(std::size_t pending) = 0;
  /// How many there is room for now.
  [[nodiscard]] virtual std::size_t reserved_device_launches() const = 0;

  /// Measures how the GPU's timer, which stamps hold, relates to the host's clock. Takes some hundred microseconds of
  /// an idle GPU.
  [[nodiscard]] virtual ClockRelation relate_clocks() = 0;
  /// Rate of the multiprocessors' clock now, measured; nothing where it cannot be.
  [[nodiscard]] virtual std::optional<double> sm_clock_hz() = 0;

 private:
  Machine& machine_;
  std::size_t number_;
};

}  // namespace xferbench
