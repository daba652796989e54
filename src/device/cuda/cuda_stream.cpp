#include "device/cuda/cuda_stream.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/cuda_memory.hpp"
#include "device/cuda/stamp.hpp"
#include "device/traced_copy.hpp"

// cudaMemcpyBatchAsync came with CUDA 12.8.
#define XFERBENCH_BATCH_COPIES (CUDART_VERSION >= 12080)

namespace xferbench::cuda {

namespace {

cudaMemcpyKind kind_of(Direction direction) {
  switch (direction) {
    case Direction::h2d: return cudaMemcpyHostToDevice;
    case Direction::d2h: return cudaMemcpyDeviceToHost;
    case Direction::d2d: return cudaMemcpyDeviceToDevice;
  }
  return cudaMemcpyDefault;
}

const char* name_of(Direction direction) {
  switch (direction) {
    case Direction::h2d: return "H2D";
    case Direction::d2h: return "D2H";
    case Direction::d2d: return "D2D";
  }
  return "";
}

/// The text is made only when there is something to say.
void check_copy(cudaError_t status, const char* function, const Copy& copy) {
  if (status == cudaSuccess) return;
  check(status, fmt::format("{} ({}, {})", function, name_of(copy.direction), format_size(copy.bytes)).c_str());
}

/// Around a copy, for a trace by events.
EventTrace::Span span_of(const CudaTracer& tracer, cudaStream_t stream, Direction direction, std::uint64_t bytes) {
  return {tracer.events(), stream, traced_row(direction), traced_name(direction), bytes};
}

}  // namespace

// --- Events and graphs ----------------------------------------------------------------------------------------------

CudaEvent::CudaEvent(Device& device, EventKind kind) : EventImpl(device) {
  unsigned flags = kind == EventKind::timing ? cudaEventDefault : cudaEventDisableTiming;
  if (kind == EventKind::blocking) flags |= cudaEventBlockingSync;
  check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
}

CudaEvent::~CudaEvent() { static_cast<void>(cudaEventDestroy(event_)); }

void CudaEvent::synchronize() { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }

bool CudaEvent::finished() {
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) return false;
  check(status, "cudaEventQuery");
  return true;
}

double CudaEvent::seconds_since(const EventImpl& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, static_cast<const CudaEvent&>(earlier).event_, event_),
        "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

CudaGraph::CudaGraph(Device& device, cudaGraph_t captured) : GraphImpl(device) {
  const cudaError_t status = cudaGraphInstantiate(&executable_, captured, 0);
  static_cast<void>(cudaGraphDestroy(captured));
  check(status, "cudaGraphInstantiate");
}

CudaGraph::~CudaGraph() { static_cast<void>(cudaGraphExecDestroy(executable_)); }

// --- Streams --------------------------------------------------------------------------------------------------------

CudaStream::CudaStream(CudaDevice& device, CudaTracer& tracer, StreamKind kind)
    : StreamImpl(device), tracer_(tracer), gpu_(device.index()) {
  if (kind == StreamKind::legacy_default) return;
  const unsigned flags = kind == StreamKind::nonblocking ? cudaStreamNonBlocking : cudaStreamDefault;
  check(cudaStreamCreateWithFlags(&stream_, flags), "cudaStreamCreateWithFlags");
}

CudaStream::~CudaStream() {
  if (stream_ != cudaStreamLegacy) static_cast<void>(cudaStreamDestroy(stream_));
}

void CudaStream::copy(const Copy& c) {
  const EventTrace::Span span = span_of(tracer_, stream_, c.direction, c.bytes);
  check_copy(cudaMemcpyAsync(c.destination, c.source, c.bytes, kind_of(c.direction), stream_), "cudaMemcpyAsync", c);
}

void copy_blocking(const Copy& c, const CudaTracer& tracer) {
  const EventTrace::Span span = span_of(tracer, cudaStreamLegacy, c.direction, c.bytes);
  check_copy(cudaMemcpy(c.destination, c.source, c.bytes, kind_of(c.direction)), "cudaMemcpy", c);
}

/// The driver must know batches too: with an older one the call is there and fails.
bool knows_batch_copies() {
  int driver = 0;
  return XFERBENCH_BATCH_COPIES != 0 && cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12080;
}

#if XFERBENCH_BATCH_COPIES

void CudaStream::copy_batch(std::span<const Copy> copies) {
  if (copies.empty()) return;
  std::uint64_t bytes = 0;
  for (const Copy& c : copies) bytes += c.bytes;
  const EventTrace::Span span = span_of(tracer_, stream_, copies.front().direction, bytes);
  std::vector<void*> destinations;
  std::vector<const void*> sources;
  std::vector<std::size_t> sizes;
  for (const Copy& c : copies) {
    destinations.push_back(c.destination);
    sources.push_back(c.source);
    sizes.push_back(c.bytes);
  }
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;  // these attributes hold from the first copy on
#if CUDART_VERSION >= 13000
  const cudaError_t status = cudaMemcpyBatchAsync(destinations.data(), sources.data(), sizes.data(), copies.size(),
                                                  &attributes, &first, 1, stream_);
#else
  std::vector<void*> writable_sources;
  for (const void* source : sources) writable_sources.push_back(const_cast<void*>(source));  // NOLINT: CUDA 12's type
  std::size_t failed = 0;
  const cudaError_t status = cudaMemcpyBatchAsync(destinations.data(), writable_sources.data(), sizes.data(),
                                                  copies.size(), &attributes, &first, 1, &failed, stream_);
#endif
  check(status, "cudaMemcpyBatchAsync");
}

#else

void CudaStream::copy_batch(std::span<const Copy>) {
  throw DeviceError("cudaMemcpyBatchAsync", "this build's CUDA Toolkit is older than 12.8 and does not have it");
}

#endif

void CudaStream::fill(const DeviceView& range, std::byte value) {
  const EventTrace::Span span(tracer_.events(), stream_, Activity::Row::internal, "fill", range.bytes);
  check(cudaMemsetAsync(range.data, std::to_integer<int>(value), range.bytes, stream_), "cudaMemsetAsync");
}

void CudaStream::launch(const Kernel& kernel) {
  const EventTrace::Span span(tracer_.events(), stream_, Activity::Row::kernel, kernel.name());
  kernel.launch(stream_);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
    throw DeviceError(fmt::format("launching kernel {}", kernel.name()), describe(status));
  }
}

void CudaStream::prefetch(const HostView& managed, Direction direction) {
#if CUDART_VERSION >= 13000
  cudaMemLocation place{};
  place.type = direction == Direction::h2d ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
  place.id = direction == Direction::h2d ? gpu_ : 0;
  check(cudaMemPrefetchAsync(managed.data, managed.bytes, place, 0, stream_), "cudaMemPrefetchAsync");
#else
  const int to = direction == Direction::h2d ? gpu_ : cudaCpuDeviceId;
  check(cudaMemPrefetchAsync(managed.data, managed.bytes, to, stream_), "cudaMemPrefetchAsync");
#endif
}

void CudaStream::stamp(std::uint64_t* slot) {
  kernels::launch_stamp(slot, stream_);
  check(cudaGetLastError(), "launching the stamp kernel");
}

void CudaStream::call_host(CallbackApi api, const std::function<void()>& function) {
  auto* user = const_cast<std::function<void()>*>(&function);  // NOLINT: called, never changed; CUDA takes a void*
  if (api == CallbackApi::launch_host_func) {
    const auto call = [](void* f) { (*static_cast<const std::function<void()>*>(f))(); };
    check(cudaLaunchHostFunc(stream_, call, user), "cudaLaunchHostFunc");
  } else {
    const auto call = [](cudaStream_t, cudaError_t, void* f) { (*static_cast<const std::function<void()>*>(f))(); };
    check(cudaStreamAddCallback(stream_, call, user, 0), "cudaStreamAddCallback");
  }
}

void CudaStream::record(EventImpl& event) {
  check(cudaEventRecord(static_cast<const CudaEvent&>(event).native(), stream_), "cudaEventRecord");
}

void CudaStream::wait(EventImpl& event) {
  check(cudaStreamWaitEvent(stream_, static_cast<const CudaEvent&>(event).native(), 0), "cudaStreamWaitEvent");
}

void CudaStream::replay(GraphImpl& graph) {
  if (EventTrace* const events = tracer_.events()) events->missed_graph();
  check(cudaGraphLaunch(static_cast<const CudaGraph&>(graph).native(), stream_), "cudaGraphLaunch");
}

Graph CudaStream::capture(const std::function<void()>& submit) {
  // Thread-local: other threads may go on calling what a capture forbids.
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  cudaGraph_t captured = nullptr;
  try {
    submit();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(stream_, &captured));
    static_cast<void>(cudaGraphDestroy(captured));
    throw;
  }
  check(cudaStreamEndCapture(stream_, &captured), "cudaStreamEndCapture");
  return owned<GraphView>(std::make_unique<CudaGraph>(device(), captured));
}

DeviceBuffer CudaStream::allocate(std::size_t bytes) { return allocate_pooled(bytes, stream_); }

void CudaStream::synchronize() { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

}  // namespace xferbench::cuda
