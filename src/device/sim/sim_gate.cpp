#include "device/sim/sim_gate.hpp"

#include <algorithm>

#include "device/sim/sim_stream.hpp"

namespace xferbench::sim {

void SimGate::close(StreamImpl& stream) {
  holds_.push_back(static_cast<SimStream&>(stream).hold(timeout_));
  timed_out_ = true;  // until open() comes in time
}

void SimGate::open() noexcept {
  if (holds_.empty()) return;
  timed_out_ = false;
  for (const OperationPtr& hold : holds_) {
    // The kernel has been spinning since it reached the head of its stream; nothing of this region has been simulated
    // yet, so how long it holds can still be set. An idle stream reaches it at once.
    const double held = std::max(0.0, host_.now() - std::max(hold->submitted, events_.now()));
    timed_out_ = timed_out_ || hold->done() || held > timeout_;
    if (!hold->done()) hold->overhead = std::min(held, timeout_);
  }
  holds_.clear();
}

}  // namespace xferbench::sim
