#include "measure/tracing.hpp"

#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/non_copyable.hpp"

namespace xferbench {

namespace {

/// Scope guard of a trace: stops it if a pass throws, because an active trace would slow later work.
class Watch : NonCopyable {
 public:
  explicit Watch(Tracer& tracer) : tracer_(tracer) { tracer_.start(); }
  ~Watch() {
    if (!watching_) return;
    try {
      static_cast<void>(tracer_.stop());
    } catch (const DeviceError&) {  // the original error is the one to report
    }
  }

  Trace stop() {
    watching_ = false;
    return tracer_.stop();
  }

 private:
  Tracer& tracer_;
  bool watching_ = true;
};

/// Records a trace of one timed pass. Returns nothing if the gate timed out.
std::optional<Trace> traced_pass(Tracer& tracer, RegionTimer& timer) {
  Watch watch(tracer);
  const auto timing = timer.time();
  Trace trace = watch.stop();
  if (!timing) return std::nullopt;
  if (timer.region().clock != Clock::host) trace.event_makespan = timing->elapsed;
  return trace;
}

}  // namespace

Trace trace_pass(Machine& machine, const Region& region) {
  const OnExit timed = timed_passes(machine);
  // A tracer may add two events per operation, which also count against the limit of operations behind a gate.
  Region watched = region;
  watched.operations *= 3;
  RegionTimer timer(machine, std::move(watched));
  {
    // No gate here: a tracer that allocates buffers may wait for the GPU, which would wait for the gate.
    Watch watch(machine.tracer());
    timer.run_ungated();
    static_cast<void>(watch.stop());
  }
  return retry_gate_timeouts("tracing " + region.name, [&] { return traced_pass(machine.tracer(), timer); });
}

}  // namespace xferbench
