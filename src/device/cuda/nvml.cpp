#include "device/cuda/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <string_view>
#include <utility>

namespace xferbench::cuda {

namespace {

constexpr int kSuccess = 0;

/// nvmlEventData_t as nvmlEventSetWait_v2 fills it in.
struct EventData {
  Nvml::Handle device;
  unsigned long long type;
  unsigned long long data;
  unsigned gpu_instance;
  unsigned compute_instance;
};

}  // namespace

template <class Function>
Function* Nvml::find(const char* name) const {
  if (!library_ || (!ready_ && std::string_view(name) != "nvmlInit_v2")) return nullptr;
  return reinterpret_cast<Function*>(dlsym(library_.get(), name));
}

Nvml::Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW), &dlclose) {
  const auto init = find<int()>("nvmlInit_v2");
  ready_ = init != nullptr && init() == kSuccess;
}

Nvml::~Nvml() {
  if (!ready_) return;
  if (const auto shutdown = find<int()>("nvmlShutdown")) shutdown();
}

std::optional<Nvml::Handle> Nvml::device(const std::string& pci_bus_id) const {
  const auto get = find<int(const char*, Handle*)>("nvmlDeviceGetHandleByPciBusId_v2");
  Handle handle = nullptr;
  if (get == nullptr || get(pci_bus_id.c_str(), &handle) != kSuccess) return std::nullopt;
  return handle;
}

std::optional<unsigned> Nvml::number(const char* function, Handle handle) const {
  const auto get = find<int(Handle, unsigned*)>(function);
  unsigned value = 0;
  if (get == nullptr || get(handle, &value) != kSuccess) return std::nullopt;
  return value;
}

std::string Nvml::driver() const {
  const auto get = find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  std::array<char, 96> text{};
  if (get == nullptr || get(text.data(), text.size()) != kSuccess) return {};
  return text.data();
}

std::optional<std::uint64_t> Nvml::ecc_errors(Handle handle, bool corrected) const {
  constexpr int kVolatile = 0;
  const auto get = find<int(Handle, int, int, unsigned long long*)>("nvmlDeviceGetTotalEccErrors");
  unsigned long long count = 0;
  if (get == nullptr || get(handle, corrected ? 0 : 1, kVolatile, &count) != kSuccess) return std::nullopt;
  return count;
}

std::optional<std::uint64_t> Nvml::throttle_reasons(Handle handle) const {
  unsigned long long reasons = 0;
  // Renamed with driver 535; the old name stays.
  for (const char* name : {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    const auto get = find<int(Handle, unsigned long long*)>(name);
    if (get != nullptr && get(handle, &reasons) == kSuccess) return reasons;
  }
  return std::nullopt;
}

Nvml::XidEvents::XidEvents(const Nvml& nvml, Handle handle) : nvml_(nvml) {
  constexpr unsigned long long kXidCriticalError = 8;
  const auto create = nvml.find<int(nvmlEventSet_st**)>("nvmlEventSetCreate");
  const auto listen = nvml.find<int(Handle, unsigned long long, nvmlEventSet_st*)>("nvmlDeviceRegisterEvents");
  const auto destroy = nvml.find<int(nvmlEventSet_st*)>("nvmlEventSetFree");
  if (create == nullptr || listen == nullptr || destroy == nullptr || create(&set_) != kSuccess) {
    set_ = nullptr;
  } else if (listen(handle, kXidCriticalError, set_) != kSuccess) {
    static_cast<void>(destroy(std::exchange(set_, nullptr)));
  }
}

Nvml::XidEvents::~XidEvents() {
  if (set_ == nullptr) return;
  if (const auto destroy = nvml_.find<int(nvmlEventSet_st*)>("nvmlEventSetFree")) destroy(set_);
}

std::optional<std::vector<std::uint64_t>> Nvml::XidEvents::take() const {
  constexpr std::size_t kMost = 64;  // at a time: a GPU that dies may tell of it without end
  const auto wait = nvml_.find<int(nvmlEventSet_st*, EventData*, unsigned)>("nvmlEventSetWait_v2");
  if (set_ == nullptr || wait == nullptr) return std::nullopt;
  std::vector<std::uint64_t> xids;
  EventData event{};
  while (xids.size() < kMost && wait(set_, &event, 0) == kSuccess) xids.push_back(event.data);
  return xids;
}

}  // namespace xferbench::cuda
