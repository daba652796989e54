#include "device/cuda/health.hpp"

#include <array>
#include <exception>
#include <string_view>

namespace xferbench::cuda {

namespace {

/// Names of the bits of nvmlClocksEventReasons, from bit 0 on.
constexpr std::array<std::string_view, 9> kReasons{"idle",        "application-clocks", "power-cap",
                                                   "hw-slowdown", "sync-boost",         "sw-thermal",
                                                   "hw-thermal",  "power-brake",        "display-clocks"};

std::vector<std::string> words_of(std::uint64_t reasons) {
  std::vector<std::string> words;
  for (std::size_t bit = 0; bit < kReasons.size(); ++bit) {
    if ((reasons >> bit & 1U) != 0) words.emplace_back(kReasons[bit]);
  }
  return words;
}

}  // namespace

HealthMonitor::HealthMonitor(const std::string& pci_bus_id) : handle_(nvml_.device(pci_bus_id)) {
  if (handle_) xids_.emplace(nvml_, *handle_);
}

Health HealthMonitor::look() const noexcept {
  if (!handle_) return {};
  try {
    Health health;
    health.ecc_corrected = nvml_.ecc_errors(*handle_, true);
    health.ecc_uncorrected = nvml_.ecc_errors(*handle_, false);
    health.pcie_replays = nvml_.number("nvmlDeviceGetPcieReplayCounter", *handle_);
    health.link_generation = nvml_.number("nvmlDeviceGetCurrPcieLinkGeneration", *handle_);
    health.link_width = nvml_.number("nvmlDeviceGetCurrPcieLinkWidth", *handle_);
    if (const auto reasons = nvml_.throttle_reasons(*handle_)) health.throttle = words_of(*reasons);
    health.power = nvml_.power(*handle_);
    health.temperature = nvml_.temperature(*handle_);
    health.temperature_limit = nvml_.slowdown_temperature(*handle_);
    health.xids = xids_->take();
    return health;
  } catch (const std::exception&) {
    return {};
  }
}

Clocks HealthMonitor::clocks() const noexcept {
  if (!handle_) return {};
  return {.sm = nvml_.sm_clock(*handle_), .memory = nvml_.memory_clock(*handle_)};
}

std::optional<LinkBytes> HealthMonitor::link_bytes() const noexcept {
  return handle_ ? nvml_.link_bytes(*handle_) : std::nullopt;
}

}  // namespace xferbench::cuda
