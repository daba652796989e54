// What the CUDA runtime does not tell about a GPU: from NVML where its library can be loaded, else from sysfs.
#pragma once

#include <optional>
#include <string>

#include "core/result.hpp"

namespace xferbench::cuda {

/// Generation and width that GPU and slot can agree on, from NVML where its library can be loaded, else from sysfs;
/// nothing where neither knows (some virtual machines). The largest, not the current, because an idle link trains down.
std::optional<Environment::Pcie> pcie_link(const std::string& pci_bus_id);

/// The memory's highest clock rate in Hz; nothing where NVML cannot be loaded. The runtime's attribute of that name
/// lies below the rate that the memory runs at on some GPUs (3134 against 3201 MHz on an H200).
std::optional<double> max_memory_clock_hz(const std::string& pci_bus_id);

/// The driver's version, "580.159.04"; empty where NVML cannot be loaded.
std::string driver_version();

}  // namespace xferbench::cuda
