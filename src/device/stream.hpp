// Streams, events in them, graphs of captured work, and the gate that holds streams back. Each has a backend interface
// (Impl), a view that documents its operations, and an owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "device/host_function.hpp"
#include "device/kernel.hpp"
#include "device/memory.hpp"
#include "device/owned.hpp"
#include "device/types.hpp"

namespace xferbench {

// --- Events and graphs ----------------------------------------------------------------------------------------------

class EventImpl : public DeviceResource {
 public:
  using DeviceResource::DeviceResource;
  virtual void synchronize() = 0;
  [[nodiscard]] virtual bool finished() = 0;
  [[nodiscard]] virtual double seconds_since(const EventImpl& earlier) const = 0;
};

/// A point in a stream. Threads and streams can wait for an event, and two events give the time between them. An event
/// is recorded only in streams of its own device; streams of any device can wait for it.
class EventView : public View<EventImpl> {
 public:
  using View::View;

  /// Waits until the work before the event has finished. Returns at once if the event was never recorded.
  void synchronize() const { impl().synchronize(); }
  /// Whether the work before the event has finished. Never waits.
  [[nodiscard]] bool finished() const { return impl().finished(); }
};

using Event = Owned<EventView>;

/// Seconds between two completed timing events of one device.
[[nodiscard]] inline double elapsed(EventView from, EventView to) { return to.impl().seconds_since(from.impl()); }

class GraphImpl : public DeviceResource {
 public:
  using DeviceResource::DeviceResource;
};

/// A graph of captured work, which is replayed as a whole.
using GraphView = View<GraphImpl>;
using Graph = Owned<GraphView>;

// --- Streams --------------------------------------------------------------------------------------------------------

/// Events and graphs passed to a stream must come from the same backend.
class StreamImpl : public DeviceResource {
 public:
  using DeviceResource::DeviceResource;
  virtual void copy(const Copy& copy) = 0;
  virtual void copy_batch(const CopyBatch& batch) = 0;
  virtual void copy_strided(const StridedCopy& copy) = 0;
  virtual void fill(const DeviceView& range, std::byte value) = 0;
  virtual void launch(const Kernel& kernel) = 0;
  virtual void prefetch(const HostView& managed, Direction direction) = 0;
  virtual void stamp(std::uint64_t* slot) = 0;
  virtual void flip(std::byte* at) = 0;
  virtual void call_host(CallbackApi api, HostFunction& function) = 0;
  virtual void record(EventImpl& event) = 0;
  virtual void wait(EventImpl& event) = 0;
  virtual void replay(GraphImpl& graph) = 0;
  [[nodiscard]] virtual Graph capture(const std::function<void()>& submit) = 0;
  virtual void synchronize() = 0;
};

/// A stream. All operations except synchronize() are asynchronous, unless CUDA itself blocks the host, as it does for
/// copies of pageable memory. An operation that fails throws a DeviceError that names the operation. The virtual call
/// costs nanoseconds, the submission to CUDA microseconds.
class StreamView : public View<StreamImpl> {
 public:
  using View::View;

  void copy(const Copy& copy) const { impl().copy(copy); }
  /// Submits several copies in one call. Their order is undefined; later work in the stream waits for all of them. Host
  /// memory must be page-locked. Needs Capabilities::batch_copies.
  void copy_batch(const CopyBatch& batch) const { impl().copy_batch(batch); }
  void copy_strided(const StridedCopy& copy) const { impl().copy_strided(copy); }
  void fill(const DeviceView& range, std::byte value) const { impl().fill(range, value); }
  void launch(const Kernel& kernel) const { impl().launch(kernel); }
  /// Migrates managed memory to the GPU (`direction` h2d) or to the host (d2h), in stream order.
  void prefetch(const HostView& managed, Direction direction) const { impl().prefetch(managed, direction); }
  /// Writes the GPU's global timer, in nanoseconds, to `slot` in page-locked memory, in stream order.
  void stamp(std::uint64_t* slot) const { impl().stamp(slot); }
  /// Inverts one bit of a byte that kernels of this device can access, in stream order. Used to test that wrong
  /// data is detected.
  void flip(std::byte* at) const { impl().flip(at); }
  /// Makes the stream call `function` on a driver thread and continue when it returns. After synchronizing, the caller
  /// calls HostFunction::rethrow().
  void call_host(CallbackApi api, HostFunction& function) const { impl().call_host(api, function); }

  /// Records the event after all work that was enqueued so far. The event must belong to the stream's device.
  void record(EventView event) const { impl().record(event.impl()); }
  /// Makes work that is enqueued later wait for the event, which may belong to any device.
  void wait(EventView event) const { impl().wait(event.impl()); }

  void replay(GraphView graph) const { impl().replay(graph.impl()); }
  /// Captures, without executing it, work that `submit` enqueues to this non-blocking stream and streams that join it.
  [[nodiscard]] Graph capture(const std::function<void()>& submit) const { return impl().capture(submit); }

  void synchronize() const { impl().synchronize(); }
};

using Stream = Owned<StreamView>;

// --- The gate -------------------------------------------------------------------------------------------------------

class GateImpl : public Resource {
 public:
  virtual void close(StreamImpl& stream) = 0;
  [[nodiscard]] virtual bool wait_until_held(double timeout) = 0;
  virtual void open() noexcept = 0;
  [[nodiscard]] virtual bool timed_out() const = 0;
};

/// A gate holds streams until the host opens it, so that timed regions do not include the cost of submission.
class GateView : public View<GateImpl> {
 public:
  using View::View;

  /// Work enqueued to `stream` after this call waits for open(). One gate can hold streams of several devices. An
  /// opened gate can be closed again.
  void close(StreamView stream) const { impl().close(stream.impl()); }
  /// Waits until every stream passed to close() has reached the gate, so that open() releases all of them at once.
  /// Returns false after `timeout` seconds of the host's clock.
  [[nodiscard]] bool wait_until_held(double timeout) const { return impl().wait_until_held(timeout); }
  /// Releases all streams. No effect if the gate holds none.
  void open() const noexcept { impl().open(); }
  /// Whether the gate opened by its own timeout since it was last closed. Valid after its streams have passed it.
  [[nodiscard]] bool timed_out() const { return impl().timed_out(); }
};

/// The destructor opens the gate, so that no stream stays held for ever.
using Gate = Owned<GateView>;

}  // namespace xferbench
