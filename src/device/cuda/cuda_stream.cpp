#include "device/cuda/cuda_stream.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <numeric>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/cuda_tracer.hpp"
#include "device/cuda/timing_kernels.hpp"

// cudaMemcpyBatchAsync exists since CUDA 12.8.
#define XFERBENCH_BATCH_COPIES (CUDART_VERSION >= 12080)

namespace xferbench::cuda {

namespace {

/// Returns the kind of a cudaMemcpyAsync call. Copies between GPUs also use that function: with unified addressing, the
/// addresses identify both GPUs. The copy is direct if peer access is enabled and staged through the host otherwise
/// (CUDA C++ Programming Guide, Peer-to-Peer Memory Copy). cudaMemcpyPeerAsync does the same but needs device indices,
/// which a Copy does not carry.
cudaMemcpyKind kind_of(Direction direction) {
  switch (direction) {
    case Direction::h2d: return cudaMemcpyHostToDevice;
    case Direction::d2h: return cudaMemcpyDeviceToHost;
    case Direction::d2d:
    case Direction::p2p: return cudaMemcpyDeviceToDevice;
  }
  return cudaMemcpyDefault;
}

constexpr std::array<const char*, 4> kDirectionNames{"H2D", "D2H", "D2D", "P2P"};  // indexed by Direction

/// Like check(), but formats the message only on an error.
void check_copy(cudaError_t status, const char* function, const Copy& copy) {
  if (status == cudaSuccess) return;
  check(status, fmt::format("{} ({}, {})", function, kDirectionNames[static_cast<std::size_t>(copy.direction)],
                            format_size(copy.bytes))
                    .c_str());
}

/// Returns a scope that encloses a copy in two events for an event-based trace.
EventTrace::Span span_of(const CudaTracer& tracer, const OpenedGpu& gpu, cudaStream_t stream, Direction direction,
                         std::uint64_t bytes) {
  const auto [name, row] = traced(direction);
  return {tracer.events(), gpu, stream, row, name, bytes};
}

// --- Events and graphs ----------------------------------------------------------------------------------------------

class CudaEvent final : public EventImpl {
 public:
  CudaEvent(Device& device, const OpenedGpu& gpu, EventKind kind) : EventImpl(device), gpu_(gpu) {
    gpu_.make_current();
    unsigned flags = kind == EventKind::timing ? cudaEventDefault : cudaEventDisableTiming;
    if (kind == EventKind::blocking) flags |= cudaEventBlockingSync;
    check(cudaEventCreateWithFlags(&event_, flags), "cudaEventCreateWithFlags");
  }
  ~CudaEvent() override {
    gpu_.try_make_current();
    static_cast<void>(cudaEventDestroy(event_));
  }

  [[nodiscard]] static cudaEvent_t native(const EventImpl& event) {
    return static_cast<const CudaEvent&>(event).event_;
  }

  void synchronize() override { check(cudaEventSynchronize(event_), "cudaEventSynchronize"); }

  [[nodiscard]] bool finished() override {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) return false;
    check(status, "cudaEventQuery");
    return true;
  }

  [[nodiscard]] double seconds_since(const EventImpl& earlier) const override {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, native(earlier), event_), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  OpenedGpu gpu_;
  cudaEvent_t event_ = nullptr;
};

class CudaGraph final : public GraphImpl {
 public:
  /// Instantiates the captured graph and destroys `captured`. The graph's GPU must be current.
  CudaGraph(Device& device, cudaGraph_t captured) : GraphImpl(device) {
    const cudaError_t status = cudaGraphInstantiate(&executable_, captured, 0);
    static_cast<void>(cudaGraphDestroy(captured));
    check(status, "cudaGraphInstantiate");
  }
  ~CudaGraph() override { static_cast<void>(cudaGraphExecDestroy(executable_)); }

  [[nodiscard]] cudaGraphExec_t native() const { return executable_; }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

// --- Streams --------------------------------------------------------------------------------------------------------

class CudaStream final : public StreamImpl {
 public:
  CudaStream(Device& device, const CudaTracer& tracer, const OpenedGpu& gpu, StreamKind kind)
      : StreamImpl(device), tracer_(tracer), gpu_(gpu) {
    if (kind == StreamKind::legacy_default) return;
    gpu_.make_current();
    const unsigned flags = kind == StreamKind::nonblocking ? cudaStreamNonBlocking : cudaStreamDefault;
    check(cudaStreamCreateWithFlags(&stream_, flags), "cudaStreamCreateWithFlags");
  }
  ~CudaStream() override {
    if (stream_ == cudaStreamLegacy) return;
    gpu_.try_make_current();
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  [[nodiscard]] cudaStream_t native() const { return stream_; }
  [[nodiscard]] const OpenedGpu& gpu() const { return gpu_; }

  void copy(const Copy& c) override {
    make_reachable();
    const EventTrace::Span span = span_of(tracer_, gpu_, stream_, c.direction, c.bytes);
    check_copy(cudaMemcpyAsync(c.destination, c.source, c.bytes, kind_of(c.direction), stream_), "cudaMemcpyAsync", c);
  }

  void copy_batch(const CopyBatch& batch) override;

  void copy_strided(const StridedCopy& c) override {
    gpu_.make_current();
    const Copy& first = c.first;
    const EventTrace::Span span = span_of(tracer_, gpu_, stream_, first.direction, first.bytes * c.rows);
    check_copy(cudaMemcpy2DAsync(first.destination, c.destination_pitch, first.source, c.source_pitch, first.bytes,
                                 c.rows, kind_of(first.direction), stream_),
               "cudaMemcpy2DAsync", first);
  }

  void fill(const DeviceView& range, std::byte value) override {
    gpu_.make_current();
    const EventTrace::Span span(tracer_.events(), gpu_, stream_, Activity::Row::internal, "fill", range.bytes);
    check(cudaMemsetAsync(range.data, std::to_integer<int>(value), range.bytes, stream_), "cudaMemsetAsync");
  }

  void launch(const Kernel& kernel) override {
    gpu_.make_current();
    const EventTrace::Span span(tracer_.events(), gpu_, stream_, Activity::Row::kernel, kernel.name());
    kernel.launch(stream_);
    if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
      throw DeviceError(fmt::format("launching kernel {}", kernel.name()), describe(status));
    }
  }

  void prefetch(const HostView& managed, Direction direction) override {
    gpu_.make_current();
#if CUDART_VERSION >= 13000
    cudaMemLocation place{};
    place.type = direction == Direction::h2d ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    place.id = direction == Direction::h2d ? gpu_.number() : 0;
    check(cudaMemPrefetchAsync(managed.data, managed.bytes, place, 0, stream_), "cudaMemPrefetchAsync");
#else
    const int to = direction == Direction::h2d ? gpu_.number() : cudaCpuDeviceId;
    check(cudaMemPrefetchAsync(managed.data, managed.bytes, to, stream_), "cudaMemPrefetchAsync");
#endif
  }

  void stamp(std::uint64_t* slot) override {
    gpu_.make_current();
    kernels::launch_stamp(slot, stream_);
    check(cudaGetLastError(), "launching the stamp kernel");
  }

  void flip(std::byte* at) override {
    gpu_.make_current();
    kernels::launch_flip(at, stream_);
    check(cudaGetLastError(), "launching the kernel that flips a bit");
  }

  void call_host(CallbackApi api, HostFunction& function) override {
    make_reachable();
    const bool plain = api == CallbackApi::launch_host_func;
    void* const kept = function.call()->keep();
    const cudaError_t status =
        plain ? cudaLaunchHostFunc(stream_, call_function, kept) : cudaStreamAddCallback(stream_, call_back, kept, 0);
    if (status == cudaSuccess) return;
    static_cast<void>(HostCall::release(kept));  // the callback will never run
    check(status, plain ? "cudaLaunchHostFunc" : "cudaStreamAddCallback");
  }

  void record(EventImpl& event) override {
    make_reachable();
    check(cudaEventRecord(CudaEvent::native(event), stream_), "cudaEventRecord");
  }

  void wait(EventImpl& event) override {
    make_reachable();
    check(cudaStreamWaitEvent(stream_, CudaEvent::native(event), 0), "cudaStreamWaitEvent");
  }

  void replay(GraphImpl& graph) override {
    gpu_.make_current();
    if (EventTrace* const events = tracer_.events()) events->missed_graph();
    check(cudaGraphLaunch(static_cast<const CudaGraph&>(graph).native(), stream_), "cudaGraphLaunch");
  }

  [[nodiscard]] Graph capture(const std::function<void()>& submit) override {
    gpu_.make_current();
    // In thread-local mode, other threads may make calls that are illegal during a capture.
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t captured = nullptr;
    try {
      submit();
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream_, &captured));
      static_cast<void>(cudaGraphDestroy(captured));
      throw;
    }
    gpu_.make_current();  // submit() may have made another GPU current
    check(cudaStreamEndCapture(stream_, &captured), "cudaStreamEndCapture");
    return owned<GraphView>(std::make_unique<CudaGraph>(device(), captured));
  }

  void synchronize() override {
    make_reachable();
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  /// Makes the GPU current if this is the legacy stream, whose handle means the legacy stream of the current GPU. CUDA
  /// calls for other streams work whichever GPU is current.
  void make_reachable() const {
    if (stream_ == cudaStreamLegacy) gpu_.make_current();
  }

  static void CUDART_CB call_function(void* kept) { HostCall::release(kept)->run(); }
  /// CUDA calls this even if the stream failed. The callback must not call CUDA; cudaGetErrorName only reads a table.
  static void CUDART_CB call_back(cudaStream_t, cudaError_t status, void* kept) {
    const std::shared_ptr<HostCall> call = HostCall::release(kept);
    status == cudaSuccess ? call->run() : call->stream_failed(cudaGetErrorName(status));
  }

  const CudaTracer& tracer_;
  OpenedGpu gpu_;
  cudaStream_t stream_ = cudaStreamLegacy;
};

#if XFERBENCH_BATCH_COPIES

/// Submits the batch by cudaMemcpy3DBatchAsync. The list of operations is made in each call, which takes a small part
/// of the time that the driver needs for it.
cudaError_t copy_volumes(const CopyBatch& batch, const cudaMemcpyAttributes& attributes, cudaStream_t stream) {
  const auto operand = [](const std::byte* bytes) {
    cudaMemcpy3DOperand one{};
    one.type = cudaMemcpyOperandTypePointer;
    one.op.ptr.ptr = const_cast<std::byte*>(bytes);  // NOLINT: the call does not write sources
    return one;
  };
  std::vector<cudaMemcpy3DBatchOp> volumes;
  volumes.reserve(batch.copies.size());
  for (const Copy& copy : batch.copies) {
    volumes.push_back({operand(copy.source), operand(copy.destination), make_cudaExtent(copy.bytes, 1, 1),
                       attributes.srcAccessOrder, attributes.flags});
  }
#if CUDART_VERSION >= 13000
  return cudaMemcpy3DBatchAsync(volumes.size(), volumes.data(), 0, stream);
#else
  std::size_t failed = 0;
  return cudaMemcpy3DBatchAsync(volumes.size(), volumes.data(), &failed, 0, stream);
#endif
}

cudaMemcpyAttributes attributes_of(const CopyBatch& batch) {
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = batch.order == SourceOrder::any           ? cudaMemcpySrcAccessOrderAny
                              : batch.order == SourceOrder::during_call ? cudaMemcpySrcAccessOrderDuringApiCall
                                                                        : cudaMemcpySrcAccessOrderStream;
  if (batch.beside_kernels) attributes.flags = cudaMemcpyFlagPreferOverlapWithCompute;
  return attributes;
}

void CudaStream::copy_batch(const CopyBatch& batch) {
  if (batch.copies.empty()) return;
  const std::uint64_t bytes = std::accumulate(batch.sizes.begin(), batch.sizes.end(), std::uint64_t{0});
  gpu_.make_current();
  const EventTrace::Span span = span_of(tracer_, gpu_, stream_, batch.copies.front().direction, bytes);
  cudaMemcpyAttributes attributes = attributes_of(batch);
  if (batch.as_volumes) return check(copy_volumes(batch, attributes, stream_), batch.function());
  std::size_t first = 0;                                               // the attributes apply from the first copy on
  auto* destinations = const_cast<void**>(batch.destinations.data());  // NOLINT: the call does not write
  auto* sizes = const_cast<std::size_t*>(batch.sizes.data());          // NOLINT: as above
#if CUDART_VERSION >= 13000
  auto* sources = const_cast<const void**>(batch.sources.data());  // NOLINT: as above
  const cudaError_t status =
      cudaMemcpyBatchAsync(destinations, sources, sizes, batch.copies.size(), &attributes, &first, 1, stream_);
#else
  auto* sources = const_cast<void**>(batch.sources.data());  // NOLINT: as above; CUDA 12 takes void**
  std::size_t failed = 0;
  const cudaError_t status =
      cudaMemcpyBatchAsync(destinations, sources, sizes, batch.copies.size(), &attributes, &first, 1, &failed, stream_);
#endif
  check(status, batch.function());
}

#else

void CudaStream::copy_batch(const CopyBatch&) {
  throw DeviceError("cudaMemcpyBatchAsync", "this build's CUDA Toolkit is older than 12.8, which introduced it");
}

#endif

// --- The gate -------------------------------------------------------------------------------------------------------

/// Allocates mapped, portable host memory, which all GPUs access by the same pointer (unified addressing). Uses the
/// first usable GPU, because a lost context must not prevent gates for the other GPUs.
void* allocate_for_gate(std::span<const OpenedGpu> gpus, std::size_t bytes) {
  cudaError_t status = cudaSuccess;
  for (const OpenedGpu& gpu : gpus) {
    void* memory = nullptr;
    if (!gpu.try_make_current()) continue;
    status = cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
    if (status == cudaSuccess) return memory;
    static_cast<void>(cudaGetLastError());
  }
  check(status, "cudaHostAlloc (gate)");
  throw DeviceError("making a gate", "no GPU can be used any more");
}

/// A gate in host memory. A waiting kernel in each held stream polls one word, which is common to all kernels, until
/// the host opens the gate. Each kernel reports its arrival in a word of its own.
class CudaGate final : public GateImpl {
 public:
  CudaGate(std::span<const OpenedGpu> gpus, double timeout)
      : flags_(new (allocate_for_gate(gpus, sizeof(kernels::GateFlags))) kernels::GateFlags()),
        timeout_ns_(static_cast<std::uint64_t>(timeout * 1e9)) {}
  ~CudaGate() override {
    CudaGate::open();
    static_cast<void>(cudaFreeHost(flags_));
  }

  void close(StreamImpl& held) override {
    if (open_) {
      flags_->timed_out = 0;
      ++ticket_;
      held_ = 0;
      open_ = false;
    }
    if (held_ == kernels::kMostHeld) {
      throw DeviceError("closing a gate", fmt::format("it already holds {} streams, its maximum", held_));
    }
    const auto& stream = static_cast<const CudaStream&>(held);
    stream.gpu().make_current();
    kernels::launch_gate(flags_, held_, ticket_, timeout_ns_, stream.native());
    check(cudaGetLastError(), "launching the gate kernel");
    ++held_;
  }

  [[nodiscard]] bool wait_until_held(double timeout) override {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begun = Clock::now();
    const auto patient = [&] { return std::chrono::duration<double>(Clock::now() - begun).count() < timeout; };
    for (unsigned slot = 0; slot < held_; ++slot) {
      const std::atomic_ref arrived(flags_->arrived[slot]);
      while (arrived.load(std::memory_order_acquire) != ticket_) {
        if (!patient()) return false;
      }
    }
    return true;
  }

  void open() noexcept override {
    std::atomic_ref(flags_->opened).store(ticket_, std::memory_order_release);
    open_ = true;
  }

  [[nodiscard]] bool timed_out() const override {
    return std::atomic_ref(flags_->timed_out).load(std::memory_order_acquire) != 0;
  }

 private:
  kernels::GateFlags* flags_;
  std::uint64_t timeout_ns_;
  std::uint32_t ticket_ = 0;  // ticket number of the latest closing of the gate
  unsigned held_ = 0;         // number of streams that close() has held under this ticket number
  bool open_ = true;
};

}  // namespace

Stream make_stream(Device& device, const CudaTracer& tracer, const OpenedGpu& gpu, StreamKind kind) {
  return owned<StreamView>(std::make_unique<CudaStream>(device, tracer, gpu, kind));
}

Event make_event(Device& device, const OpenedGpu& gpu, EventKind kind) {
  return owned<EventView>(std::make_unique<CudaEvent>(device, gpu, kind));
}

Gate make_gate(std::span<const OpenedGpu> gpus, double timeout) {
  return owned<GateView>(std::make_unique<CudaGate>(gpus, timeout));
}

cudaStream_t native(StreamView stream) { return static_cast<const CudaStream&>(stream.impl()).native(); }

void copy_blocking(const OpenedGpu& gpu, const Copy& c, const CudaTracer& tracer) {
  gpu.make_current();
  const EventTrace::Span span = span_of(tracer, gpu, cudaStreamLegacy, c.direction, c.bytes);
  check_copy(cudaMemcpy(c.destination, c.source, c.bytes, kind_of(c.direction)), "cudaMemcpy", c);
}

/// The build and the driver must be CUDA 12.8 or newer. With an older driver, cudaMemcpyBatchAsync exists but fails.
bool supports_batch_copies() {
  int driver = 0;
  return XFERBENCH_BATCH_COPIES != 0 && cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12080;
}

}  // namespace xferbench::cuda
