#include "device/cuda/cuda_tracer.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "device/cuda/check.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace xferbench::cuda {

// --- NVTX ranges ----------------------------------------------------------------------------------------------------

// NVTX is header-only: without a profiler in the process, its calls return at once and load no library. Builds without
// its headers record no ranges.
#if __has_include(<nvtx3/nvToolsExt.h>)

CudaTracer::CudaTracer(std::vector<OpenedGpu> gpus, TraceSource by)
    : gpus_(std::move(gpus)), by_(by), domain_(nvtxDomainCreateA("xferbench")) {}

CudaTracer::~CudaTracer() { nvtxDomainDestroy(static_cast<nvtxDomainHandle_t>(domain_)); }

void CudaTracer::begin_range(const char* name) {
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  static_cast<void>(nvtxDomainRangePushEx(static_cast<nvtxDomainHandle_t>(domain_), &attributes));
}

void CudaTracer::end_range() { static_cast<void>(nvtxDomainRangePop(static_cast<nvtxDomainHandle_t>(domain_))); }

#else

CudaTracer::CudaTracer(std::vector<OpenedGpu> gpus, TraceSource by) : gpus_(std::move(gpus)), by_(by) {}
CudaTracer::~CudaTracer() = default;
void CudaTracer::begin_range(const char*) {}
void CudaTracer::end_range() {}

#endif

// --- Timelines ------------------------------------------------------------------------------------------------------

namespace {

cudaError_t synchronize(const OpenedGpu& gpu) {
  return gpu.try_make_current() ? cudaDeviceSynchronize() : cudaErrorDevicesUnavailable;
}

}  // namespace

void CudaTracer::start() {
  // A lost GPU is skipped, so that the other GPUs can still be traced.
  watched_.clear();
  cudaError_t status = cudaSuccess;
  for (const OpenedGpu& gpu : gpus_) {
    const cudaError_t its_status = synchronize(gpu);
    if (its_status == cudaSuccess) watched_.push_back(gpu);
    if (status == cudaSuccess) status = its_status;
    static_cast<void>(cudaGetLastError());
  }
  if (watched_.empty()) check(status, "cudaDeviceSynchronize");
  if (by_ == TraceSource::cupti_or_events) {
    if (!cupti_) cupti_ = std::make_unique<CuptiTrace>();
    if (cupti_->start()) return;
  }
  events_ = std::make_unique<EventTrace>(watched_);
}

Trace CudaTracer::stop() {
  // The pointer is moved out first, so that the trace is off even if an error is thrown below.
  const std::unique_ptr<EventTrace> events = std::move(events_);
  cudaError_t status = cudaSuccess;
  for (const OpenedGpu& gpu : watched_) {
    const cudaError_t its_status = synchronize(gpu);
    if (status == cudaSuccess) status = its_status;
  }
  auto [activities, dropped] = cupti_ ? cupti_->stop(gpus_) : CuptiTrace::Records{};
  check(status, "cudaDeviceSynchronize");
  if (events) {
    Trace trace = make_trace("events", without_overlaps(events->resolve()));
    trace.note = events->note();
    if (trace.note.empty() && cupti_) trace.note = "times are estimated from events: " + cupti_->refusal();
    return trace;
  }
  const auto called = [](const Activity& a) { return a.row == Activity::Row::host; };
  if (cupti_ && std::ranges::all_of(activities, called)) {
    cupti_->refuse("CUPTI reported no GPU activity");  // makes the next trace use events
  }
  Trace trace = make_trace("cupti", std::move(activities));
  if (dropped > 0) trace.note = fmt::format("CUPTI lost {} records", dropped);
  return trace;
}

}  // namespace xferbench::cuda
