#include "device/cuda/cuda_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/gate.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/pcie.hpp"
#include "device/cuda/stamp.hpp"
#include "device/host.hpp"
#include "device/open.hpp"
#include "device/traced_copy.hpp"

// cudaMemcpyBatchAsync came with CUDA 12.8.
#define XFERBENCH_BATCH_COPIES (CUDART_VERSION >= 12080)

namespace xferbench::cuda {

namespace {

/// The driver must know batches too: with an older one the call is there and fails.
bool batch_copies() {
  int driver = 0;
  return XFERBENCH_BATCH_COPIES != 0 && cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12080;
}

cudaStream_t native(StreamHandle stream) { return static_cast<cudaStream_t>(stream.native); }
cudaEvent_t native(EventHandle event) { return static_cast<cudaEvent_t>(event.native); }

/// What a GateHandle points to.
struct GateState {
  kernels::GateFlags* flags = nullptr;  // pinned and mapped; with unified addressing one pointer serves both sides
  std::uint32_t ticket = 0;
  std::uint64_t timeout_ns = 0;
};
GateState& state(GateHandle gate) { return *static_cast<GateState*>(gate.native); }

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

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, index), "cudaDeviceGetAttribute");
  return value;
}

std::string format_uuid(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string format_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string pci_bus_id(int index) {
  char text[32] = {};
  check(cudaDeviceGetPCIBusId(text, sizeof(text), index), "cudaDeviceGetPCIBusId");
  return text;
}

std::optional<int> numa_node(std::string bus_id) {
  for (char& c : bus_id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  int node = -1;
  std::ifstream("/sys/bus/pci/devices/" + bus_id + "/numa_node") >> node;
  return node < 0 ? std::nullopt : std::optional(node);
}

Environment::Gpu describe_gpu(int index, const Nvml& nvml) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  Environment::Gpu gpu;
  gpu.name = properties.name;
  gpu.index = index;
  gpu.uuid = format_uuid(properties.uuid);
  gpu.pci_bus_id = pci_bus_id(index);
  gpu.compute_capability = fmt::format("{}.{}", properties.major, properties.minor);
  gpu.multiprocessors = static_cast<unsigned>(properties.multiProcessorCount);
  gpu.memory_bytes = properties.totalGlobalMem;
  gpu.l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize);
  gpu.copy_engines = static_cast<unsigned>(properties.asyncEngineCount);
  gpu.max_sm_clock_hz = 1e3 * attribute(cudaDevAttrClockRate, index);
  // Two transfers per clock on double-data-rate memory.
  gpu.memory_bandwidth =
      2e3 * attribute(cudaDevAttrMemoryClockRate, index) * attribute(cudaDevAttrGlobalMemoryBusWidth, index) / 8;
  gpu.ecc = properties.ECCEnabled != 0;
  gpu.pcie = pcie_link(nvml, gpu.pci_bus_id);
  return gpu;
}

Multiprocessor describe_multiprocessor(int index) {
  const auto number = [index](cudaDeviceAttr which) { return static_cast<unsigned>(attribute(which, index)); };
  return {
      .compute_capability = 10 * number(cudaDevAttrComputeCapabilityMajor) + number(cudaDevAttrComputeCapabilityMinor),
      .shared_per_block = number(cudaDevAttrMaxSharedMemoryPerBlockOptin),
      .shared_in_all = number(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
      .shared_reserved = number(cudaDevAttrReservedSharedMemoryPerBlock),
      .threads = number(cudaDevAttrMaxThreadsPerMultiProcessor)};
}

std::string describe_driver(const Nvml& nvml) {
  int version = 0;
  check(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  const std::string release = nvml.driver();
  const std::string cuda = "CUDA " + format_version(version);
  return release.empty() ? cuda : fmt::format("{} ({})", release, cuda);
}

constexpr const char* kSimulateHint = "without a GPU, try: xferbench --simulate h200";

/// Throws NoDeviceError unless GPU `index` exists.
void require_gpu(int index) {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess || count == 0) {
    int driver = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    const std::string reason = driver == 0             ? "no NVIDIA driver is installed on this machine"
                               : status == cudaSuccess ? "no CUDA-capable device is detected"
                                                       : describe(status);
    throw NoDeviceError(fmt::format("no usable GPU: {}; {}", reason, kSimulateHint));
  }
  if (index >= count) {
    throw NoDeviceError(
        fmt::format("there is no GPU {}: this machine has {}, numbered from 0; choose another --gpu", index, count));
  }
}

/// With blocking launches the kernel that holds a stream would keep the host from ever opening the gate.
void refuse_blocking_launches() {
  const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (value == nullptr || std::string_view(value) == "0" || *value == '\0') return;
  throw UsageError(
      "CUDA_LAUNCH_BLOCKING is set: every launch would wait for its kernel, and nothing could overlap; unset it");
}

}  // namespace

CudaDevice::CudaDevice(int index, const NumaPolicy& numa, TraceBy trace_by) : index_(index), trace_by_(trace_by) {
  refuse_blocking_launches();
  require_node(numa);
  require_gpu(index);
  // Before there is a context: the driver allocates the buffers that pageable copies go through with it.
  const std::optional<int> gpu_node = numa_node(pci_bus_id(index));
  const std::string numa_note = place_process(numa, gpu_node);
  if (const cudaError_t status = cudaSetDevice(index); status != cudaSuccess) {
    throw NoDeviceError(
        fmt::format("GPU {} cannot be used: {}; is another process holding it exclusively?", index, describe(status)));
  }
  check(cudaFree(nullptr), "creating the GPU's context");
  const Nvml nvml;
  capabilities_.managed_memory = attribute(cudaDevAttrConcurrentManagedAccess, index) != 0;
  capabilities_.pageable_access = attribute(cudaDevAttrPageableMemoryAccess, index) != 0;
  capabilities_.memory_pools = attribute(cudaDevAttrMemoryPoolsSupported, index) != 0;
  capabilities_.batch_copies = batch_copies();
  capabilities_.multiprocessor = describe_multiprocessor(index);
  capabilities_.environment.backend = "cuda";
  capabilities_.environment.gpu = describe_gpu(index, nvml);
  capabilities_.environment.driver = describe_driver(nvml);
  int runtime = 0;
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  capabilities_.environment.runtime = format_version(runtime);
  Environment::Host& host = capabilities_.environment.host = describe_host();
  host.gpu_numa_node = gpu_node;
  host.numa_policy = to_text(numa.kind);
  host.numa_note = numa_note;
  kernels::preload_gate();
  kernels::preload_stamp();
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
    throw NoDeviceError(
        fmt::format("GPU {} (compute capability {}) cannot run this build's kernels: {}; build for it with "
                    "the preset this-gpu",
                    index, capabilities_.environment.gpu.compute_capability, describe(status)));
  }
}

MemoryInfo CudaDevice::memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return {free, total};
}

void CudaDevice::copy(const Copy& c, StreamHandle stream) {
  const EventTrace::Span span(event_trace_.get(), native(stream), traced_row(c.direction), traced_name(c.direction),
                              c.bytes);
  check_copy(cudaMemcpyAsync(c.destination, c.source, c.bytes, kind_of(c.direction), native(stream)), "cudaMemcpyAsync",
             c);
}

void CudaDevice::copy_batch(std::span<const Copy> copies, StreamHandle stream) {
#if XFERBENCH_BATCH_COPIES
  if (copies.empty()) return;
  std::uint64_t bytes = 0;
  for (const Copy& c : copies) bytes += c.bytes;
  const Direction direction = copies.front().direction;
  const EventTrace::Span span(event_trace_.get(), native(stream), traced_row(direction), traced_name(direction), bytes);
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
                                                  &attributes, &first, 1, native(stream));
#else
  std::vector<void*> writable_sources;
  for (const void* source : sources) writable_sources.push_back(const_cast<void*>(source));  // NOLINT: CUDA 12's type
  std::size_t failed = 0;
  const cudaError_t status = cudaMemcpyBatchAsync(destinations.data(), writable_sources.data(), sizes.data(),
                                                  copies.size(), &attributes, &first, 1, &failed, native(stream));
#endif
  check(status, "cudaMemcpyBatchAsync");
#else
  static_cast<void>(copies);
  static_cast<void>(stream);
  throw DeviceError("cudaMemcpyBatchAsync", "this build's CUDA Toolkit is older than 12.8 and does not have it");
#endif
}

void CudaDevice::copy_blocking(const Copy& c) {
  const EventTrace::Span span(event_trace_.get(), cudaStreamLegacy, traced_row(c.direction), traced_name(c.direction),
                              c.bytes);
  check_copy(cudaMemcpy(c.destination, c.source, c.bytes, kind_of(c.direction)), "cudaMemcpy", c);
}

void CudaDevice::fill(const DeviceView& range, std::byte value, StreamHandle stream) {
  const EventTrace::Span span(event_trace_.get(), native(stream), Activity::Row::internal, "fill", range.bytes);
  check(cudaMemsetAsync(range.data, std::to_integer<int>(value), range.bytes, native(stream)), "cudaMemsetAsync");
}

void CudaDevice::launch(const Kernel& kernel, StreamHandle stream) {
  const EventTrace::Span span(event_trace_.get(), native(stream), Activity::Row::kernel, kernel.name());
  kernel.launch(stream.native);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
    throw DeviceError(fmt::format("launching kernel {}", kernel.name()), describe(status));
  }
}

void CudaDevice::record(EventHandle event, StreamHandle stream) {
  check(cudaEventRecord(native(event), native(stream)), "cudaEventRecord");
}

void CudaDevice::wait(StreamHandle stream, EventHandle event) {
  check(cudaStreamWaitEvent(native(stream), native(event), 0), "cudaStreamWaitEvent");
}

void CudaDevice::replay(GraphHandle graph, StreamHandle stream) {
  if (event_trace_) event_trace_->missed_graph();
  check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph.native), native(stream)), "cudaGraphLaunch");
}

void CudaDevice::prefetch(const HostRange& managed, Direction direction, StreamHandle stream) {
  const int to = direction == Direction::h2d ? index_ : cudaCpuDeviceId;
#if CUDART_VERSION >= 13000
  cudaMemLocation place{};
  place.type = direction == Direction::h2d ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
  place.id = direction == Direction::h2d ? to : 0;
  check(cudaMemPrefetchAsync(managed.data, managed.bytes, place, 0, native(stream)), "cudaMemPrefetchAsync");
#else
  check(cudaMemPrefetchAsync(managed.data, managed.bytes, to, native(stream)), "cudaMemPrefetchAsync");
#endif
}

void CudaDevice::call_host(CallbackApi api, const std::function<void()>& function, StreamHandle stream) {
  auto* user = const_cast<std::function<void()>*>(&function);  // NOLINT: called, never changed; CUDA takes a void*
  if (api == CallbackApi::launch_host_func) {
    const auto call = [](void* f) { (*static_cast<const std::function<void()>*>(f))(); };
    check(cudaLaunchHostFunc(native(stream), call, user), "cudaLaunchHostFunc");
  } else {
    const auto call = [](cudaStream_t, cudaError_t, void* f) { (*static_cast<const std::function<void()>*>(f))(); };
    check(cudaStreamAddCallback(native(stream), call, user, 0), "cudaStreamAddCallback");
  }
}

void CudaDevice::synchronize(StreamHandle stream) {
  check(cudaStreamSynchronize(native(stream)), "cudaStreamSynchronize");
}

void CudaDevice::synchronize(EventHandle event) { check(cudaEventSynchronize(native(event)), "cudaEventSynchronize"); }

void CudaDevice::synchronize() { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

bool CudaDevice::finished(EventHandle event) {
  const cudaError_t status = cudaEventQuery(native(event));
  if (status == cudaErrorNotReady) return false;
  check(status, "cudaEventQuery");
  return true;
}

void CudaDevice::set_wait_policy(WaitPolicy policy) {
  unsigned flags = cudaDeviceScheduleAuto;
  if (policy == WaitPolicy::spin) flags = cudaDeviceScheduleSpin;
  if (policy == WaitPolicy::yield) flags = cudaDeviceScheduleYield;
  if (policy == WaitPolicy::blocking) flags = cudaDeviceScheduleBlockingSync;
  check(cudaSetDeviceFlags(flags), "cudaSetDeviceFlags");
}

double CudaDevice::elapsed(EventHandle from, EventHandle to) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, native(from), native(to)), "cudaEventElapsedTime");
  return milliseconds * 1e-3;
}

double CudaDevice::host_now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double CudaDevice::host_cpu_now() const {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

void CudaDevice::close(GateHandle gate, StreamHandle stream) {
  GateState& g = state(gate);
  g.flags->timed_out = 0;
  kernels::launch_gate(g.flags, ++g.ticket, g.timeout_ns, stream.native);
  check(cudaGetLastError(), "launching the gate kernel");
}

void CudaDevice::open(GateHandle gate) noexcept {
  GateState& g = state(gate);
  std::atomic_ref(g.flags->opened).store(g.ticket, std::memory_order_release);
}

bool CudaDevice::timed_out(GateHandle gate) const {
  return std::atomic_ref(state(gate).flags->timed_out).load(std::memory_order_acquire) != 0;
}

void CudaDevice::preload(const Kernel& kernel) {
  kernel.preload();
  check(cudaGetLastError(), "loading a kernel");
}

std::size_t CudaDevice::reserve_device_launches(std::size_t pending) {
  check(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, pending),
        fmt::format("cudaDeviceSetLimit (room for {} pending launches from the device)", pending).c_str());
  return reserved_device_launches();
}

std::size_t CudaDevice::reserved_device_launches() const {
  std::size_t room = 0;
  check(cudaDeviceGetLimit(&room, cudaLimitDevRuntimePendingLaunchCount), "cudaDeviceGetLimit");
  return room;
}

std::optional<KernelResources> CudaDevice::resources(const Kernel& kernel) {
  const auto resources = kernel.resources();
  check(cudaGetLastError(), "asking for a kernel's resources");
  return resources;
}

std::optional<double> CudaDevice::sm_clock_hz() {
  constexpr std::uint64_t kDurationNs = 100'000;
  const HostBuffer buffer = allocate_host(2 * sizeof(std::uint64_t), HostMemory::pinned);
  auto* sample = reinterpret_cast<std::uint64_t*>(buffer->data);
  const Stream stream = make_stream(StreamKind::nonblocking);
  kernels::launch_clock_probe(sample, kDurationNs, stream->native);
  check(cudaGetLastError(), "launching the clock probe");
  check(cudaStreamSynchronize(native(stream.get())), "cudaStreamSynchronize");
  if (sample[1] == 0) return std::nullopt;
  return static_cast<double>(sample[0]) / static_cast<double>(sample[1]) * 1e9;
}

std::unique_ptr<HostThread> CudaDevice::start_thread(std::function<void()> body) {
  return start_real_thread([index = index_] { check(cudaSetDevice(index), "cudaSetDevice"); }, std::move(body));
}

bool CudaDevice::usable() noexcept {
  static_cast<void>(cudaGetLastError());
  return cudaDeviceSynchronize() == cudaSuccess;
}

void CudaDevice::start_trace() {
  synchronize();
  if (trace_by_ == TraceBy::cupti_or_events) {
    if (!cupti_) cupti_ = std::make_unique<CuptiTrace>();
    if (cupti_->start()) return;
  }
  event_trace_ = std::make_unique<EventTrace>();
}

Trace CudaDevice::stop_trace() {
  // Whatever went wrong, nobody watches any more.
  const std::unique_ptr<EventTrace> events = std::move(event_trace_);
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

StreamHandle CudaDevice::acquire_stream(StreamKind kind) {
  if (kind == StreamKind::legacy_default) return {cudaStreamLegacy};
  const unsigned flags = kind == StreamKind::nonblocking ? cudaStreamNonBlocking : cudaStreamDefault;
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, flags), "cudaStreamCreateWithFlags");
  return {stream};
}

EventHandle CudaDevice::acquire_event(EventKind kind) {
  cudaEvent_t event = nullptr;
  unsigned flags = kind == EventKind::timing ? cudaEventDefault : cudaEventDisableTiming;
  if (kind == EventKind::blocking) flags |= cudaEventBlockingSync;
  check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
  return {event};
}

GateHandle CudaDevice::acquire_gate(double timeout) {
  auto gate = std::make_unique<GateState>();
  void* flags = nullptr;
  check(cudaHostAlloc(&flags, sizeof(kernels::GateFlags), cudaHostAllocMapped), "cudaHostAlloc (gate)");
  gate->flags = new (flags) kernels::GateFlags();
  gate->timeout_ns = static_cast<std::uint64_t>(timeout * 1e9);
  return {gate.release()};
}

GraphHandle CudaDevice::acquire_graph(StreamHandle stream, const std::function<void()>& submit) {
  // Thread-local: other threads may go on calling what a capture forbids.
  check(cudaStreamBeginCapture(native(stream), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  cudaGraph_t captured = nullptr;
  try {
    submit();
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(native(stream), &captured));
    static_cast<void>(cudaGraphDestroy(captured));
    throw;
  }
  check(cudaStreamEndCapture(native(stream), &captured), "cudaStreamEndCapture");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, captured, 0);
  static_cast<void>(cudaGraphDestroy(captured));
  check(status, "cudaGraphInstantiate");
  return {executable};
}

// Releasing reports nothing: the only errors left here are those of a context that is already lost, which the case that
// lost it has reported.

void CudaDevice::release(const StreamHandle& stream) noexcept {
  if (native(stream) != cudaStreamLegacy) static_cast<void>(cudaStreamDestroy(native(stream)));
}

void CudaDevice::release(const EventHandle& event) noexcept { static_cast<void>(cudaEventDestroy(native(event))); }

void CudaDevice::release(const GateHandle& gate) noexcept {
  open(gate);
  const std::unique_ptr<GateState> owned(&state(gate));
  static_cast<void>(cudaFreeHost(owned->flags));
}

void CudaDevice::release(const GraphHandle& graph) noexcept {
  static_cast<void>(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph.native)));
}

}  // namespace xferbench::cuda

namespace xferbench {

std::unique_ptr<Device> open_gpu(int index, const NumaPolicy& numa) {
  return std::make_unique<cuda::CudaDevice>(index, numa);
}

}  // namespace xferbench
