#include "results/fleet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

namespace xferbench {

std::string where_text(const RankPlace& place) { return fmt::format("GPU {} of {}", place.local_rank, place.host); }

std::string gpus_text(const Fleet& fleet) {
  std::vector<std::string> models;  // in the order of their lowest ranks
  std::map<std::string, std::size_t> counts;
  std::set<int> nodes;
  for (const RankPlace& place : fleet.ranks) {
    if (counts[place.environment.gpu.name]++ == 0) models.push_back(place.environment.gpu.name);
    nodes.insert(place.node);
  }
  std::vector<std::string> parts;
  for (const std::string& model : models) parts.push_back(fmt::format("{} x {}", counts[model], model));
  return fmt::format("{} on {} host{}", fmt::join(parts, " and "), nodes.size(), nodes.size() == 1 ? "" : "s");
}

}  // namespace xferbench
