// The narrow device interface. Scenarios and the measuring loop know a GPU only through it; device/cuda and device/sim
// implement it. Virtual at run time: a virtual call costs nanoseconds, the submissions behind it microseconds.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

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
struct DeviceRange {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};
struct HostRange {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  HostMemory kind = HostMemory::pageable;
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
using DeviceBuffer = Owned<DeviceRange>;
using HostBuffer = Owned<HostRange>;

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
  [[nodiscard]] HostBuffer allocate_host(std::size_t bytes, HostMemory kind) {
    return {*this, acquire_host(bytes, kind)};
  }

  // Work. All but copy_blocking return when the work is enqueued - or when the backend says so: a copy from or to
  // pageable memory blocks the host, which is a thing to measure and not to hide.
  virtual void copy(const Copy& copy, StreamHandle stream) = 0;
  /// The synchronous API (cudaMemcpy): runs in the legacy default stream and returns when the data has arrived.
  virtual void copy_blocking(const Copy& copy) = 0;
  virtual void fill(const DeviceRange& range, std::byte value, StreamHandle stream) = 0;
  virtual void launch(const Kernel& kernel, StreamHandle stream) = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  virtual void wait(StreamHandle stream, EventHandle event) = 0;

  // Waiting and time.
  virtual void synchronize(EventHandle event) = 0;
  virtual void synchronize() = 0;
  /// Seconds from one timing event to another, both completed. Resolution about 0.5 us.
  [[nodiscard]] virtual double elapsed(EventHandle from, EventHandle to) = 0;
  /// The host's steady clock in seconds; virtual time on the simulated device.
  [[nodiscard]] virtual double host_now() const = 0;

  // The gate: holds a stream until the host opens it, so that submission cost stays out of a timed region.
  /// Everything enqueued to `stream` after this waits for open(). Re-arms the gate.
  virtual void close(GateHandle gate, StreamHandle stream) = 0;
  virtual void open(GateHandle gate) noexcept = 0;
  /// Whether the gate gave up waiting for open() since it was closed. Valid once its stream has passed it.
  [[nodiscard]] virtual bool timed_out(GateHandle gate) const = 0;

  virtual void preload(const Kernel& kernel) = 0;
  /// Rate of the multiprocessors' clock now, measured; nothing where it cannot be.
  [[nodiscard]] virtual std::optional<double> sm_clock_hz() = 0;
  /// Makes this device current for the calling thread; needed once in every thread but the one that opened it.
  virtual void attach_thread() = 0;
  /// False once an error has destroyed the context: nothing more can run in this process.
  [[nodiscard]] virtual bool usable() noexcept = 0;
  /// Whether work moves and computes real bytes. A real device always does. The simulated one does in verification
  /// passes and skips it in timed passes, whose times are modelled anyway.
  virtual void carry_data(bool) {}

 private:
  template <class Handle>
  friend class Owned;

  virtual StreamHandle acquire_stream(StreamKind kind) = 0;
  virtual EventHandle acquire_event(EventKind kind) = 0;
  virtual GateHandle acquire_gate(double timeout) = 0;
  virtual DeviceRange acquire_device(std::size_t bytes) = 0;
  virtual HostRange acquire_host(std::size_t bytes, HostMemory kind) = 0;

  virtual void release(const StreamHandle& stream) noexcept = 0;
  virtual void release(const EventHandle& event) noexcept = 0;
  virtual void release(const GateHandle& gate) noexcept = 0;
  virtual void release(const DeviceRange& memory) noexcept = 0;
  virtual void release(const HostRange& memory) noexcept = 0;
};

template <class Handle>
Owned<Handle>::~Owned() {
  if (device_ != nullptr) device_->release(handle_);
}

}  // namespace xferbench
