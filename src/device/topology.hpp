// How the GPUs of a machine are connected (PCIe bridges, NVLink), from sysfs and driver data.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// PCI addresses of the bridges between a device and the CPU, nearest first. `folder`: the device's sysfs link into
/// the bus tree. Empty if there is no such tree.
std::vector<std::string> bridges_above(const std::filesystem::path& folder);

/// Whether two texts name the same PCI device. CUDA, NVML and sysfs differ in leading zeros and letter case.
bool same_pci_device(std::string_view a, std::string_view b);

/// The remote end of an NVLink.
struct NvLinkEnd {
  enum class Kind { gpu, nvswitch, unknown };
  Kind kind = Kind::unknown;
  std::string pci_bus_id{};  ///< PCI address of the remote GPU; empty for other kinds
  friend bool operator==(const NvLinkEnd&, const NvLinkEnd&) = default;
};

/// Number of NVLinks from one GPU to another with PCI address `to`. `of_one` and `of_other`: the remote ends of each
/// GPU's NVLinks. Of the links to switches, as many count as the GPU with fewer of them has. `reachable`: whether the
/// driver reports NVLink access between the GPUs, if known; links with an unknown end count only if it is true.
unsigned nvlinks_between(std::span<const NvLinkEnd> of_one, std::span<const NvLinkEnd> of_other, std::string_view to,
                         std::optional<bool> reachable);

}  // namespace xferbench
