// A stand-in for CUPTI, for tests without a GPU. It is loaded in place of CUPTI; the program calls fake_cuda_steps(),
// and every step is a fixed set of calls, copies, kernels and waits, of which the enabled kinds are recorded.
//
// FAKE_CUPTI_VERSION  the version that it reports
// FAKE_CUPTI_BUSY     another tool has already subscribed
// FAKE_CUPTI_REFUSES  nothing can be enabled; the value is the error's number
// FAKE_CUPTI_RUNNING  the last kernel never ends
// FAKE_CUPTI_STUCK    a forced flush never returns
// FAKE_CUPTI_SOURCE   a file: copies read from its mapping
// FAKE_CUPTI_MIG      the GPU is a MIG instance
// FAKE_CUPTI_LOG      a file that gets a line per call: name of the function, process, numbers
#include <cupti.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace {

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::size_t valid = 0;
  std::deque<std::size_t> records;  // offsets of the records
  bool complete = true;
};

/// The mutex is recursive: CUPTI holds locks during callbacks, and callbacks call CUPTI.
struct State {
  std::recursive_mutex mutex;
  CUpti_CallbackFunc subscriber = nullptr;
  std::set<std::pair<int, unsigned>> callbacks;
  std::set<int> kinds;
  std::set<std::pair<int, unsigned>> calls;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc completed = nullptr;
  CUpti_TimestampCallbackFunc clock = nullptr;
  std::map<std::uint8_t*, Buffer> buffers;
  std::uint8_t* filling = nullptr;
  std::uint32_t correlation = 0;
  std::uint32_t thread_ids = 0;
  std::size_t dropped = 0;
  bool has_device = false;
};

State& state() {
  static auto* const one = new State;
  return *one;
}

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

void log(const char* function, unsigned first = 0, unsigned second = 0) {
  const char* const path = std::getenv("FAKE_CUPTI_LOG");
  if (path == nullptr) return;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return;
  const std::string line = std::string(function) + " " + std::to_string(getpid()) + " " + std::to_string(first) + " " +
                           std::to_string(second) + "\n";
  if (write(file, line.data(), line.size()) < 0) std::abort();
  close(file);
}

const std::map<unsigned, const char*>& runtime_names() {
  static const std::map<unsigned, const char*> names{
      {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, "cudaMemcpyAsync_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, "cudaMemsetAsync_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020, "cudaStreamSynchronize_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, "cudaEventRecord_v3020"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel_v7000"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, "cudaGraphLaunch_v10000"},
      {CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020, "cudaDeviceReset_v3020"},
  };
  return names;
}

// --- Records --------------------------------------------------------------------------------------------------------

template <class Record>
void append(const Record& record) {
  State& s = state();
  if (!s.kinds.contains(record.kind) || s.request == nullptr) return;
  const auto fits = [](const Buffer& b) { return b.size - b.valid >= sizeof(Record); };
  if (s.filling != nullptr && !fits(s.buffers[s.filling])) s.filling = nullptr;
  if (s.filling == nullptr) {
    Buffer buffer;
    std::size_t most = 0;
    s.request(&buffer.data, &buffer.size, &most);
    if (buffer.data == nullptr) {
      ++s.dropped;
      return;
    }
    s.filling = buffer.data;
    s.buffers[buffer.data] = buffer;
  }
  Buffer& buffer = s.buffers[s.filling];
  std::memcpy(buffer.data + buffer.valid, &record, sizeof record);
  buffer.records.push_back(buffer.valid);
  buffer.valid += (sizeof record + 7) / 8 * 8;
}

void deliver(bool forced) {
  State& s = state();
  std::map<std::uint8_t*, Buffer> ready;
  for (auto it = s.buffers.begin(); it != s.buffers.end();) {
    const auto next = std::next(it);
    if (forced || it->second.complete) ready.insert(s.buffers.extract(it));
    it = next;
  }
  if (!s.buffers.contains(s.filling)) s.filling = nullptr;
  for (auto& [data, buffer] : ready) {
    s.buffers[data] = buffer;  // for cuptiActivityGetNextRecord
    s.completed(nullptr, 0, data, buffer.size, buffer.valid);
    s.buffers.erase(data);
  }
}

std::uint64_t now() { return state().clock(); }

std::uint32_t this_thread() {
  return state().thread_ids == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? static_cast<std::uint32_t>(gettid()) : 0;
}

void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site, const void* arguments) {
  State& s = state();
  if (s.subscriber == nullptr || !s.callbacks.contains({domain, id})) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.correlationId = s.correlation;
  data.functionParams = arguments;
  s.subscriber(nullptr, domain, id, &data);
}

/// Records a call of the runtime, with callbacks around it. Returns its correlation id.
std::uint32_t call(
    CUpti_CallbackId id, const void* arguments = nullptr, const std::function<void()>& work = [] {}) {
  State& s = state();
  ++s.correlation;
  call_back(CUPTI_CB_DOMAIN_RUNTIME_API, id, CUPTI_API_ENTER, arguments);
  work();
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = id;
  record.start = now();
  record.end = record.start + 1000;
  record.threadId = this_thread();
  record.correlationId = s.correlation;
  if (s.calls.contains({CUPTI_CB_DOMAIN_RUNTIME_API, id})) append(record);
  call_back(CUPTI_CB_DOMAIN_RUNTIME_API, id, CUPTI_API_EXIT, arguments);
  return s.correlation;
}

template <class Record>
Record on_device(CUpti_ActivityKind kind, std::uint32_t correlation) {
  Record record{};
  record.kind = kind;
  record.start = now();
  record.end = record.start + 5000;
  record.contextId = 1;
  record.streamId = 13;
  record.correlationId = correlation;
  return record;
}

/// A context is just the number of its device, plus 1.
CUcontext context_of(std::uintptr_t device) { return reinterpret_cast<CUcontext>(device + 1); }

void create_context(std::uintptr_t device) {
  State& s = state();
  if (s.subscriber == nullptr ||
      !s.callbacks.contains({CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED})) {
    return;
  }
  CUpti_ResourceData created{};
  created.context = context_of(device);
  s.subscriber(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &created);
}

void begin_device() {
  State& s = state();
  if (s.has_device) return;
  s.has_device = true;
  create_context(0);
  CUpti_ActivityDevice5 device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.name = "Pretended GPU";
  device.numMultiprocessors = 132;
  for (int i = 0; i < 16; ++i) device.uuid.bytes[i] = static_cast<char>(i * 17);
  device.isMigEnabled = is_set("FAKE_CUPTI_MIG") ? 1 : 0;
  if (device.isMigEnabled != 0) device.migUuid.bytes[15] = 7;
  append(device);
  CUpti_ActivityContext3 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 1;
  context.nullStreamId = 7;
  append(context);
  CUpti_ActivityStream stream{};
  stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
  stream.contextId = 1;
  stream.streamId = 13;
  stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
  append(stream);
}

constexpr std::size_t kCopy = 4 << 20;

std::byte* mapped(int kind, int file) {
  void* const memory = mmap(nullptr, kCopy, PROT_READ, kind, file, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<std::byte*>(memory);
}

/// Memory that no one has touched, or the mapping of FAKE_CUPTI_SOURCE. Never unmapped.
std::byte* source_of_copy() {
  const char* const path = std::getenv("FAKE_CUPTI_SOURCE");
  if (path == nullptr) return mapped(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  static std::byte* const file = mapped(MAP_SHARED, open(path, O_RDONLY | O_CLOEXEC));
  return file;
}

/// Copies from memory that is first touched in the call, after a call within this one.
void copy() {
  const volatile std::byte* const source = source_of_copy();
  const std::array<std::uintptr_t, 4> arguments{0, reinterpret_cast<std::uintptr_t>(source), kCopy, 1};
  const auto touch = [source, &arguments] {
    for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
      call_back(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, site, arguments.data());
    }
    for (std::size_t at = 0; at < kCopy; at += 4096) static_cast<void>(source[at]);
  };
  auto copy = on_device<CUpti_ActivityMemcpy6>(
      CUPTI_ACTIVITY_KIND_MEMCPY, call(CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, arguments.data(), touch));
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  copy.bytes = kCopy;
  copy.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  copy.channelID = 3;
  append(copy);
}

void launch(CUpti_CallbackId id, std::uint64_t graph_node, bool timed) {
  auto kernel = on_device<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, call(id));
  kernel.name = "_Z4fillIfEvPT_m";
  kernel.gridX = 4;
  kernel.gridY = 3;
  kernel.gridZ = 2;
  kernel.blockX = 128;
  kernel.blockY = 2;
  kernel.blockZ = 1;
  kernel.graphNodeId = graph_node;
  if (!timed) kernel.start = kernel.end = 0;
  append(kernel);
}

void wait() {
  State& s = state();
  CUpti_ActivityCudaEvent2 event{};
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.correlationId = call(CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020);
  event.contextId = 1;
  event.streamId = 13;
  event.eventId = 5;
  event.cudaEventSyncId = event.correlationId;
  append(event);
  auto wait = CUpti_ActivitySynchronization2{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.correlationId = call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020);
  wait.start = now();
  wait.end = wait.start + 9000;
  wait.contextId = 1;
  wait.streamId = 13;
  wait.cudaEventSyncId = event.cudaEventSyncId;
  append(wait);
  if (is_set("FAKE_CUPTI_RUNNING") && s.buffers.contains(s.filling)) s.buffers[s.filling].complete = false;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

/// Creates a context on the device. Called by test programs.
void fake_cuda_context(unsigned device) { create_context(device); }

/// Runs so many steps. Called by test programs.
void fake_cuda_steps(unsigned steps) {
  State& s = state();
  for (unsigned i = 0; i < steps; ++i) {
    const std::lock_guard lock(s.mutex);
    if (s.clock == nullptr) return;
    begin_device();
    call(CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020);
    copy();
    launch(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 0, true);
    launch(CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, 77, true);
    launch(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 0, false);
    auto fill = on_device<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET,
                                                 call(CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020));
    fill.bytes = 512;
    append(fill);
    wait();
  }
}

/// Reports so many dropped records.
void fake_cuda_drop(unsigned records) { state().dropped += records; }
void fake_cuda_reset() {
  const std::lock_guard lock(state().mutex);
  call(CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020);
}

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  const char* const said = std::getenv("FAKE_CUPTI_VERSION");
  *version = said == nullptr ? CUPTI_API_VERSION : static_cast<std::uint32_t>(std::atoi(said));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "CUPTI_ERROR_PRETENDED";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (id == 0 || id >= (runtime ? unsigned{CUPTI_RUNTIME_TRACE_CBID_SIZE} : 1U)) return CUPTI_ERROR_INVALID_PARAMETER;
  const auto known = runtime_names().find(id);
  *name = known == runtime_names().end() ? "cudaGetSomething_v3020" : known->second;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc callback, void*) {
  log("cuptiSubscribe");
  if (is_set("FAKE_CUPTI_BUSY")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  state().subscriber = callback;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  log("cuptiUnsubscribe");
  state().subscriber = nullptr;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  log("cuptiEnableCallback", domain, id);
  state().callbacks.emplace(domain, id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  state().thread_ids = type;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  log("cuptiActivityRegisterTimestampCallback");
  state().clock = clock;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  log("cuptiActivityRegisterCallbacks");
  state().request = request;
  state().completed = completed;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  log("cuptiActivityEnable", kind);
  if (is_set("FAKE_CUPTI_REFUSES")) return static_cast<CUptiResult>(std::atoi(std::getenv("FAKE_CUPTI_REFUSES")));
  const std::lock_guard lock(state().mutex);
  state().kinds.insert(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  log("cuptiActivityDisable", kind);
  const std::lock_guard lock(state().mutex);
  state().kinds.erase(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, std::uint8_t enable) {
  const std::lock_guard lock(state().mutex);
  state().kinds.insert(CUPTI_ACTIVITY_KIND_RUNTIME);
  if (enable != 0) state().calls.emplace(CUPTI_CB_DOMAIN_RUNTIME_API, id);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig* config,
                                                       std::uint32_t count) {
  log("cuptiActivityConfigureUnifiedMemoryCounter", count, config->deviceId);
  return CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED;
}
CUptiResult cuptiGetDeviceId(CUcontext context, std::uint32_t* device) {
  *device = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context) - 1);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = std::exchange(state().dropped, 0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t, CUpti_Activity** record) {
  const std::lock_guard lock(state().mutex);
  Buffer& from = state().buffers[buffer];
  if (from.records.empty()) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + from.records.front());
  from.records.pop_front();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(std::uint32_t flags) {
  log("cuptiActivityFlushAll", flags);
  while (flags != 0 && is_set("FAKE_CUPTI_STUCK")) sleep(1);
  const std::lock_guard lock(state().mutex);
  deliver(flags != 0);
  return CUPTI_SUCCESS;
}
}
#pragma GCC visibility pop
