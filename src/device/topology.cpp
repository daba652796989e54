#include "device/topology.hpp"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "core/spelling.hpp"

namespace xferbench {

namespace {

bool is_digit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

/// Returns the address in lower case without leading zeros, and with a colon where the domain is left out, for
/// comparisons.
std::string plain_pci_address(std::string_view address) {
  if (std::ranges::count(address, ':') == 1) return ":" + lower_case(address);
  return lower_case(address.substr(std::min(address.find_first_not_of('0'), address.size())));
}

std::size_t count_of(std::span<const NvLinkEnd> ends, NvLinkEnd::Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(ends, kind, &NvLinkEnd::kind));
}

}  // namespace

bool is_pci_address(std::string_view name) {
  const auto colons = std::ranges::count(name, ':');
  if (name.rfind('.') == std::string_view::npos || colons < 1 || colons > 2) return false;
  return std::ranges::all_of(name, [](char c) { return is_digit(c) || c == ':' || c == '.'; });
}

std::vector<std::string> bridges_above(const std::filesystem::path& folder) {
  std::error_code missing;
  const std::filesystem::path place = std::filesystem::canonical(folder, missing);
  std::vector<std::string> bridges;
  if (missing) return bridges;
  for (std::filesystem::path above = place.parent_path(); is_pci_address(above.filename().string());
       above = above.parent_path()) {
    bridges.push_back(above.filename().string());
  }
  return bridges;
}

bool same_pci_device(std::string_view a, std::string_view b) {
  return !a.empty() && plain_pci_address(a) == plain_pci_address(b);
}

unsigned nvlinks_between(std::span<const NvLinkEnd> of_one, std::span<const NvLinkEnd> of_other, std::string_view to,
                         std::optional<bool> reachable) {
  using Kind = NvLinkEnd::Kind;
  if (!reachable.value_or(true)) return 0;
  const auto direct = std::ranges::count_if(
      of_one, [to](const NvLinkEnd& end) { return end.kind == Kind::gpu && same_pci_device(end.pci_bus_id, to); });
  const std::size_t switched = std::min(count_of(of_one, Kind::nvswitch), count_of(of_other, Kind::nvswitch));
  const std::size_t unknown = std::min(count_of(of_one, Kind::unknown), count_of(of_other, Kind::unknown));
  return static_cast<unsigned>(static_cast<std::size_t>(direct) + switched + (reachable ? unknown : 0));
}

}  // namespace xferbench
