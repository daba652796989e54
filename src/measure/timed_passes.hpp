// Passes that are timed or traced and not checked.
#pragma once

#include "device/device.hpp"

namespace xferbench {

/// While it lives: timed passes need no data on a device whose times are modelled.
class TimedPasses {
 public:
  explicit TimedPasses(Device& device) : device_(device) { device_.set_data_movement(false); }
  TimedPasses(const TimedPasses&) = delete;
  TimedPasses& operator=(const TimedPasses&) = delete;
  ~TimedPasses() { device_.set_data_movement(true); }

 private:
  Device& device_;
};

}  // namespace xferbench
