// Where the ranks of a fleet are, which of them are peers, and how texts name them.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "results/fleet.hpp"

namespace xferbench::fleet {

/// A peer group: ranks that should be equally fast, with the same GPU model on the same kind of link.
struct PeerGroup {
  std::string gpu;
  std::string link;  ///< for example "PCIe 5 x16"; empty if unknown
  std::vector<int> ranks{};
  [[nodiscard]] std::string text() const;
};

/// Index of a fleet's ranks, with their nodes and peer groups. Keeps a reference to the fleet, whose ranks must not
/// change. Excludes ranks that no longer answer, since they cannot be measured again.
class Places {
 public:
  explicit Places(const Fleet& fleet);

  [[nodiscard]] bool has(int rank) const { return by_rank_.contains(rank); }
  [[nodiscard]] int node(int rank) const { return by_rank_.at(rank).place->node; }
  /// Returns the index of the rank's peer group in peer_groups().
  [[nodiscard]] std::size_t peer_group(int rank) const { return by_rank_.at(rank).peer_group; }
  [[nodiscard]] const std::vector<PeerGroup>& peer_groups() const { return peer_groups_; }
  [[nodiscard]] const std::vector<int>& ranks_on(int node) const { return by_node_.at(node); }

  [[nodiscard]] const std::string& host(int node) const { return by_rank_.at(ranks_on(node).front()).place->host; }
  /// Returns, for example, "rank 3 (GPU 1 of node1, GPU-uuid, 0000:17:00.0)"; leaves out what is unknown.
  [[nodiscard]] std::string rank_text(int rank) const;
  /// Returns, for example, "host node1 (ranks 8 to 15)".
  [[nodiscard]] std::string host_text(int node) const { return host_text(node, ranks_on(node)); }
  /// Like host_text(node), but lists only these ranks of the node.
  [[nodiscard]] std::string host_text(int node, const std::vector<int>& ranks) const;

 private:
  struct Known {
    const RankPlace* place = nullptr;
    std::size_t peer_group = 0;
  };
  std::unordered_map<int, Known> by_rank_;
  std::unordered_map<int, std::vector<int>> by_node_;
  std::vector<PeerGroup> peer_groups_;
};

/// How much a text says about the place of a rank.
enum class Detail {
  place,  ///< short text, for example "rank 3 (GPU 1 of node1)", for tables and lists
  part,   ///< long text, for example "rank 3 (GPU 1 of node1, GPU-uuid, 0000:17:00.0)", to find the GPU
};
std::string rank_text(const RankPlace& place, Detail detail = Detail::part);
/// Returns a text that names the rank and its place; only "rank 3", for example, if the place is unknown.
std::string rank_text(const Fleet& fleet, int rank, Detail detail = Detail::part);
/// Returns, for example, "rank 3" or "ranks 0 to 3 and 6"; of many ranks only the first few and the total.
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace xferbench::fleet
