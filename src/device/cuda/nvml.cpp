#include "device/cuda/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <string_view>

namespace xferbench::cuda {

namespace {

constexpr int kSuccess = 0;

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

}  // namespace xferbench::cuda
