// Converts the GPU's timer stamps to the host's clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/machine.hpp"

namespace xferbench {

/// Relates the GPU's timer to the host's clock. The clocks drift apart by some parts in 10^5, so the relation is
/// measured again every few milliseconds, before the drift exceeds its uncertainty. Not before every pass, because
/// that allocates page-locked memory and slows the operation that follows.
class TimerOnHost {
 public:
  explicit TimerOnHost(Device& device) : device_(device) {}
  /// Call before a pass. Measures the relation if the last measurement is more than `fresh` seconds old. Returns true
  /// if it did; an untimed pass should then follow.
  bool refresh(double fresh = 5e-3) {
    if (ever_ && device_.host().now() - related_ < fresh) return false;
    relation_ = device_.relate_clocks();
    related_ = device_.host().now();
    ever_ = true;
    uncertainty_ = std::max(uncertainty_, relation_.uncertainty);
    return true;
  }
  /// Seconds from a GPU timer stamp to a later host time; negative results, due to the uncertainty, become 0.
  [[nodiscard]] double since(std::uint64_t stamp, double host) const {
    return std::max(0.0, host - relation_.host_time(stamp));
  }
  /// Seconds from a host time to a later GPU timer stamp; negative results become 0.
  [[nodiscard]] double until(std::uint64_t stamp, double host) const {
    return std::max(0.0, relation_.host_time(stamp) - host);
  }
  /// Largest uncertainty of all measured relations, in seconds.
  [[nodiscard]] double uncertainty() const { return uncertainty_; }

 private:
  Device& device_;
  ClockRelation relation_;
  double related_ = 0;
  bool ever_ = false;
  double uncertainty_ = 0;
};

}  // namespace xferbench
