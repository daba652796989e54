// Converts time stamps of the GPU's global timer to the host's clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/machine.hpp"

namespace xferbench {

/// Keeps a measured relation between the GPU's timer and the host's clock. The clocks drift apart by some parts in
/// 10^5, so the relation is measured again every few milliseconds, before the drift exceeds its uncertainty. It is not
/// measured before every pass, because a measurement allocates page-locked memory and slows the next operation.
class TimerOnHost {
 public:
  explicit TimerOnHost(Device& device) : device_(device) {}
  /// Measures the relation if the last measurement is more than `fresh` seconds old. Call it before a pass. Returns
  /// whether it measured; the caller should then run one untimed pass.
  bool refresh(double fresh = 5e-3) {
    if (ever_ && device_.host().now() - related_ < fresh) return false;
    relation_ = device_.relate_clocks();
    related_ = device_.host().now();
    ever_ = true;
    uncertainty_ = std::max(uncertainty_, relation_.uncertainty);
    return true;
  }
  /// Returns the seconds from a GPU time stamp to a later host time; 0 if the difference is negative.
  [[nodiscard]] double since(std::uint64_t stamp, double host) const {
    return std::max(0.0, host - relation_.host_time(stamp));
  }
  /// Returns the seconds from a host time to a later GPU time stamp; 0 if the difference is negative.
  [[nodiscard]] double until(std::uint64_t stamp, double host) const {
    return std::max(0.0, relation_.host_time(stamp) - host);
  }
  /// Largest uncertainty of all relations measured so far, in seconds.
  [[nodiscard]] double uncertainty() const { return uncertainty_; }

 private:
  Device& device_;
  ClockRelation relation_;
  double related_ = 0;
  bool ever_ = false;
  double uncertainty_ = 0;
};

}  // namespace xferbench
