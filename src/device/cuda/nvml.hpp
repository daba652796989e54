// What the CUDA runtime does not tell about a GPU: from NVML where its library can be loaded, else from sysfs.
#pragma once

#include <optional>
#include <string>

#include "core/result.hpp"

namespace xferbench::cuda {

/// Generation and width that GPU and slot can agree on, from NVML where its library can be loaded, else from sysfs;
/// nothing where neither knows (some virtual machines). The largest, not the current, because an idle link trains down.
std::optional<Environment::Pcie> pcie_link(const std::string& pci_bus_id);

/// The driver's version, "580.159.04"; empty where NVML cannot be loaded.
std::string driver_version();

}  // namespace xferbench::cuda
