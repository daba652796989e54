// Passes that are timed or traced and not checked.
#pragma once

#include "device/machine.hpp"

namespace xferbench {

/// While it lives: timed passes need no data on a machine whose times are modelled.
class TimedPasses {
 public:
  explicit TimedPasses(Machine& machine) : machine_(machine) { machine_.set_data_movement(false); }
  TimedPasses(const TimedPasses&) = delete;
  TimedPasses& operator=(const TimedPasses&) = delete;
  ~TimedPasses() { machine_.set_data_movement(true); }

 private:
  Machine& machine_;
};

}  // namespace xferbench
