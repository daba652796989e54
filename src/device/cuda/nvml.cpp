#include "device/cuda/nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <memory>

namespace xferbench::cuda {

namespace {

/// NVML, loaded if the driver brought it. Its interface is declared here by hand (NVML API reference, versioned symbols
/// with _v2): the library belongs to the driver, and linking it would keep the program from starting without one.
class Nvml {
 public:
  using Handle = struct nvmlDevice_st*;

  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW), &dlclose) {
    const auto init = find<int()>("nvmlInit_v2");
    ready_ = init != nullptr && init() == kSuccess;
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml() {
    if (!ready_) return;
    if (const auto shutdown = find<int()>("nvmlShutdown")) shutdown();
  }

  [[nodiscard]] std::optional<Handle> device(const std::string& pci_bus_id) const {
    const auto get = find<int(const char*, Handle*)>("nvmlDeviceGetHandleByPciBusId_v2");
    Handle handle = nullptr;
    if (get == nullptr || get(pci_bus_id.c_str(), &handle) != kSuccess) return std::nullopt;
    return handle;
  }

  /// A property of a device that is one unsigned number.
  [[nodiscard]] std::optional<unsigned> number(const char* function, Handle handle) const {
    const auto get = find<int(Handle, unsigned*)>(function);
    unsigned value = 0;
    if (get == nullptr || get(handle, &value) != kSuccess) return std::nullopt;
    return value;
  }

  [[nodiscard]] std::string driver() const {
    const auto get = find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
    std::array<char, 96> text{};
    if (get == nullptr || get(text.data(), text.size()) != kSuccess) return {};
    return text.data();
  }

 private:
  static constexpr int kSuccess = 0;

  template <class Function>
  [[nodiscard]] Function* find(const char* name) const {
    if (!library_ || (!ready_ && std::string_view(name) != "nvmlInit_v2")) return nullptr;
    return reinterpret_cast<Function*>(dlsym(library_.get(), name));
  }

  std::unique_ptr<void, int (*)(void*)> library_;
  bool ready_ = false;
};

std::optional<Environment::Pcie> from_nvml(const std::string& pci_bus_id) {
  const Nvml nvml;
  const auto device = nvml.device(pci_bus_id);
  if (!device) return std::nullopt;
  const auto generation = nvml.number("nvmlDeviceGetMaxPcieLinkGeneration", *device);
  const auto width = nvml.number("nvmlDeviceGetMaxPcieLinkWidth", *device);
  if (!generation || !width || *generation == 0 || *width == 0) return std::nullopt;
  return Environment::Pcie{*generation, *width, "nvml"};
}

unsigned generation_of(double gigatransfers) {
  constexpr std::array<double, 5> kRates{2.5, 5, 8, 16, 32};
  const auto found = std::ranges::find(kRates, gigatransfers);
  return found == kRates.end() ? 0 : static_cast<unsigned>(found - kRates.begin()) + 1;
}

/// The generation that a device of the bus can run at, as its folder says; 0 if it does not.
unsigned generation_in(const std::string& folder) {
  double gigatransfers = 0;
  std::ifstream(folder + "/max_link_speed") >> gigatransfers;
  return generation_of(gigatransfers);
}

std::optional<Environment::Pcie> from_sysfs(std::string pci_bus_id) {
  std::ranges::transform(pci_bus_id, pci_bus_id.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string folder = "/sys/bus/pci/devices/" + pci_bus_id;
  // The GPU's own best or its slot's, whichever is less. Unlike the speed, the width does not fall when the link idles.
  const unsigned slot = generation_in(folder + "/..");
  const unsigned generation = slot == 0 ? generation_in(folder) : std::min(generation_in(folder), slot);
  unsigned width = 0;
  std::ifstream(folder + "/current_link_width") >> width;
  constexpr unsigned kWidest = 32;  // "unknown" reads as 0 or 255
  if (generation == 0 || width == 0 || width > kWidest) return std::nullopt;
  return Environment::Pcie{generation, width, "sysfs"};
}

}  // namespace

std::optional<Environment::Pcie> pcie_link(const std::string& pci_bus_id) {
  if (auto link = from_nvml(pci_bus_id)) return link;
  return from_sysfs(pci_bus_id);
}

std::string driver_version() { return Nvml().driver(); }

}  // namespace xferbench::cuda
