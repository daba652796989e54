// Interface of one GPU, real or simulated; device/cuda and device/sim implement it. Scenarios and the sampling loop use
// a GPU only through this interface and the objects that it creates: streams, events, graphs, memory.
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

/// One GPU. An operation that fails throws a DeviceError that names the operation, unless stated otherwise. Streams,
/// events, graphs and memory must not outlive the device that created them.
class Device : NonCopyable {
 public:
  Device(Machine& machine, std::size_t number) : machine_(machine), number_(number) {}
  virtual ~Device() = default;

  [[nodiscard]] Machine& machine() const { return machine_; }
  /// Index among the machine's devices. This is not the CUDA device index, which is Environment::Gpu::index.
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] HostRuntime& host() const;

  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;
  [[nodiscard]] virtual MemoryInfo memory() = 0;
  /// Returns false once an error has destroyed the context. The device can then run nothing more in this process.
  [[nodiscard]] virtual bool usable() noexcept = 0;
  /// Returns the current health, and the driver's reports (such as Xid errors) since the previous call. Takes up to a
  /// few milliseconds, so do not call it in timed regions. Unknown values are empty. On a simulated device, all are.
  [[nodiscard]] virtual Health health() noexcept { return {}; }
  /// Returns the current clocks that the driver reports; empty where unknown. Takes as long as health().
  [[nodiscard]] virtual Clocks clocks() noexcept { return {}; }
  /// Returns the bytes that the PCIe link has carried each way. As slow as health(), but consumes no driver reports.
  [[nodiscard]] virtual std::optional<LinkBytes> link_bytes() noexcept { return {}; }

  [[nodiscard]] virtual Stream make_stream(StreamKind kind) = 0;
  [[nodiscard]] virtual Event make_event(EventKind kind) = 0;

  /// Allocates memory of this GPU. GPUs with peer access can access it; they must have got that access before, unless
  /// the memory is whole. Throws UnavailableError if the GPU, its driver or this build lacks that kind of memory.
  [[nodiscard]] virtual DeviceBuffer allocate_device(std::size_t bytes, GpuMemory kind) = 0;
  [[nodiscard]] DeviceBuffer allocate_device(std::size_t bytes) { return allocate_device(bytes, GpuMemory::whole); }
  /// Allocates host memory. If NumaPolicy is local and the GPUs are on different nodes, it is on this GPU's NUMA node.
  [[nodiscard]] virtual HostBuffer allocate_host(std::size_t bytes, HostMemory kind, Prefault faults) = 0;
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind) {
    return allocate_host(bytes, kind, Prefault::yes);
  }
  /// Announces that the allocation `host` will hold a payload whose bytes are computed from their positions. Returns
  /// which bytes the caller must fill and check: on a real device all of them. A simulated device then moves and
  /// computes only the returned part, which saves gigabytes of host work.
  virtual PayloadPart payload_part(const HostView& /*host*/) { return {}; }
  /// Enables or disables access of this device's kernels and copy engines to the memory of `peer`, a device of the same
  /// machine. Access is initially off; setting the current state again is no error. Without access, copies between both
  /// devices are staged through the host. Call only while both devices are idle. Throws DeviceError if the link does
  /// not permit peer access (Environment::PeerLink::access).
  virtual void set_peer_access(Device& peer, bool on) = 0;
  /// Pins host memory in place. `memory` must outlive the registration. Throws DeviceError if the memory is pinned.
  [[nodiscard]] virtual Registration register_host(const HostView& memory) = 0;

  /// Copies by the synchronous API (cudaMemcpy), so that scenarios can measure it. The copy runs in the legacy default
  /// stream; the call returns when the host memory may be reused. Hazard: data from pageable memory may then still be
  /// in flight from the driver's staging buffers to the GPU (CUDA Runtime API, API synchronization behavior), and a
  /// non-blocking stream does not wait for it.
  virtual void copy_blocking(const Copy& copy) = 0;
  /// Copies and returns when the data has arrived, so that any stream may read it.
  void copy_and_wait(const Copy& copy) {
    copy_blocking(copy);
    synchronize();
  }
  /// Fills the range and returns when every byte of it holds `value`.
  void fill_and_wait(const DeviceView& range, std::byte value) {
    make_stream(StreamKind::legacy_default).fill(range, value);
    synchronize();
  }

  virtual void synchronize() = 0;
  /// Sets how host threads wait for this device in later calls of synchronize(): spinning, yielding or blocking.
  virtual void set_wait_policy(WaitPolicy policy) = 0;

  /// Loads the kernel at once. Hazard: lazy loading while a gate is closed would deadlock.
  virtual void preload(const Kernel& kernel) = 0;
  /// Compiles and loads a user's kernel; later calls with the same source return the same kernel. The device owns it.
  /// If compilation fails, the message of the DeviceError names the lines with errors.
  virtual const LoadedKernel& load_kernel(const KernelSource& source) = 0;
  /// Returns the kernel's registers, shared memory and occupancy on this GPU; nothing if unknown (simulated GPU).
  [[nodiscard]] virtual std::optional<KernelResources> resources(const Kernel& kernel) = 0;
  /// Sets how many device-side launches may be pending at once (cudaDeviceSetLimit,
  /// cudaLimitDevRuntimePendingLaunchCount). Applies to the whole device until changed and takes device memory. Returns
  /// the actual limit, which may be higher. The device must be idle. Throws on devices without dynamic parallelism.
  virtual std::size_t reserve_device_launches(std::size_t pending) = 0;
  /// Returns the current limit of pending device-side launches.
  [[nodiscard]] virtual std::size_t reserved_device_launches() const = 0;

  /// Measures the offset between the GPU's global timer, which StreamView::stamp() reads, and the host's clock. Takes
  /// some hundred microseconds of an idle GPU.
  [[nodiscard]] virtual ClockRelation relate_clocks() = 0;
  /// Measures the SM clock, in Hz; nothing where that is impossible.
  [[nodiscard]] virtual std::optional<double> sm_clock_hz() = 0;

 private:
  Machine& machine_;
  std::size_t number_;
};

}  // namespace xferbench
