// Moments in a stream, to wait for and to take times between.
#pragma once

#include "device/owned.hpp"

namespace xferbench {

/// What a backend makes of an event; see EventView for what the operations mean.
class EventImpl : public DeviceResource {
 public:
  using DeviceResource::DeviceResource;
  virtual void synchronize() = 0;
  [[nodiscard]] virtual bool finished() = 0;
  [[nodiscard]] virtual double seconds_since(const EventImpl& earlier) const = 0;
};

/// An event is recorded in streams of its own device only; streams of any device can wait for it.
class EventView {
 public:
  EventView() = default;
  explicit EventView(EventImpl& event) : impl_(&event) {}

  [[nodiscard]] Device& device() const { return impl_->device(); }
  [[nodiscard]] EventImpl& impl() const { return *impl_; }

  /// Waits for the work before the event. Returns at once if it was never recorded.
  void synchronize() const { impl_->synchronize(); }
  /// Whether the work before the event has finished. Never waits.
  [[nodiscard]] bool finished() const { return impl_->finished(); }

 private:
  EventImpl* impl_ = nullptr;
};

using Event = Owned<EventView>;

/// Seconds between two completed timing events of one device.
[[nodiscard]] inline double elapsed(EventView from, EventView to) { return to.impl().seconds_since(from.impl()); }

}  // namespace xferbench
