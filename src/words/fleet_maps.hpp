// The ranks of a fleet as pages show them: maps of nodes and their ranks, and who they are. Pure functions from
// records.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fleet/judgement.hpp"
#include "fleet/places.hpp"
#include "paper/matrix.hpp"
#include "paper/table.hpp"
#include "results/fleet.hpp"

namespace xferbench {

/// A map for each test: a row for each node, a column for each of its ranks, and in each cell the rank's number over
/// the median of those that should be as fast. More is better, whatever the number is.
class FleetMaps {
 public:
  /// `fleet` outlives it; `tests` are all of its first round.
  FleetMaps(const Fleet& fleet, const std::vector<fleet::Test>& tests);

  /// Whether there is a map of it: of few numbers tables say it better, and of nodes that have very few of the ranks
  /// most would be empty.
  [[nodiscard]] bool has_map_of(const fleet::Test& test) const;
  /// An asterisk marks what is flagged by this test.
  [[nodiscard]] Matrix map_of(const fleet::Test& test, const std::string& title) const;

 private:
  /// Whose numbers are compared: what is alike, of transfers at both ends, and whether they leave a node.
  using Group = std::tuple<std::size_t, std::size_t, bool>;
  /// As what is flagged names it: transfers with all partners are one.
  using Judged = std::pair<std::string, std::string>;
  static Judged judged_as(const fleet::Test& test);
  [[nodiscard]] bool knows(const fleet::Test::Value& value) const;
  [[nodiscard]] Group group_of(const fleet::Test::Value& value) const;

  const Fleet& fleet_;
  fleet::Places places_;
  std::map<int, std::size_t> rows_;     ///< by node
  std::map<int, std::size_t> columns_;  ///< by local rank
  std::vector<std::string> hosts_;
  std::map<Judged, std::map<Group, double>> medians_;
};

/// Beyond so many, tables have only those that are flagged or missing.
inline constexpr std::size_t kMostRanksInTables = 1024;

/// Who the ranks are, and what is flagged of them; columns in which all are alike are left out.
Table table_of_places(const Fleet& fleet);

}  // namespace xferbench
