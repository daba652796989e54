#include "device/cuda/event_trace.hpp"

#include <chrono>
#include <map>

#include "device/cuda/check.hpp"

namespace xferbench::cuda {

namespace {

double host_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

cudaEvent_t recorded_event(cudaStream_t stream) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "cudaEventCreate");
  if (const cudaError_t status = cudaEventRecord(event, stream); status != cudaSuccess) {
    static_cast<void>(cudaEventDestroy(event));
    check(status, "cudaEventRecord");
  }
  return event;
}

bool is_captured(cudaStream_t stream) {
  // Asking this of the legacy stream is an error while another stream of the thread is being captured.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return true;
  }
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

EventTrace::EventTrace() : base_(recorded_event(cudaStreamLegacy)) {
  // The event completes between these two lines, some microseconds apart; the host's calls are placed no better.
  const double recorded = host_now();
  check(cudaEventSynchronize(base_), "cudaEventSynchronize");
  base_on_host_ = (recorded + host_now()) / 2;
}

EventTrace::~EventTrace() {
  for (const Operation& o : operations_) {
    static_cast<void>(cudaEventDestroy(o.before));
    if (o.behind != nullptr) static_cast<void>(cudaEventDestroy(o.behind));
  }
  static_cast<void>(cudaEventDestroy(base_));
}

EventTrace::Span::Span(EventTrace* trace, cudaStream_t stream, Activity::Row row, std::string_view name,
                       std::uint64_t bytes)
    : trace_(trace), stream_(stream) {
  if (trace_ == nullptr) return;
  if (is_captured(stream)) {
    trace_ = nullptr;
    return;
  }
  const cudaEvent_t before = recorded_event(stream);
  const std::lock_guard lock(trace_->mutex_);
  index_ = trace_->operations_.size();
  trace_->operations_.push_back({row, std::string(name), bytes, stream, before, nullptr, host_now(), 0});
}

// Reports nothing: without the event behind it, an operation that failed is not part of the timeline.
EventTrace::Span::~Span() {
  if (trace_ == nullptr) return;
  const double returned = host_now();
  cudaEvent_t behind = nullptr;
  if (cudaEventCreate(&behind) != cudaSuccess) return;
  const bool recorded = cudaEventRecord(behind, stream_) == cudaSuccess;
  if (!recorded) static_cast<void>(cudaEventDestroy(behind));
  const std::lock_guard lock(trace_->mutex_);
  trace_->operations_[index_].behind = recorded ? behind : nullptr;
  trace_->operations_[index_].returned = returned;
}

void EventTrace::missed_graph() {
  const std::lock_guard lock(mutex_);
  lacks_graphs_ = true;
}

std::string EventTrace::note() const {
  return lacks_graphs_ ? "events cannot see into graphs: what they replayed is missing" : "";
}

double EventTrace::since_base(cudaEvent_t event) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, base_, event), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

std::vector<Activity> EventTrace::resolve() {
  const std::lock_guard lock(mutex_);
  std::map<cudaStream_t, unsigned> streams;
  std::vector<Activity> activities;
  for (const Operation& o : operations_) {
    if (o.behind == nullptr) continue;
    const unsigned number = streams.try_emplace(o.stream, static_cast<unsigned>(streams.size())).first->second;
    activities.push_back({o.row, o.name, o.bytes, number, since_base(o.before), since_base(o.behind)});
    activities.push_back({Activity::Row::host, o.name, 0, 0, o.called - base_on_host_, o.returned - base_on_host_});
  }
  return activities;
}

}  // namespace xferbench::cuda
