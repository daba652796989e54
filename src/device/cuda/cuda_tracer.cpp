#include "device/cuda/cuda_tracer.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/cuda/check.hpp"

namespace xferbench::cuda {

void CudaTracer::start() {
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  if (by_ == TraceBy::cupti_or_events) {
    if (!cupti_) cupti_ = std::make_unique<CuptiTrace>();
    if (cupti_->start()) return;
  }
  events_ = std::make_unique<EventTrace>();
}

Trace CudaTracer::stop() {
  // Whatever went wrong, nobody watches any more.
  const std::unique_ptr<EventTrace> events = std::move(events_);
  const cudaError_t status = cudaDeviceSynchronize();
  auto [activities, dropped] = cupti_ ? cupti_->stop() : CuptiTrace::Records{};
  check(status, "cudaDeviceSynchronize");
  if (events) {
    Trace trace = make_trace("events", without_overlaps(events->resolve()));
    trace.note = events->note();
    if (trace.note.empty() && cupti_) trace.note = "its times are estimated from events: " + cupti_->refusal();
    return trace;
  }
  const auto called = [](const Activity& a) { return a.row == Activity::Row::host; };
  if (cupti_ && std::ranges::all_of(activities, called)) {
    cupti_->refuse("CUPTI reported nothing of the GPU");  // so that the next trace goes by events
  }
  Trace trace = make_trace("cupti", std::move(activities));
  if (dropped > 0) trace.note = fmt::format("CUPTI lost {} records", dropped);
  return trace;
}

}  // namespace xferbench::cuda
