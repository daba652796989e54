#include "device/cuda/cupti_trace.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "device/tracer.hpp"
#include "recording/cupti_paths.hpp"
#include "recording/kernel_name.hpp"

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

namespace xferbench::cuda {

// --- Call names -----------------------------------------------------------------------------------------------------

std::string call_name(std::string_view callback) {
  constexpr std::array<std::string_view, 8> kEnqueuing{"cudaMemcpy",          "cudaMemset",           "cudaLaunch",
                                                       "cudaEventRecord",     "cudaGraphLaunch",      "cudaMemPrefetch",
                                                       "cudaStreamWaitEvent", "cudaStreamAddCallback"};
  const auto enqueues = [callback](std::string_view beginning) { return callback.starts_with(beginning); };
  if (std::ranges::none_of(kEnqueuing, enqueues)) return {};
  return std::string(callback.substr(0, callback.find("_v")));
}

// --- Records --------------------------------------------------------------------------------------------------------

#if __has_include(<cupti.h>)

namespace {

constexpr std::array kKinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME};

/// Whether a kernel belongs to the measurement itself (gate, clock probe, stamp, clock exchange).
bool measures(const std::string& kernel) {
  constexpr std::array<std::string_view, 4> kOurs{"hold", "probe_clock", "stamp", "answer"};
  return std::ranges::find(kOurs, kernel) != kOurs.end();
}

/// One CUPTI record. Times are nanoseconds of CUPTI's clock, which GPUs and host share; a double would lose precision.
struct Record {
  Activity activity;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t correlation = 0;       // links a runtime call to the operation it enqueued
  std::optional<std::uint32_t> gpu{};  // CUDA device index; nothing for host calls
};

// The record types below are the oldest that have all fields used here (CUDA 12.4). Newer ones only append fields.

Direction direction_of(std::uint8_t copy_kind) {
  switch (copy_kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return Direction::h2d;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return Direction::d2h;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return Direction::p2p;
    default: return Direction::d2d;
  }
}

Record record_of(const CUpti_ActivityMemcpy5& m) {
  const auto [name, row] = traced(direction_of(m.copyKind));
  return {{row, std::string(name), m.bytes, m.streamId}, m.start, m.end, m.correlationId, m.deviceId};
}

Record record_of(const CUpti_ActivityMemcpyPtoP4& m) {
  const auto [name, row] = traced(Direction::p2p);
  return {{row, std::string(name), m.bytes, m.streamId}, m.start, m.end, m.correlationId, m.deviceId};
}

Record record_of(const CUpti_ActivityKernel9& k) {
  return {{Activity::Row::kernel, kernel_name(k.name), 0, k.streamId}, k.start, k.end, k.correlationId, k.deviceId};
}

Record record_of(const CUpti_ActivityMemset4& m) {
  return {{Activity::Row::internal, "fill", m.bytes, m.streamId}, m.start, m.end, m.correlationId, m.deviceId};
}

/// CUPTI's functions. The library is never unloaded, because it runs threads and has patched the driver.
struct Cupti {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) count_dropped = nullptr;
  decltype(&cuptiGetCallbackName) callback_name = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;

  /// Loads all functions. Returns false if one is missing.
  bool find_all(void* handle) {
    const auto find = [handle](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      return function != nullptr;
    };
    return find(register_callbacks, "cuptiActivityRegisterCallbacks") && find(enable, "cuptiActivityEnable") &&
           find(disable, "cuptiActivityDisable") && find(flush_all, "cuptiActivityFlushAll") &&
           find(next_record, "cuptiActivityGetNextRecord") &&
           find(count_dropped, "cuptiActivityGetNumDroppedRecords") && find(callback_name, "cuptiGetCallbackName") &&
           find(result_string, "cuptiGetResultString");
  }

  [[nodiscard]] std::string text(CUptiResult result) const {
    const char* text = nullptr;
    return result_string(result, &text) == CUPTI_SUCCESS && text != nullptr ? text : "an unknown error";
  }
};

/// Collects records from CUPTI's worker thread. A singleton, because the callbacks carry no context pointer. It is
/// never destroyed, because that thread may outlive static destruction.
class Inbox {
 public:
  static Inbox& instance() {
    static auto* const inbox = new Inbox;  // NOLINT(cppcoreguidelines-owning-memory): never destroyed
    return *inbox;
  }

  Cupti cupti;

  void add(std::uint8_t* buffer, std::size_t valid) {
    const std::lock_guard lock(mutex_);
    CUpti_Activity* record = nullptr;
    while (valid > 0 && cupti.next_record(buffer, valid, &record) == CUPTI_SUCCESS) add(*record);
  }

  void count_lost(CUcontext context, std::uint32_t stream) {
    std::size_t lost = 0;
    if (cupti.count_dropped(context, stream, &lost) != CUPTI_SUCCESS) return;
    const std::lock_guard lock(mutex_);
    dropped_ += lost;
  }

  std::pair<std::vector<Record>, std::size_t> take() {
    const std::lock_guard lock(mutex_);
    return {std::exchange(records_, {}), std::exchange(dropped_, 0)};
  }

 private:
  void add(const CUpti_Activity& record) {
    const void* r = &record;
    switch (record.kind) {
      case CUPTI_ACTIVITY_KIND_MEMCPY: return add(record_of(*static_cast<const CUpti_ActivityMemcpy5*>(r)));
      case CUPTI_ACTIVITY_KIND_MEMCPY2: return add(record_of(*static_cast<const CUpti_ActivityMemcpyPtoP4*>(r)));
      case CUPTI_ACTIVITY_KIND_MEMSET: return add(record_of(*static_cast<const CUpti_ActivityMemset4*>(r)));
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return add(record_of(*static_cast<const CUpti_ActivityKernel9*>(r)));
      case CUPTI_ACTIVITY_KIND_RUNTIME: return add_call(*static_cast<const CUpti_ActivityAPI*>(r));
      default: return;
    }
  }
  void add(Record record) { records_.push_back(std::move(record)); }

  void add_call(const CUpti_ActivityAPI& call) {
    const char* name = nullptr;
    if (cupti.callback_name(CUPTI_CB_DOMAIN_RUNTIME_API, call.cbid, &name) != CUPTI_SUCCESS || name == nullptr) return;
    std::string plain = call_name(name);
    if (plain.empty()) return;
    add({{Activity::Row::host, std::move(plain), 0, 0}, call.start, call.end, call.correlationId});
  }

  std::mutex mutex_;
  std::vector<Record> records_;
  std::size_t dropped_ = 0;
};

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  constexpr std::size_t kSize = 4 << 20;
  constexpr std::size_t kAlignment = 8;  // alignment that CUPTI requires
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kSize));
  *size = *buffer == nullptr ? 0 : kSize;
  *most_records = 0;  // 0: as many as fit
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  const std::unique_ptr<std::uint8_t, void (*)(void*)> owned(buffer, &std::free);
  try {
    Inbox::instance().add(buffer, valid);
    Inbox::instance().count_lost(context, stream);
  } catch (const std::bad_alloc&) {  // exceptions must not enter CUPTI's C code; these records are lost
  }
}

/// Removes operations of the measurement itself, and converts times to seconds since the first record.
std::vector<Activity> activities_of(std::vector<Record> records, std::span<const OpenedGpu> gpus) {
  std::set<std::uint32_t> ours;
  for (const Record& r : records) {
    if (r.activity.row == Activity::Row::kernel && measures(r.activity.name)) ours.insert(r.correlation);
  }
  // CUPTI reports unknown times as 0.
  std::erase_if(records,
                [&ours](const Record& r) { return ours.contains(r.correlation) || r.begin == 0 || r.end < r.begin; });
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const Record& r : records) first = std::min(first, r.begin);
  std::vector<Activity> activities;
  for (Record& r : records) {
    r.activity.begin = 1e-9 * static_cast<double>(r.begin - first);
    r.activity.end = 1e-9 * static_cast<double>(r.end - first);
    const auto same = [&r](const OpenedGpu& gpu) { return r.gpu == static_cast<std::uint32_t>(gpu.number()); };
    if (const auto found = std::ranges::find_if(gpus, same); found != gpus.end()) r.activity.gpu = found->place();
    activities.push_back(std::move(r.activity));
  }
  return activities;
}

/// Opens the libcupti of this build's CUDA major version, because other versions may lay out records differently.
void* open_library(std::string& refusal) {
  refusal = "libcupti was not found; it comes with the CUDA Toolkit (add its folder to LD_LIBRARY_PATH)";
  for (const std::string& place : cupti_paths()) {
    void* const handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) continue;
    const auto get_version = reinterpret_cast<decltype(&cuptiGetVersion)>(dlsym(handle, "cuptiGetVersion"));
    std::uint32_t version = 0;
    if (get_version != nullptr && get_version(&version) == CUPTI_SUCCESS &&
        cuda_major_of(version) == cuda_major_of(CUPTI_API_VERSION)) {
      refusal.clear();
      return handle;
    }
    refusal = fmt::format("the libcupti found is from CUDA {}, but this build needs CUDA {}", cuda_major_of(version),
                          cuda_major_of(CUPTI_API_VERSION));
    dlclose(handle);
  }
  return nullptr;
}

}  // namespace

CuptiTrace::CuptiTrace() {
  void* const handle = open_library(refusal_);
  if (handle == nullptr) return;
  Cupti& cupti = Inbox::instance().cupti;
  if (!cupti.find_all(handle)) {
    refusal_ = "the libcupti found lacks required functions";
    return;
  }
  const CUptiResult status = cupti.register_callbacks(&give_buffer, &take_buffer);
  if (status != CUPTI_SUCCESS) refusal_ = "CUPTI: " + cupti.text(status);
}

CuptiTrace::~CuptiTrace() {
  if (recording_) disable();
}

bool CuptiTrace::start() {
  if (!refusal_.empty()) return false;
  static_cast<void>(Inbox::instance().take());
  recording_ = true;
  const Cupti& cupti = Inbox::instance().cupti;
  for (const CUpti_ActivityKind kind : kKinds) {
    if (const CUptiResult status = cupti.enable(kind); status != CUPTI_SUCCESS) {
      refusal_ = "CUPTI: " + cupti.text(status);
      disable();
      return false;
    }
  }
  return true;
}

void CuptiTrace::disable() noexcept {
  for (const CUpti_ActivityKind kind : kKinds) static_cast<void>(Inbox::instance().cupti.disable(kind));
  recording_ = false;
}

CuptiTrace::Records CuptiTrace::stop(std::span<const OpenedGpu> gpus) {
  if (!recording_) return {};
  constexpr std::uint32_t kEvenIncomplete = CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
  static_cast<void>(Inbox::instance().cupti.flush_all(kEvenIncomplete));
  disable();
  auto [records, dropped] = Inbox::instance().take();
  return {activities_of(std::move(records), gpus), dropped};
}

#else

CuptiTrace::CuptiTrace() : refusal_("this build has no CUPTI: its CUDA Toolkit lacked the CUPTI headers") {}
CuptiTrace::~CuptiTrace() = default;
bool CuptiTrace::start() { return false; }
CuptiTrace::Records CuptiTrace::stop(std::span<const OpenedGpu>) { return {}; }
void CuptiTrace::disable() noexcept {}

#endif

}  // namespace xferbench::cuda
