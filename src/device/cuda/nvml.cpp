#include "device/cuda/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace xferbench::cuda {

namespace {

constexpr int kSuccess = 0;

/// Layout of nvmlEventData_t, which nvmlEventSetWait_v2 fills in.
struct EventData {
  Nvml::Handle device;
  unsigned long long type;
  unsigned long long data;
  unsigned gpu_instance;
  unsigned compute_instance;
};

/// Layout of nvmlFieldValue_t.
struct FieldValue {
  unsigned field;
  unsigned scope;  // index of the link, if the field is one of a link
  long long timestamp;
  long long latency;
  int type;
  int status;
  union {
    double real;
    unsigned number;
    unsigned long long_number;
    unsigned long long longest_number;
    long long signed_longest_number;
    int signed_number;
  } value;
};

/// Layout of nvmlMarginTemperature_v1_t. `version` holds size and version, as in NVML_STRUCT_VERSION.
struct MarginTemperature {
  unsigned version = 8U | 1U << 24U;
  int degrees = 0;
};
static_assert(sizeof(MarginTemperature) == 8);

/// Layout of nvmlPciInfo_t.
struct PciInfo {
  std::array<char, 16> legacy_bus_id;
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  std::array<char, 32> bus_id;
};

constexpr unsigned kMostNvLinks = 36;  // links to query; a GPU has at most 18 today, and missing links return an error

}  // namespace

template <class Function>
Function* Nvml::find(const char* name) const {
  if (!library_ || (!ready_ && std::string_view(name) != "nvmlInit_v2")) return nullptr;
  return reinterpret_cast<Function*>(dlsym(library_.get(), name));
}

template <class Value, class... Arguments>
std::optional<Value> Nvml::ask(const char* function, Arguments... arguments) const {
  const auto get = find<int(Arguments..., Value*)>(function);
  Value value{};
  if (get == nullptr || get(arguments..., &value) != kSuccess) return std::nullopt;
  return value;
}

template <class... Arguments>
std::string Nvml::text(const char* function, Arguments... arguments) const {
  const auto get = find<int(Arguments..., char*, unsigned)>(function);
  std::array<char, 96> text{};
  if (get == nullptr || get(arguments..., text.data(), text.size()) != kSuccess) return {};
  return text.data();
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
  return ask<Handle>("nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str());
}

std::optional<unsigned> Nvml::number(const char* function, Handle handle) const {
  return ask<unsigned>(function, handle);
}

std::string Nvml::driver() const { return text("nvmlSystemGetDriverVersion"); }

std::optional<std::uint64_t> Nvml::ecc_errors(Handle handle, bool corrected) const {
  constexpr int kVolatile = 0;
  return ask<unsigned long long>("nvmlDeviceGetTotalEccErrors", handle, corrected ? 0 : 1, kVolatile);
}

std::optional<std::uint64_t> Nvml::throttle_reasons(Handle handle) const {
  // The function was renamed in driver 535; the old name still works.
  for (const char* name : {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    if (const auto reasons = ask<unsigned long long>(name, handle)) return *reasons;
  }
  return std::nullopt;
}

std::optional<double> Nvml::power(Handle handle) const {
  const auto milliwatts = number("nvmlDeviceGetPowerUsage", handle);
  return milliwatts ? std::optional(*milliwatts / 1e3) : std::nullopt;
}

std::optional<double> Nvml::temperature(Handle handle) const {
  constexpr int kOfTheChip = 0;  // NVML_TEMPERATURE_GPU
  return ask<unsigned>("nvmlDeviceGetTemperature", handle, kOfTheChip);
}

std::optional<double> Nvml::slowdown_temperature(Handle handle) const {
  constexpr int kSlowdown = 1;  // NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
  const auto threshold = ask<unsigned>("nvmlDeviceGetTemperatureThreshold", handle, kSlowdown);
  if (threshold.value_or(0) > 0) return threshold;
  // For Ada, Hopper and newer GPUs, the driver (555 or newer) instead reports margins, in degrees below a temperature
  // limit: the current margin, and the margin at which the chip slows down, which is negative (for example -2).
  constexpr unsigned kSlowdownMargin = 194;  // NVML_FI_DEV_TEMPERATURE_SLOWDOWN_TLIMIT
  const auto now = temperature(handle);
  const auto slowdown = field(handle, kSlowdownMargin, 0);
  const auto margin = ask<MarginTemperature>("nvmlDeviceGetMarginTemperature", handle);
  if (!now || !slowdown || !margin) return std::nullopt;
  return *now + margin->degrees - *slowdown;
}

std::optional<double> Nvml::clock(Handle handle, int domain) const {
  const auto megahertz = ask<unsigned>("nvmlDeviceGetClockInfo", handle, domain);
  return megahertz ? std::optional(*megahertz * 1e6) : std::nullopt;
}

std::optional<LinkBytes> Nvml::link_bytes(Handle handle) const {
  constexpr unsigned kSent = 197;      // NVML_FI_DEV_PCIE_COUNT_TX_BYTES
  constexpr unsigned kReceived = 198;  // NVML_FI_DEV_PCIE_COUNT_RX_BYTES
  const auto sent = field(handle, kSent, 0);
  const auto received = field(handle, kReceived, 0);
  if (!sent || !received) return std::nullopt;
  return LinkBytes{*sent, *received};
}

// --- NVLink ---------------------------------------------------------------------------------------------------------

std::vector<unsigned> Nvml::active_nvlinks(Handle handle) const {
  std::vector<unsigned> active;
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    if (ask<int>("nvmlDeviceGetNvLinkState", handle, link) == 1) active.push_back(link);
  }
  return active;
}

std::vector<NvLinkEnd> Nvml::nvlinks(Handle handle) const {
  constexpr int kGpu = 0;
  constexpr int kSwitch = 2;
  std::vector<NvLinkEnd> ends;
  for (const unsigned link : active_nvlinks(handle)) {
    NvLinkEnd& end = ends.emplace_back();
    const auto type = ask<int>("nvmlDeviceGetNvLinkRemoteDeviceType", handle, link);
    if (type == kSwitch) end.kind = NvLinkEnd::Kind::nvswitch;
    if (type != kGpu) continue;
    const auto info = ask<PciInfo>("nvmlDeviceGetNvLinkRemotePciInfo_v2", handle, link);
    if (!info) continue;
    end = {NvLinkEnd::Kind::gpu, fmt::format("{:04x}:{:02x}:{:02x}.0", info->domain, info->bus, info->device)};
  }
  return ends;
}

std::optional<double> Nvml::field(Handle handle, unsigned id, unsigned link) const {
  const auto get = find<int(Handle, int, FieldValue*)>("nvmlDeviceGetFieldValues");
  FieldValue field{};
  field.field = id;
  field.scope = link;
  if (get == nullptr || get(handle, 1, &field) != kSuccess || field.status != kSuccess) return std::nullopt;
  switch (field.type) {
    case 0: return field.value.real;
    case 1: return field.value.number;
    case 2: return static_cast<double>(field.value.long_number);
    case 3: return static_cast<double>(field.value.longest_number);
    case 4: return static_cast<double>(field.value.signed_longest_number);
    case 5: return field.value.signed_number;
    default: return std::nullopt;
  }
}

double Nvml::nvlink_bandwidth(Handle handle) const {
  constexpr unsigned kCommonSpeed = 90;   // NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON: the same for all active links
  constexpr unsigned kSpeedOfLink = 164;  // NVML_FI_DEV_NVLINK_GET_SPEED
  const std::vector<unsigned> links = active_nvlinks(handle);
  const double common = field(handle, kCommonSpeed, 0).value_or(0);
  double megabytes = 0;
  for (const unsigned link : links) {
    megabytes += common > 0 ? common : field(handle, kSpeedOfLink, link).value_or(0);
  }
  return megabytes * 1e6;
}

std::optional<bool> Nvml::reachable_by_nvlink(Handle from, Handle to) const {
  constexpr int kByNvLink = 2;  // NVML_P2P_CAPS_INDEX_NVLINK
  constexpr int kUnknown = 6;   // NVML_P2P_STATUS_UNKNOWN
  const auto status = ask<int>("nvmlDeviceGetP2PStatus", from, to, kByNvLink);
  return status.value_or(kUnknown) == kUnknown ? std::nullopt : std::optional(status == 0);
}

// --- Identity -------------------------------------------------------------------------------------------------------

bool Nvml::is_divided(Handle handle) const {
  const auto mode = find<int(Handle, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
  unsigned current = 0;
  unsigned pending = 0;
  return mode != nullptr && mode(handle, &current, &pending) == kSuccess && current == 1;
}

bool Nvml::is_confidential() const {
  struct State {  // nvmlConfComputeSystemState_t
    unsigned environment;
    unsigned feature;  // 1: enabled
    unsigned developer_mode;
  };
  const auto state = ask<State>("nvmlSystemGetConfComputeState");
  return state && state->feature == 1;
}

std::string Nvml::uuid(Handle handle) const { return text("nvmlDeviceGetUUID", handle); }

// --- Errors ---------------------------------------------------------------------------------------------------------

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
  constexpr std::size_t kMost = 64;  // maximum per call, because a failing GPU may report errors endlessly
  const auto wait = nvml_.find<int(nvmlEventSet_st*, EventData*, unsigned)>("nvmlEventSetWait_v2");
  if (set_ == nullptr || wait == nullptr) return std::nullopt;
  std::vector<std::uint64_t> xids;
  EventData event{};
  while (xids.size() < kMost && wait(set_, &event, 0) == kSuccess) xids.push_back(event.data);
  return xids;
}

}  // namespace xferbench::cuda
