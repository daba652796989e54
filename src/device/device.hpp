// The narrow device interface. Scenarios and the measuring loop know a GPU only through it; device/cuda and device/sim
// implement it. Virtual at run time: a virtual call costs nanoseconds, the submissions behind it microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/trace.hpp"
#include "device/host_threads.hpp"
#include "device/kernel.hpp"
#include "device/types.hpp"

namespace xferbench {

class Device;

// Views: what a backend calls its resource. Copying one does not own anything.
struct StreamHandle {
  void* native = nullptr;
};
struct EventHandle {
  void* native = nullptr;
};
struct GateHandle {
  void* native = nullptr;
};
struct DeviceView {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};
struct HostRange {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  HostMemory kind = HostMemory::pageable;
};
/// Ordinary memory while it is pinned in place. The memory is not owned.
struct RegisteredRange {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};
/// Device memory taken from a pool in a stream's order, and given back in that stream's order.
struct PooledRange {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  StreamHandle stream;
};
/// Work that was captured once, to be replayed as a whole.
struct GraphHandle {
  void* native = nullptr;
};

/// Move-only owner of one resource of a device, which must outlive it. The only move implementation there is.
template <class Handle>
class Owned {
 public:
  Owned() = default;
  Owned(Device& device, Handle handle) : device_(&device), handle_(handle) {}
  Owned(Owned&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)), handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned();

  [[nodiscard]] const Handle& get() const { return handle_; }
  operator const Handle&() const {
    return handle_;
  }  // NOLINT(google-explicit-constructor): an owner is usable as its view
  const Handle* operator->() const { return &handle_; }
  explicit operator bool() const { return device_ != nullptr; }

 private:
  Device* device_ = nullptr;
  Handle handle_{};
};

using Stream = Owned<StreamHandle>;
using Event = Owned<EventHandle>;
using Gate = Owned<GateHandle>;
using DeviceBuffer = Owned<DeviceView>;
using HostBuffer = Owned<HostRange>;
using Registration = Owned<RegisteredRange>;
using PooledBuffer = Owned<PooledRange>;
using Graph = Owned<GraphHandle>;

/// Whether host memory gets its pages when it is allocated. Page-locked memory always does.
enum class Prefault { yes, no };

/// One GPU, real or simulated. Every operation throws DeviceError with the operation's name unless it says otherwise.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;
  [[nodiscard]] virtual MemoryInfo memory() = 0;

  // Owners.
  [[nodiscard]] Stream make_stream(StreamKind kind) { return {*this, acquire_stream(kind)}; }
  [[nodiscard]] Event make_event(EventKind kind) { return {*this, acquire_event(kind)}; }
  /// `timeout`: seconds after which a closed gate lets go by itself, so that a mistake cannot hang the process.
  [[nodiscard]] Gate make_gate(double timeout = 1.0) { return {*this, acquire_gate(timeout)}; }
  [[nodiscard]] DeviceBuffer allocate_device(std::size_t bytes) { return {*this, acquire_device(bytes)}; }
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind, Prefault faults = Prefault::yes) {
    return {*this, acquire_host(bytes, kind, faults)};
  }
  /// Pins memory in place; `range` must outlive it. What is pinned already cannot be pinned again.
  [[nodiscard]] Registration register_host(const HostRange& range) { return {*this, acquire_registration(range)}; }
  [[nodiscard]] PooledBuffer allocate_pooled(std::size_t bytes, StreamHandle stream) {
    return {*this, acquire_pooled(bytes, stream)};
  }
  /// What `submit` enqueues to `stream` (a non-blocking one), captured and ready for replay(). Nothing of it runs now.
  [[nodiscard]] Graph capture(StreamHandle stream, const std::function<void()>& submit) {
    return {*this, acquire_graph(stream, submit)};
  }

  // Work. All but the blocking copies return when the work is enqueued - or when the backend says so: a copy from or to
  // pageable memory blocks the host, which is a thing to measure and not to hide.
  virtual void copy(const Copy& copy, StreamHandle stream) = 0;
  /// Several copies in one call, in no particular order among each other; what follows in the stream waits for all of
  /// them. Only page-locked host memory. Needs Capabilities::batch_copies.
  virtual void copy_batch(std::span<const Copy> copies, StreamHandle stream) = 0;
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
  virtual void fill(const DeviceView& range, std::byte value, StreamHandle stream) = 0;
  virtual void launch(const Kernel& kernel, StreamHandle stream) = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  virtual void wait(StreamHandle stream, EventHandle event) = 0;
  virtual void replay(GraphHandle graph, StreamHandle stream) = 0;
  /// Moves managed memory, as far as it is not there already: `direction` h2d to the GPU, d2h to the host.
  virtual void prefetch(const HostRange& managed, Direction direction, StreamHandle stream) = 0;
  /// Writes the GPU's timer, in nanoseconds, to `slot` in page-locked memory when the stream gets there.
  virtual void stamp(std::uint64_t* slot, StreamHandle stream) = 0;
  /// Calls `function` on a thread of the driver when the stream gets there; the stream goes on when it has returned.
  /// The caller keeps it alive until then. It must not throw and must not use this device.
  virtual void call_host(CallbackApi api, const std::function<void()>& function, StreamHandle stream) = 0;

  // Waiting, and asking.
  virtual void synchronize(StreamHandle stream) = 0;
  virtual void synchronize(EventHandle event) = 0;
  virtual void synchronize() = 0;
  /// Whether the work before the event has finished. Never waits.
  [[nodiscard]] virtual bool finished(EventHandle event) = 0;
  /// How threads wait from now on, in every synchronize().
  virtual void set_wait_policy(WaitPolicy policy) = 0;

  // Clocks, in seconds.
  /// Between two completed timing events.
  [[nodiscard]] virtual double elapsed(EventHandle from, EventHandle to) = 0;
  [[nodiscard]] virtual double host_now() const = 0;
  /// CPU time of the calling thread so far.
  [[nodiscard]] virtual double host_cpu_now() const = 0;
  /// Measures how the GPU's timer, which stamp() writes, relates to host_now(). Takes some hundred microseconds of an
  /// idle GPU.
  [[nodiscard]] virtual ClockRelation relate_clocks() = 0;

  // The host: its threads, and what they do beside calling this interface. The simulated device's host has its own
  // clock, and threads of that clock.
  /// The body may use this device. What it throws, join() rethrows.
  [[nodiscard]] virtual std::unique_ptr<HostThread> start_thread(std::function<void()> body) = 0;
  [[nodiscard]] virtual std::unique_ptr<Channel> make_channel() = 0;
  /// Does `work` on the calling thread. On a simulated host it takes what `cost` says, and is done only where data is
  /// carried.
  virtual void host_work(const HostCost& cost, const std::function<void()>& work) = 0;

  // The gate: holds a stream until the host opens it, so that submission cost stays out of a timed region.
  /// Everything enqueued to `stream` after this waits for open(). Re-arms the gate.
  virtual void close(GateHandle gate, StreamHandle stream) = 0;
  virtual void open(GateHandle gate) noexcept = 0;
  /// Whether the gate gave up waiting for open() since it was closed. Valid once its stream has passed it.
  [[nodiscard]] virtual bool timed_out(GateHandle gate) const = 0;

  virtual void preload(const Kernel& kernel) = 0;
  /// Makes room for so many launches that kernels have made and that have not ended (cudaDeviceSetLimit); holds for the
  /// whole device until it is called again, and takes device memory. Returns how many there is room for, which may be
  /// more. Call it while the device is idle. Devices whose kernels cannot launch throw.
  virtual std::size_t reserve_device_launches(std::size_t pending);
  /// How many there is room for now.
  [[nodiscard]] virtual std::size_t reserved_device_launches() const;
  /// What a launch of the kernel takes of this GPU; nothing where that is not known, as on a simulated one.
  [[nodiscard]] virtual std::optional<KernelResources> resources(const Kernel&) { return std::nullopt; }
  /// Rate of the multiprocessors' clock now, measured; nothing where it cannot be.
  [[nodiscard]] virtual std::optional<double> sm_clock_hz() = 0;
  /// False once an error has destroyed the context: nothing more can run in this process.
  [[nodiscard]] virtual bool usable() noexcept = 0;
  /// Whether work moves and computes real bytes. A real device always does. The simulated one does in verification
  /// passes and skips it in timed passes, whose times are modelled anyway.
  virtual void set_data_movement(bool) {}
  /// Says that `host`, a whole allocation, will hold a payload of which every byte follows from its position, and
  /// returns the part of it that is to be filled and checked. A real device wants all of it. The simulated one moves
  /// and computes only that part from then on, in place of gigabytes whose arrival would show nothing more.
  virtual PayloadPart payload_part(const HostRange& /*host*/) { return {}; }

  // Timelines. Watching costs time, so never while samples are taken.
  /// Waits for the device; from then on everything that is enqueued, and the calls that enqueue it, are recorded.
  virtual void start_trace() = 0;
  /// Waits for the device and ends the recording. Gates, stamps and clock probes are not part of it.
  [[nodiscard]] virtual Trace stop_trace() = 0;

  // Marks for profilers that watch the process, by thread; they nest. Nothing where no profiler can see them.
  /// `name` is copied.
  virtual void begin_range(const char* /*name*/) {}
  virtual void end_range() {}

 private:
  template <class Handle>
  friend class Owned;

  virtual StreamHandle acquire_stream(StreamKind kind) = 0;
  virtual EventHandle acquire_event(EventKind kind) = 0;
  virtual GateHandle acquire_gate(double timeout) = 0;
  virtual DeviceView acquire_device(std::size_t bytes) = 0;
  virtual HostRange acquire_host(std::size_t bytes, HostMemory kind, Prefault faults) = 0;
  virtual RegisteredRange acquire_registration(const HostRange& range) = 0;
  virtual PooledRange acquire_pooled(std::size_t bytes, StreamHandle stream) = 0;
  virtual GraphHandle acquire_graph(StreamHandle stream, const std::function<void()>& submit) = 0;

  virtual void release(const StreamHandle& stream) noexcept = 0;
  virtual void release(const EventHandle& event) noexcept = 0;
  virtual void release(const GateHandle& gate) noexcept = 0;
  virtual void release(const DeviceView& memory) noexcept = 0;
  virtual void release(const HostRange& memory) noexcept = 0;
  virtual void release(const RegisteredRange& memory) noexcept = 0;
  virtual void release(const PooledRange& memory) noexcept = 0;
  virtual void release(const GraphHandle& graph) noexcept = 0;
};

inline std::size_t Device::reserve_device_launches(std::size_t) {
  throw DeviceError("making room for launches from the device", "this device has no kernels that launch kernels");
}
inline std::size_t Device::reserved_device_launches() const {
  throw DeviceError("asking for the room for launches from the device",
                    "this device has no kernels that launch kernels");
}

/// Marks what a scope does for profilers. Cheap where none watches, if `name` need not be made for it.
class NvtxRange {
 public:
  NvtxRange(Device& device, const char* name) : device_(device) { device_.begin_range(name); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
  ~NvtxRange() { device_.end_range(); }

 private:
  Device& device_;
};

template <class Handle>
Owned<Handle>::~Owned() {
  if (device_ != nullptr) device_->release(handle_);
}

}  // namespace xferbench
