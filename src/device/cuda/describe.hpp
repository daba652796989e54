// What CUDA, NVML and the system say of a GPU.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/nvml.hpp"
#include "device/device.hpp"

namespace xferbench::cuda {

/// "0000:0f:00.0". Throws DeviceError.
[[nodiscard]] std::string pci_bus_id(int gpu);

/// "/sys/bus/pci/devices/0000:0f:00.0": where the system tells of a device on the PCI bus.
[[nodiscard]] std::string sysfs_folder(const std::string& pci_bus_id);

/// That the GPU is attached to, if the system knows.
[[nodiscard]] std::optional<int> numa_node_of(int gpu);

/// Of the current GPU, which has a context; all but its link and what it says of the host.
[[nodiscard]] Capabilities describe_device(int gpu, const Nvml& nvml);

/// The ways between every two of these GPUs, each way.
[[nodiscard]] std::vector<Environment::PeerLink> peer_links(std::span<const Environment::Gpu> gpus, const Nvml& nvml);

/// Generation and width of the PCI Express link of `device`, which has that bus id: as they are while copies are in
/// flight, because an idle link trains down; where that cannot be seen, the largest that GPU and slot can agree on.
/// From NVML, else from sysfs; nothing where neither knows (some virtual machines). Takes some milliseconds, or 0.2 s
/// where the link stays below what GPU and slot could agree on. No error of CUDA is thrown or left behind.
[[nodiscard]] std::optional<Environment::Pcie> pcie_link(Device& device, const Nvml& nvml,
                                                         const std::string& pci_bus_id);

}  // namespace xferbench::cuda
