// How HTML pages show the ranks of a fleet: for each test, a matrix (a row for each node, a column for each of its
// ranks), and a table of ranks. Pure functions of the recorded results.
#pragma once

#include <tuple>

#include "fleet/judgement.hpp"
#include "fleet/rank_places.hpp"
#include "paper/matrix.hpp"
#include "paper/table.hpp"

namespace xferbench {

/// Maker of the matrices that show one test each, with a row for each node and a column for each of its ranks. A cell
/// is the ratio of the rank's number to the median of comparable ranks, inverted for times so that larger is better.
class FleetMaps {
 public:
  /// `fleet` must outlive this object. `tests` must be all tests of the fleet's first round.
  FleetMaps(const Fleet& fleet, const std::vector<fleet::Test>& tests);

  /// Whether the test gets a matrix: not if it has few numbers, which a table shows better, or if most cells would be
  /// empty.
  [[nodiscard]] bool has_map_of(const fleet::Test& test) const;
  /// Returns the matrix of a test. An asterisk marks the ranks and transfers that the test flags.
  [[nodiscard]] Matrix map_of(const fleet::Test& test, const std::string& title) const;

 private:
  /// What peers have in common: kind of GPU and link (of both ends for transfers), and whether a transfer leaves the
  /// node.
  using Group = std::tuple<std::size_t, std::size_t, bool>;
  /// Name and metric of a test, as flagged ranks record them: transfers with all partners count as one test.
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

/// Maximum ranks of a fleet for which tables list all of them. For more, tables list only flagged or missing ranks.
inline constexpr std::size_t kMostRanksInTables = 1024;

/// Returns a table of where each rank runs, and what is flagged. Columns in which all ranks are equal are left out.
Table table_of_places(const Fleet& fleet);

}  // namespace xferbench
