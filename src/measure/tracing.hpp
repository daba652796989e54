// Records a trace (timeline) of one pass of a region.
#pragma once

#include "core/trace.hpp"
#include "device/machine.hpp"
#include "measure/region.hpp"

namespace xferbench {

/// Runs the region like a timed pass, behind its gate if it has one, and returns the timeline. An ungated pass comes
/// first and is discarded, so that the tracer allocates its buffers then. Throws DeviceError, or MeasurementError if
/// the gate times out repeatedly.
Trace trace_pass(Machine& machine, const Region& region);

}  // namespace xferbench
