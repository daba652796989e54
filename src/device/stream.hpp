// Streams: work that a device does in order; events in them, graphs of such work, and the gate that holds them. For
// each there is what a backend makes of it (Impl), a view whose operations say what they mean, and its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

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

/// A moment in a stream, to wait for and to take times between. An event is recorded in streams of its own device only;
/// streams of any device can wait for it.
class EventView : public View<EventImpl> {
 public:
  using View::View;

  /// Waits for the work before the event. Returns at once if it was never recorded.
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

/// Work that was captured once, to be replayed as a whole.
using GraphView = View<GraphImpl>;
using Graph = Owned<GraphView>;

// --- Streams --------------------------------------------------------------------------------------------------------

/// Events and graphs are those of the same backend.
class StreamImpl : public DeviceResource {
 public:
  using DeviceResource::DeviceResource;
  virtual void copy(const Copy& copy) = 0;
  virtual void copy_batch(std::span<const Copy> copies) = 0;
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
  [[nodiscard]] virtual DeviceBuffer allocate(std::size_t bytes) = 0;
  virtual void synchronize() = 0;
};

/// Everything but synchronize() returns when the work is enqueued - or when the backend says so: a copy from or to
/// pageable memory blocks the host, which is a thing to measure and not to hide. Every operation throws DeviceError
/// with its name. A virtual call costs nanoseconds, the submissions behind it microseconds.
class StreamView : public View<StreamImpl> {
 public:
  using View::View;

  void copy(const Copy& copy) const { impl().copy(copy); }
  /// Several copies in one call, in no particular order among each other; what follows in the stream waits for all of
  /// them. Only page-locked host memory. Needs Capabilities::batch_copies.
  void copy_batch(std::span<const Copy> copies) const { impl().copy_batch(copies); }
  void fill(const DeviceView& range, std::byte value) const { impl().fill(range, value); }
  void launch(const Kernel& kernel) const { impl().launch(kernel); }
  /// Moves managed memory, as far as it is not there already: `direction` h2d to the GPU, d2h to the host.
  void prefetch(const HostView& managed, Direction direction) const { impl().prefetch(managed, direction); }
  /// Writes the GPU's timer, in nanoseconds, to `slot` in page-locked memory when the stream gets there.
  void stamp(std::uint64_t* slot) const { impl().stamp(slot); }
  /// Inverts a bit of a byte that kernels of this stream's device reach, when the stream gets there: how it is tried
  /// whether wrong data is found.
  void flip(std::byte* at) const { impl().flip(at); }
  /// Calls `function` on a thread of the driver when the stream gets there; the stream goes on when it has returned.
  /// The caller asks it for errors after a wait.
  void call_host(CallbackApi api, HostFunction& function) const { impl().call_host(api, function); }

  /// Marks the moment at which everything enqueued so far has finished. The event is of the stream's device.
  void record(EventView event) const { impl().record(event.impl()); }
  /// What is enqueued from now on waits for the event, of whatever device it is.
  void wait(EventView event) const { impl().wait(event.impl()); }

  void replay(GraphView graph) const { impl().replay(graph.impl()); }
  /// What `submit` enqueues to this stream (a non-blocking one) and to those that join it, ready for replay(). Nothing
  /// of it runs now.
  [[nodiscard]] Graph capture(const std::function<void()>& submit) const { return impl().capture(submit); }

  /// Memory from a pool, in this stream's order, and given back in its order; the stream outlives it. Needs
  /// Capabilities::memory_pools.
  [[nodiscard]] DeviceBuffer allocate(std::size_t bytes) const { return impl().allocate(bytes); }

  /// Waits for everything that was enqueued.
  void synchronize() const { impl().synchronize(); }
};

using Stream = Owned<StreamView>;

// --- The gate -------------------------------------------------------------------------------------------------------

class GateImpl : public Resource {
 public:
  virtual void close(StreamImpl& stream) = 0;
  [[nodiscard]] virtual bool wait_until_held(double patience) = 0;
  virtual void open() noexcept = 0;
  [[nodiscard]] virtual bool timed_out() const = 0;
};

/// Holds streams until the host opens it, so that submission cost stays out of a timed region.
class GateView : public View<GateImpl> {
 public:
  using View::View;

  /// Everything enqueued to `stream` after this waits for open(). One gate can hold several streams, of several
  /// devices; the first that it holds after it was open arms it anew.
  void close(StreamView stream) const { impl().close(stream.impl()); }
  /// Waits until every stream that was closed has come to the gate, so that open() lets go of all at once; `patience`
  /// in seconds of the host's clock. False if one has not come by then.
  [[nodiscard]] bool wait_until_held(double patience) const { return impl().wait_until_held(patience); }
  /// Lets go of all streams. A gate that holds none stays as it is.
  void open() const noexcept { impl().open(); }
  /// Whether it gave up waiting for open() since it was armed. Valid once its streams have passed it.
  [[nodiscard]] bool timed_out() const { return impl().timed_out(); }
};

/// Opens when it is destroyed: nothing must be held by what nobody can open.
using Gate = Owned<GateView>;

}  // namespace xferbench
