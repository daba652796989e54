// One pass over a region, watched.
#pragma once

#include "core/trace.hpp"
#include "device/machine.hpp"
#include "measure/region.hpp"

namespace xferbench {

/// Runs the region as a timed pass does, behind its gate if it has one, and returns what the device did and when. An
/// ungated pass before it, which is thrown away, pays for the buffers of whoever watches. Throws DeviceError, and
/// MeasurementError if the gate times out again and again.
Trace trace_pass(Machine& machine, const Region& region);

}  // namespace xferbench
