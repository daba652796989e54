// Traces one pass over a region.
#pragma once

#include "core/trace.hpp"
#include "device/machine.hpp"
#include "measure/region.hpp"

namespace xferbench {

/// Runs the region like a timed pass, behind its gate if it has one, and returns the timeline. A discarded ungated
/// pass before it absorbs the tracer's buffer allocations. Throws DeviceError, and MeasurementError if the gate times
/// out repeatedly.
Trace trace_pass(Machine& machine, const Region& region);

}  // namespace xferbench
