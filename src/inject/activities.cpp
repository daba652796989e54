#include "inject/activities.hpp"

#include <array>
#include <cstdlib>
#include <memory>

#include "inject/convert.hpp"
#include "inject/stacks.hpp"
#include "recording/signal_guard.hpp"

namespace xferbench::inject {

namespace {

/// CUPTI activity kinds to record. KERNEL is not used because it would serialize kernels, and GRAPH_TRACE is not used
/// because it would hide graph nodes.
constexpr std::array kKinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                            CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMCPY2,
                            CUPTI_ACTIVITY_KIND_MEMSET,
                            CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                            CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                            CUPTI_ACTIVITY_KIND_STREAM,
                            CUPTI_ACTIVITY_KIND_CONTEXT,
                            CUPTI_ACTIVITY_KIND_DEVICE};

std::atomic<Activities*>& the_activities() {
  static std::atomic<Activities*> activities = nullptr;
  return activities;
}

// --- CUPTI callbacks ------------------------------------------------------------------------------------------------

std::uint64_t CUPTIAPI clock() { return now(); }

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  constexpr std::size_t kSize = 1 << 20;
  constexpr std::size_t kAlignment = 8;  // alignment in bytes that CUPTI requires
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kSize));
  *size = *buffer == nullptr ? 0 : kSize;
  *most_records = 0;  // 0: only the size of the buffer limits the number of records
}

/// CUPTI callback that receives a full buffer, on a thread of CUPTI or of the program.
void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  const SignalGuard guard;
  const std::unique_ptr<std::uint8_t, void (*)(void*)> owned(buffer, &std::free);
  Activities* const activities = Activities::instance();
  if (activities == nullptr || valid == 0) return;
  try {
    activities->take(context, stream, buffer, valid);
  } catch (const std::exception&) {  // out of memory: the rest of the buffer is lost
    if (Recorder* const recorder = Recorder::instance()) recorder->count_lost(1);
  }
}

/// Handles the enabled callbacks: new contexts, device resets, copies, and all recorded calls if stacks are requested.
/// Small copies are handled first and without a guard, because its system calls took longer than the copy call itself
/// (H100, 16 KiB: 2.7 of 6.9 us; the runtime and the driver each cause two callbacks per call).
void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  const Activities* const known = the_activities().load();
  if (known != nullptr && known->may_ignore(domain, id, data)) return;
  Activities* const activities = Activities::instance();
  if (activities == nullptr) return;
  const SignalGuard guard;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    return activities->watch_managed_memory(static_cast<const CUpti_ResourceData*>(data)->context);
  }
  activities->see_call(domain, id, *static_cast<const CUpti_CallbackData*>(data));
}

/// Whether a copy may read memory of the host, as far as its name or its kind says.
bool may_read_host(CUpti_CallbackDomain domain, std::string_view name, const void* arguments) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return name.find("DtoH") == name.npos;
  const std::int32_t kind = static_cast<const RuntimeCopyArguments*>(arguments)->kind;
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDefault;
}

}  // namespace

// --- Enabling and disabling -----------------------------------------------------------------------------------------

Activities* Activities::instance() { return Recorder::instance() == nullptr ? nullptr : the_activities().load(); }

Activities* Activities::start(Recorder& recorder) {
  std::string refusal;
  const std::optional<CuptiApi> api = load_cupti(recorder.request().cupti, refusal);
  if (api) {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): never destroyed, like the recorder
    auto* const activities = new Activities(recorder, *api);
    the_activities() = activities;
    refusal = activities->turn_on();
    if (refusal.empty()) return activities;
    the_activities() = nullptr;
  }
  recorder.note("No CUDA activity could be recorded: " + refusal, true);
  return nullptr;
}

std::string Activities::failure(CUptiResult result) const {
  const std::string said = "CUPTI says " + api_.text(result);
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return said +
             ": the driver allows profiling to administrators only. Run as root (in a container with --cap-add "
             "SYS_ADMIN), or have the module nvidia loaded with NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return said + ": profiling is off for this virtual GPU; its administrator enables it by enable_profiling=1";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return said + ": this kind of GPU cannot be profiled here; run the program on another one";
    default: return said + "; is the driver older than the CUDA Toolkit that provides CUPTI?";
  }
}

std::string Activities::turn_on() {
  CUpti_SubscriberHandle subscriber = nullptr;
  CUptiResult result = api_.subscribe(&subscriber, &on_call, nullptr);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return "another tool in this program uses CUPTI (a profiler, compute-sanitizer); run it without that tool";
  }
  if (result != CUPTI_SUCCESS) return failure(result);
  if (api_.set_thread_ids != nullptr) api_.set_thread_ids(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  // Register the clock before enabling anything, so that all times come from this clock.
  result = api_.register_clock(&clock);
  if (result == CUPTI_SUCCESS) result = api_.register_callbacks(&give_buffer, &take_buffer);
  if (result == CUPTI_SUCCESS) result = enable_kinds();
  if (result != CUPTI_SUCCESS) {
    disable();
    api_.unsubscribe(subscriber);  // allows the program to use CUPTI itself
    return failure(result);
  }
  choose_calls(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_ACTIVITY_KIND_RUNTIME, api_.enable_runtime_call);
  choose_calls(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_ACTIVITY_KIND_DRIVER, api_.enable_driver_call);
  choose_callbacks(subscriber);
  return {};
}

/// Enables all activity kinds. Ignores a failure for events, which are not essential.
CUptiResult Activities::enable_kinds() {
  for (const CUpti_ActivityKind kind : kKinds) {
    const CUptiResult result = api_.enable(kind);
    if (result != CUPTI_SUCCESS && kind != CUPTI_ACTIVITY_KIND_CUDA_EVENT) return result;
  }
  return CUPTI_SUCCESS;
}

bool Activities::is_sampled(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  if (!has_copy_arguments(names_.call(domain, id))) return false;
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return true;
  switch (id) {  // excludes versions for 32-bit addresses, which have other arguments
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync:
    case CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync: return false;
    default: return true;
  }
}

bool Activities::may_ignore(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) const {
  const bool resets = domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020;
  if (domain == CUPTI_CB_DOMAIN_RESOURCE || resets || recorder_.request().stacks) return false;
  // All other callbacks are of calls with these arguments (choose_callbacks).
  const void* const arguments = static_cast<const CUpti_CallbackData*>(data)->functionParams;
  return arguments == nullptr || static_cast<const CopyArguments*>(arguments)->bytes < kLeastSampled;
}

void Activities::see_call(CUpti_CallbackDomain domain, CUpti_CallbackId id, const CUpti_CallbackData& call) {
  const bool begins = call.callbackSite == CUPTI_API_ENTER;
  const bool resets = domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020;
  if (resets) return begins ? flush(true) : void();
  if (begins && recorder_.request().stacks) remember_stack(call.correlationId);
  if (!is_sampled(domain, id) || call.functionParams == nullptr) return;
  if (!begins) return sampler_.end(call.correlationId);
  const auto& arguments = *static_cast<const CopyArguments*>(call.functionParams);
  sampler_.begin(call.correlationId, arguments, may_read_host(domain, names_.call(domain, id), call.functionParams));
}

void Activities::choose_callbacks(CUpti_SubscriberHandle subscriber) {
  api_.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020);
  api_.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  const bool stacks = recorder_.request().stacks;
  if (stacks) prepare_stacks();
  for (const CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    names_.for_each_call(domain, [&](CUpti_CallbackId id) {
      if (stacks || is_sampled(domain, id)) api_.enable_callback(1, subscriber, domain, id);
    });
  }
}

/// Enables records of relevant CUDA calls only; programs such as PyTorch call cudaGetDevice() very often.
void Activities::choose_calls(CUpti_CallbackDomain domain, CUpti_ActivityKind all,
                              CUptiResult (*enable_call)(CUpti_CallbackId, std::uint8_t)) {
  if (enable_call == nullptr) {
    api_.enable(all);
    return;
  }
  names_.for_each_call(domain, [enable_call](CUpti_CallbackId id) { enable_call(id, 1); });
}

void Activities::watch_managed_memory(CUcontext context) {
  std::uint32_t device = 0;
  constexpr std::uint32_t kMostDevices = 64;
  if (api_.configure_managed == nullptr || api_.device_of == nullptr) return;
  if (api_.device_of(context, &device) != CUPTI_SUCCESS || device >= kMostDevices) return;
  const std::uint64_t bit = std::uint64_t{1} << device;
  if ((managed_tried_.fetch_or(bit) & bit) != 0) return;  // handle each device only once
  // GPU page faults are not counted: no finding uses them.
  std::array<CUpti_ActivityUnifiedMemoryCounterConfig, 2> configs{};
  constexpr std::array kCounters{CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
                                 CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH};
  for (std::size_t i = 0; i < configs.size(); ++i) {
    configs[i] = {.scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
                  .kind = kCounters[i],
                  .deviceId = device,
                  .enable = 1};
  }
  if (api_.configure_managed(configs.data(), configs.size()) != CUPTI_SUCCESS) return;
  api_.enable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

void Activities::disable() {
  for (const CUpti_ActivityKind kind : kKinds) api_.disable(kind);
  for (const CUpti_ActivityKind kind :
       {CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER}) {
    api_.disable(kind);
  }
}

// --- Records --------------------------------------------------------------------------------------------------------

void Activities::take(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t valid) {
  const Conversion conversion{api_, names_, recorder_};
  CUpti_Activity* record = nullptr;
  while (recorder_.is_live() && api_.next_record(buffer, valid, &record) == CUPTI_SUCCESS) {
    convert(*record, conversion);
  }
  std::size_t dropped = 0;
  if (api_.count_dropped(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0) recorder_.count_lost(dropped);
  recorder_.flush();
}

void Activities::flush(bool forced) {
  api_.flush_all(forced ? static_cast<std::uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) : 0);
}

}  // namespace xferbench::inject
