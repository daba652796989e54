#include "results/fleet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <sstream>

#include "core/lists.hpp"
#include "core/units.hpp"

namespace xferbench {

namespace {

/// Returns the entry of CUDA_VISIBLE_DEVICES for the GPU with this CUDA index; empty if the variable is not set.
std::string visible_as(const Environment& e, int index) {
  const auto set = std::ranges::find(e.variables, "CUDA_VISIBLE_DEVICES", [](const auto& one) { return one.first; });
  if (set == e.variables.end()) return {};
  std::istringstream list(set->second);
  std::string entry;
  for (int i = 0; i <= index; ++i) {
    if (!std::getline(list >> std::ws, entry, ',')) return {};
  }
  while (entry.ends_with(' ')) entry.pop_back();
  return entry;
}

}  // namespace

std::string gpu_text(const RankPlace& place) {
  const Environment::Gpu& gpu = place.environment.gpu;
  if (!gpu.index) return fmt::format("{}", place.local_rank);  // a simulated host has one GPU for each rank
  const std::string visible = visible_as(place.environment, *gpu.index);
  if (visible.empty()) return fmt::format("{}", *gpu.index);
  if (visible.find_first_not_of("0123456789") == std::string::npos) return visible;
  return gpu.pci_bus_id.empty() ? visible : gpu.pci_bus_id;  // instead of a UUID, which is long and no number
}

std::string without_round_of_partners(std::string key) {
  const std::size_t at = key.find(fmt::format("/{}=", kRoundOfPartners));
  if (at != std::string::npos) key.erase(at, key.find('/', at + 1) - at);
  return key;
}

std::string where_text(const RankPlace& place) { return fmt::format("GPU {} of {}", gpu_text(place), place.host); }

std::string gpus_text(const Fleet& fleet) {
  std::vector<std::string> models;  // GPU models, each once, in the order of their lowest ranks
  std::map<std::string, std::size_t> counts;
  std::set<int> nodes;
  for (const RankPlace& place : fleet.ranks) {
    if (counts[place.environment.gpu.name]++ == 0) models.push_back(place.environment.gpu.name);
    nodes.insert(place.node);
  }
  const auto parts =
      list_of(models, [&](const std::string& model) { return fmt::format("{} x {}", counts[model], model); });
  return fmt::format("{} on {}", fmt::join(parts, " and "), counted(nodes.size(), "host"));
}

}  // namespace xferbench
