// Ranks of a fleet for pages: maps of nodes and their ranks, and a table of the ranks. Pure functions from records.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fleet/judgement.hpp"
#include "fleet/rank_places.hpp"
#include "paper/matrix.hpp"
#include "paper/table.hpp"
#include "results/fleet.hpp"

namespace xferbench {

/// A map for each test: a row for each node, a column for each of its ranks. A cell is the number of the rank relative
/// to the median of its peers, which should be as fast. More is better, also for times.
class FleetMaps {
 public:
  /// `fleet` must outlive it; `tests` are all tests of its first round.
  FleetMaps(const Fleet& fleet, const std::vector<fleet::Test>& tests);

  /// Whether the test has a map. Tables show few numbers better, and most cells would be empty if nodes have few of the
  /// ranks.
  [[nodiscard]] bool has_map_of(const fleet::Test& test) const;
  /// The map of a test, with an asterisk at what the test flags.
  [[nodiscard]] Matrix map_of(const fleet::Test& test, const std::string& title) const;

 private:
  /// What peers have in common: kind of GPU and link (for transfers at both ends), and whether a transfer leaves its
  /// node.
  using Group = std::tuple<std::size_t, std::size_t, bool>;
  /// Name and metric of a test as flagged items have them: transfers with all partners are one test.
  using Judged = std::pair<std::string, std::string>;
  static Judged judged_as(const fleet::Test& test);
  [[nodiscard]] bool knows(const fleet::Test::Value& value) const;
  [[nodiscard]] Group group_of(const fleet::Test::Value& value) const;

  const Fleet& fleet_;
  fleet::Places places_;
  std::map<int, std::size_t> rows_;     ///< row index, by node
  std::map<int, std::size_t> columns_;  ///< column index, by local rank
  std::vector<std::string> hosts_;
  std::map<Judged, std::map<Group, double>> medians_;
};

/// Maximum ranks in tables. With more ranks, tables have only the ranks that are flagged or missing.
inline constexpr std::size_t kMostRanksInTables = 1024;

/// The places of the ranks, and what is flagged; columns in which all ranks are alike are left out.
Table table_of_places(const Fleet& fleet);

}  // namespace xferbench
