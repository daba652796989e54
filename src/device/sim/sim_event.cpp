#include "device/sim/sim_event.hpp"

#include "core/error.hpp"
#include "device/sim/sim_device.hpp"
#include "device/sim/sim_machine.hpp"

namespace xferbench::sim {

SimEvent::SimEvent(SimDevice& device, EventKind kind)
    : EventImpl(device),
      host_(device.simulation().sim_host()),
      query_call_(device.profile().query_call),
      timed_(kind == EventKind::timing) {}

const OperationPtr& SimEvent::outside_captures(const char* what) const {
  if (place_.capture) throw DeviceError(what, "the event belongs to a graph: it was recorded in a capture");
  return operation_;
}

void SimEvent::synchronize() {
  if (const OperationPtr& o = outside_captures("waiting for an event")) host_.wait_for(o);
}

bool SimEvent::finished() {
  host_.advance(query_call_);
  host_.catch_up();
  const OperationPtr& o = outside_captures("asking for an event");
  return !o || o->done();
}

double SimEvent::moment() const {
  if (!timed_) throw DeviceError("elapsed time", "an event was created with timing disabled");
  if (!operation_ || !operation_->done()) throw DeviceError("elapsed time", "an event has not completed");
  return operation_->finished;
}

double SimEvent::seconds_since(const EventImpl& earlier) const {
  if (&earlier.device() != &device()) throw DeviceError("elapsed time", "the events are of different devices");
  const double begun = static_cast<const SimEvent&>(earlier).moment();
  return moment() - begun;
}

}  // namespace xferbench::sim
