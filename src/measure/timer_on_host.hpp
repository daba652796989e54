// Moments of the GPU on the host's clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/machine.hpp"

namespace xferbench {

/// The GPU's timer in terms of the host's clock. Both drift apart by some parts in 10^5, so the relation is measured
/// anew every few milliseconds, before it is off by more than it is uncertain by. Not before every pass: that allocates
/// page-locked memory, and whatever comes right behind is slower than usual.
class TimerOnHost {
 public:
  explicit TimerOnHost(Device& device) : device_(device) {}
  /// To be called before a pass. True if the clocks were related just now, because the last time was more than `fresh`
  /// seconds ago: then a pass that nobody times should follow.
  bool refresh(double fresh = 5e-3) {
    if (ever_ && device_.host().now() - related_ < fresh) return false;
    relation_ = device_.relate_clocks();
    related_ = device_.host().now();
    ever_ = true;
    uncertainty_ = std::max(uncertainty_, relation_.uncertainty);
    return true;
  }
  /// Seconds from a stamp to a later moment of the host's clock. The relation is uncertain, and what comes out below
  /// zero is zero.
  [[nodiscard]] double since(std::uint64_t stamp, double host) const {
    return std::max(0.0, host - relation_.host_time(stamp));
  }
  /// The same from a moment to a later stamp.
  [[nodiscard]] double until(std::uint64_t stamp, double host) const {
    return std::max(0.0, relation_.host_time(stamp) - host);
  }
  /// The largest so far, in seconds.
  [[nodiscard]] double uncertainty() const { return uncertainty_; }

 private:
  Device& device_;
  ClockRelation relation_;
  double related_ = 0;
  bool ever_ = false;
  double uncertainty_ = 0;
};

}  // namespace xferbench
