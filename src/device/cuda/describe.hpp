// Properties of a GPU according to CUDA, NVML and sysfs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/cuda/nvml.hpp"
#include "device/device.hpp"

namespace xferbench::cuda {

/// Returns the PCI address of a GPU, such as "0000:0f:00.0". Throws DeviceError.
[[nodiscard]] std::string pci_bus_id(int gpu);

/// Returns the sysfs folder of a PCI device, such as "/sys/bus/pci/devices/0000:0f:00.0".
[[nodiscard]] std::string sysfs_folder(const std::string& pci_bus_id);

/// Returns the NUMA node that the GPU is attached to; nothing if unknown.
[[nodiscard]] std::optional<int> numa_node_of(int gpu);

/// Describes a GPU, without the PCIe link. Needs no context. Throws DeviceError.
[[nodiscard]] Environment::Gpu describe_gpu(int gpu, const Nvml& nvml);

/// Describes GPU `gpu`, which must be current and have a context. The caller adds the PCIe link and the host.
[[nodiscard]] Capabilities describe_device(int gpu, const Nvml& nvml);

/// Returns the links between all ordered pairs of these GPUs.
[[nodiscard]] std::vector<Environment::PeerLink> peer_links(std::span<const Environment::Gpu> gpus, const Nvml& nvml);

/// Whether copies between host and GPU cross PCIe: not those of a GPU that shares memory with the host (Jetson), nor
/// those over NVLink-C2C, whose GPU reads the host's page tables (Grace Hopper). Such GPUs may report a PCIe link, too.
[[nodiscard]] bool is_on_pcie(int gpu);

/// Returns generation and width of the device's PCIe link, from NVML or else sysfs. Reads them while copies are in
/// flight, because an idle link trains down. If the current state is unreadable, returns the maximum that GPU and slot
/// both support; std::nullopt if neither NVML nor sysfs reports that maximum (some virtual machines). Takes a few
/// milliseconds, or 0.2 s if the link stays below its maximum. Throws no CUDA error and leaves none behind.
[[nodiscard]] std::optional<Environment::Pcie> pcie_link(Device& device, const Nvml& nvml,
                                                         const std::string& pci_bus_id);

}  // namespace xferbench::cuda
