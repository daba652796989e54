// How the GPUs of a machine hang together, from what the system and the driver tell of each.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace xferbench {

/// PCI addresses above a device on its way to the processor, the nearest first. `folder` is where sysfs tells of the
/// device: a link into the tree of the buses. Empty where there is no such tree.
std::vector<std::string> bridges_above(const std::filesystem::path& folder);

/// Whether two texts name the same PCI device: CUDA, NVML and sysfs write domains and letters differently.
bool same_pci_device(std::string_view a, std::string_view b);

/// What is at the other end of an NVLink.
struct NvLinkEnd {
  enum class Kind { gpu, nvswitch, unknown };
  Kind kind = Kind::unknown;
  std::string pci_bus_id{};  ///< of a GPU
  friend bool operator==(const NvLinkEnd&, const NvLinkEnd&) = default;
};

/// How many NVLinks lead from one GPU to another, whose address on the PCI bus is `to`. Through switches all of them
/// do, as many as the other has. `reachable`: whether the driver says that the other can be reached by NVLink at all;
/// links whose end is not known count where it does.
unsigned nvlinks_between(std::span<const NvLinkEnd> of_one, std::span<const NvLinkEnd> of_other, std::string_view to,
                         std::optional<bool> reachable);

}  // namespace xferbench
