#include "device/cuda/event_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "core/units.hpp"
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
  // Querying the legacy stream fails while this thread captures another stream. A failure counts as a capture.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return true;
  }
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

EventTrace::Base EventTrace::record_base(const OpenedGpu& gpu) {
  gpu.make_current();
  Base base{gpu, recorded_event(cudaStreamLegacy)};
  // The event completes between these two clock readings, which are some microseconds apart. Host calls are placed on
  // the timeline with that precision.
  const double recorded = host_now();
  const cudaError_t status = cudaEventSynchronize(base.event);
  const double completed = host_now();
  if (status != cudaSuccess) {
    static_cast<void>(cudaEventDestroy(base.event));
    check(status, "cudaEventSynchronize");
  }
  base.on_host = (recorded + completed) / 2;
  base.uncertainty = (completed - recorded) / 2;
  return base;
}

EventTrace::EventTrace(std::span<const OpenedGpu> gpus) {
  for (const OpenedGpu& gpu : gpus) bases_.push_back(record_base(gpu));
}

EventTrace::~EventTrace() {
  for (const Operation& o : operations_) {
    static_cast<void>(cudaEventDestroy(o.before));
    if (o.behind != nullptr) static_cast<void>(cudaEventDestroy(o.behind));
  }
  for (const Base& base : bases_) static_cast<void>(cudaEventDestroy(base.event));
}

EventTrace::Span::Span(EventTrace* trace, const OpenedGpu& gpu, cudaStream_t stream, Activity::Row row,
                       std::string_view name, std::uint64_t bytes)
    : trace_(trace), stream_(stream) {
  if (trace_ != nullptr && trace_->base_of(gpu.place()) == nullptr) trace_ = nullptr;
  if (trace_ == nullptr) return;
  gpu.make_current();  // the constructor and the destructor create events on the current GPU
  if (is_captured(stream)) {
    trace_ = nullptr;
    return;
  }
  const cudaEvent_t before = recorded_event(stream);
  const std::lock_guard lock(trace_->mutex_);
  index_ = trace_->operations_.size();
  trace_->operations_.push_back({row, std::string(name), bytes, gpu.place(), stream, before, nullptr, host_now(), 0});
}

// Errors are ignored: an operation that failed has no end event and is missing in the timeline.
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
  std::string note = lacks_graphs_ ? "events cannot time the nodes of graphs: these are missing" : "";
  if (bases_.size() == 1) return note;
  const double worst = std::ranges::max(bases_, {}, &Base::uncertainty).uncertainty;
  return fmt::format("{}{}GPUs are aligned by the host's clock, to about {}", note, note.empty() ? "" : "; ",
                     format_seconds(2 * worst));
}

const EventTrace::Base* EventTrace::base_of(unsigned place) const {
  const auto found = std::ranges::find(bases_, place, [](const Base& base) { return base.gpu.place(); });
  return found == bases_.end() ? nullptr : &*found;
}

double EventTrace::on_host(const Base& base, cudaEvent_t event) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, base.event, event), "cudaEventElapsedTime");
  return base.on_host + milliseconds * 1e-3;
}

std::vector<Activity> EventTrace::resolve() {
  const std::lock_guard lock(mutex_);
  std::map<std::pair<unsigned, cudaStream_t>, unsigned> streams;
  std::vector<Activity> activities;
  const double origin = bases_.front().on_host;
  for (const Operation& o : operations_) {
    if (o.behind == nullptr) continue;
    const Base& base = *base_of(o.gpu);
    const std::pair stream(o.gpu, o.stream);
    const unsigned number = streams.try_emplace(stream, static_cast<unsigned>(streams.size())).first->second;
    const double begin = on_host(base, o.before) - origin;
    const double end = on_host(base, o.behind) - origin;
    activities.push_back({o.row, o.name, o.bytes, number, begin, end, o.gpu});
    activities.push_back({Activity::Row::host, o.name, 0, 0, o.called - origin, o.returned - origin});
  }
  return activities;
}

}  // namespace xferbench::cuda
