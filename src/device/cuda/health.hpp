// How a GPU is, as NVML tells it.
#pragma once

#include <optional>
#include <string>

#include "core/health.hpp"
#include "device/cuda/nvml.hpp"

namespace xferbench::cuda {

/// Listens for critical errors from the beginning. One look is some ten questions to the driver, of which each takes
/// some ten to hundred microseconds.
class HealthMonitor {
 public:
  explicit HealthMonitor(const std::string& pci_bus_id);

  /// Never throws: what cannot be had, for lack of memory even, is absent.
  [[nodiscard]] Health look() const noexcept;
  [[nodiscard]] Clocks clocks() const noexcept;
  [[nodiscard]] std::optional<LinkBytes> link_bytes() const noexcept;

 private:
  Nvml nvml_;
  std::optional<Nvml::Handle> handle_;
  std::optional<Nvml::XidEvents> xids_;
};

}  // namespace xferbench::cuda
