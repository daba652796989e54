// Health, clocks and link counters of a GPU, read through NVML.
#pragma once

#include <optional>
#include <string>

#include "core/health.hpp"
#include "device/cuda/nvml.hpp"

namespace xferbench::cuda {

/// Reads a GPU's health and, from construction on, Xid errors. look() makes about ten NVML calls of 10 to 100 us each.
class HealthMonitor {
 public:
  explicit HealthMonitor(const std::string& pci_bus_id);

  /// Never throws: values that cannot be read are absent. Reports each Xid error only once.
  [[nodiscard]] Health look() const noexcept;
  [[nodiscard]] Clocks clocks() const noexcept;
  [[nodiscard]] std::optional<LinkBytes> link_bytes() const noexcept;

 private:
  Nvml nvml_;
  std::optional<Nvml::Handle> handle_;
  std::optional<Nvml::XidEvents> xids_;
};

}  // namespace xferbench::cuda
