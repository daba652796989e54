// How the GPUs of a machine are connected (PCIe bridges, NVLink), from sysfs and driver data.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// Returns the PCI addresses of the bridges between a device and the CPU, nearest first. `folder` is the device's sysfs
/// folder, a link into the bus tree. Returns an empty list if the folder does not exist.
std::vector<std::string> bridges_above(const std::filesystem::path& folder);

/// Whether the name has the form of a PCI address, for example "0000:0f:00.0", or "0f:00.0" without the domain.
bool is_pci_address(std::string_view name);

/// Whether two PCI addresses name the same device. CUDA, NVML and sysfs differ in leading zeros and letter case, and
/// people leave out the domain 0000.
bool same_pci_device(std::string_view a, std::string_view b);

/// The remote end of an NVLink.
struct NvLinkEnd {
  enum class Kind { gpu, nvswitch, unknown };
  Kind kind = Kind::unknown;
  std::string pci_bus_id{};  ///< PCI address of the remote GPU; empty for other kinds
  friend bool operator==(const NvLinkEnd&, const NvLinkEnd&) = default;
};

/// Returns the number of NVLinks from one GPU to another at the PCI address `to`. `of_one` and `of_other` are the
/// remote ends of each GPU's NVLinks. If both have links to switches, the smaller of both numbers counts. `reachable`
/// tells whether the driver reports NVLink access between the GPUs; links with an unknown end count only if it is true.
unsigned nvlinks_between(std::span<const NvLinkEnd> of_one, std::span<const NvLinkEnd> of_other, std::string_view to,
                         std::optional<bool> reachable);

}  // namespace xferbench
