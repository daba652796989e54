// The time until the first copy of a pass has arrived.
#pragma once

#include <atomic>

#include "device/device.hpp"

namespace xferbench {

/// Times the first copy of a pass by two events. If made without timing, its functions do nothing.
class FirstCopy {
 public:
  FirstCopy(Device& device, bool timed) : timed_(timed) {
    if (!timed_) return;
    begun_ = device.make_event(EventKind::timing);
    copied_ = device.make_event(EventKind::timing);
  }
  /// Call it before any copy of the pass, with an idle stream.
  void begin(StreamView stream) {
    seen_ = false;
    if (timed_) stream.record(begun_);
  }
  /// Call it on any thread after submitting each copy, and before submitting anything that the pass waits for.
  void note_copy(StreamView stream) {
    if (timed_ && !seen_.exchange(true)) stream.record(copied_);
  }
  /// Returns the seconds from begin() to the end of the first copy; 0 if not timed. Call it after the pass.
  [[nodiscard]] double seconds() const { return timed_ && seen_ ? elapsed(begun_, copied_) : 0; }

 private:
  bool timed_;
  Event begun_;
  Event copied_;
  std::atomic<bool> seen_{false};
};

}  // namespace xferbench
