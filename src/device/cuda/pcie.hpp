// The PCI Express link of a GPU, looked at while it works.
#pragma once

#include <optional>
#include <string>

#include "core/environment.hpp"
#include "device/cuda/nvml.hpp"

namespace xferbench::cuda {

/// Generation and width of the link of the current device, which has that bus id and a context: as they are while
/// copies are in flight, because an idle link trains down; where that cannot be seen, the largest that GPU and slot can
/// agree on. From NVML, else from sysfs; nothing where neither knows (some virtual machines). Takes some milliseconds,
/// or 0.2 s where the link stays below what GPU and slot could agree on. Throws nothing and leaves no CUDA error
/// behind.
std::optional<Environment::Pcie> pcie_link(const Nvml& nvml, const std::string& pci_bus_id);

}  // namespace xferbench::cuda
