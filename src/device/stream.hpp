// Streams: work that a device does in order, and graphs of such work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "device/event.hpp"
#include "device/kernel.hpp"
#include "device/memory.hpp"
#include "device/owned.hpp"
#include "device/types.hpp"

namespace xferbench {

/// What a backend makes of a graph.
class GraphImpl : public DeviceResource {
 public:
  using DeviceResource::DeviceResource;
};

/// Work that was captured once, to be replayed as a whole.
class GraphView {
 public:
  GraphView() = default;
  explicit GraphView(GraphImpl& graph) : impl_(&graph) {}

  [[nodiscard]] Device& device() const { return impl_->device(); }
  [[nodiscard]] GraphImpl& impl() const { return *impl_; }

 private:
  GraphImpl* impl_ = nullptr;
};

using Graph = Owned<GraphView>;

/// What a backend makes of a stream; see StreamView for what the operations mean. Events and graphs are those of the
/// same backend.
class StreamImpl : public DeviceResource {
 public:
  using DeviceResource::DeviceResource;
  virtual void copy(const Copy& copy) = 0;
  virtual void copy_batch(std::span<const Copy> copies) = 0;
  virtual void fill(const DeviceView& range, std::byte value) = 0;
  virtual void launch(const Kernel& kernel) = 0;
  virtual void prefetch(const HostView& managed, Direction direction) = 0;
  virtual void stamp(std::uint64_t* slot) = 0;
  virtual void call_host(CallbackApi api, const std::function<void()>& function) = 0;
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
class StreamView {
 public:
  StreamView() = default;
  explicit StreamView(StreamImpl& stream) : impl_(&stream) {}

  [[nodiscard]] Device& device() const { return impl_->device(); }
  [[nodiscard]] StreamImpl& impl() const { return *impl_; }
  friend bool operator==(const StreamView& a, const StreamView& b) { return a.impl_ == b.impl_; }

  void copy(const Copy& copy) const { impl_->copy(copy); }
  /// Several copies in one call, in no particular order among each other; what follows in the stream waits for all of
  /// them. Only page-locked host memory. Needs Capabilities::batch_copies.
  void copy_batch(std::span<const Copy> copies) const { impl_->copy_batch(copies); }
  void fill(const DeviceView& range, std::byte value) const { impl_->fill(range, value); }
  void launch(const Kernel& kernel) const { impl_->launch(kernel); }
  /// Moves managed memory, as far as it is not there already: `direction` h2d to the GPU, d2h to the host.
  void prefetch(const HostView& managed, Direction direction) const { impl_->prefetch(managed, direction); }
  /// Writes the GPU's timer, in nanoseconds, to `slot` in page-locked memory when the stream gets there.
  void stamp(std::uint64_t* slot) const { impl_->stamp(slot); }
  /// Calls `function` on a thread of the driver when the stream gets there; the stream goes on when it has returned.
  /// The caller keeps it alive until then. It must not throw and must not use any device.
  void call_host(CallbackApi api, const std::function<void()>& function) const { impl_->call_host(api, function); }

  /// Marks the moment at which everything enqueued so far has finished. The event is of the stream's device.
  void record(EventView event) const { impl_->record(event.impl()); }
  /// What is enqueued from now on waits for the event, of whatever device it is.
  void wait(EventView event) const { impl_->wait(event.impl()); }

  void replay(GraphView graph) const { impl_->replay(graph.impl()); }
  /// What `submit` enqueues to this stream (a non-blocking one) and to those that join it, ready for replay(). Nothing
  /// of it runs now.
  [[nodiscard]] Graph capture(const std::function<void()>& submit) const { return impl_->capture(submit); }

  /// Memory from a pool, in this stream's order, and given back in its order; the stream outlives it. Needs
  /// Capabilities::memory_pools.
  [[nodiscard]] DeviceBuffer allocate(std::size_t bytes) const { return impl_->allocate(bytes); }

  /// Waits for everything that was enqueued.
  void synchronize() const { impl_->synchronize(); }

 private:
  StreamImpl* impl_ = nullptr;
};

using Stream = Owned<StreamView>;

}  // namespace xferbench
