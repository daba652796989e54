#include "fleet/rank_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/axis.hpp"

namespace xferbench::fleet {

namespace {

std::string link_text(const Environment::Gpu& gpu) {
  return gpu.pcie ? fmt::format("PCIe {} x{}", gpu.pcie->generation, gpu.pcie->width) : "";
}

}  // namespace

std::string PeerGroup::text() const {
  const std::string model = gpu.empty() ? "a GPU of unknown model" : gpu;
  return link.empty() ? model : fmt::format("{} on {}", model, link);
}

Places::Places(const Fleet& fleet) {
  const std::set<int> missing(fleet.missing.begin(), fleet.missing.end());
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const RankPlace& place : fleet.ranks) {
    if (missing.contains(place.rank)) continue;
    const Environment::Gpu& gpu = place.environment.gpu;
    const auto [at, is_new] = known.try_emplace({gpu.name, link_text(gpu)}, peer_groups_.size());
    if (is_new) peer_groups_.push_back({at->first.first, at->first.second});
    if (!by_rank_.try_emplace(place.rank, Known{&place, at->second}).second) continue;
    peer_groups_[at->second].ranks.push_back(place.rank);
    by_node_[place.node].push_back(place.rank);
  }
  for (PeerGroup& peer_group : peer_groups_) std::ranges::sort(peer_group.ranks);
  for (auto& [node, ranks] : by_node_) std::ranges::sort(ranks);
}

std::string rank_text(const RankPlace& place, Detail detail) {
  std::vector<std::string> known;
  if (!place.host.empty()) known.push_back(where_text(place));
  if (detail == Detail::part) {
    const Environment::Gpu& gpu = place.environment.gpu;
    for (const std::string& one : {gpu.uuid, gpu.pci_bus_id}) {
      if (!one.empty()) known.push_back(one);
    }
  }
  if (known.empty()) return fmt::format("rank {}", place.rank);
  return fmt::format("rank {} ({})", place.rank, fmt::join(known, ", "));
}

std::string rank_text(const Fleet& fleet, int rank, Detail detail) {
  const RankPlace* place = fleet.place(rank);
  return place == nullptr ? fmt::format("rank {}", rank) : rank_text(*place, detail);
}

std::string ranks_text(const std::vector<int>& ranks) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> ranges = in_ranges(ranks);
  const char* noun = ranks.size() == 1 ? "rank" : "ranks";
  if (ranges.size() > kMost) {
    ranges.resize(kMost);
    return fmt::format("{} {} and others, {} in total", noun, fmt::join(ranges, ", "), ranks.size());
  }
  if (ranges.size() == 1) return fmt::format("{} {}", noun, ranges.front());
  const std::string last = ranges.back();
  ranges.pop_back();
  return fmt::format("{} {} and {}", noun, fmt::join(ranges, ", "), last);
}

std::string Places::rank_text(int rank) const { return fleet::rank_text(*by_rank_.at(rank).place); }

std::string Places::host_text(int node, const std::vector<int>& ranks) const {
  return fmt::format("host {} ({})", host(node), ranks_text(ranks));
}

}  // namespace xferbench::fleet
