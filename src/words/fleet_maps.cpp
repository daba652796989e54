#include "words/fleet_maps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "measure/statistics.hpp"

namespace xferbench {

namespace {

using fleet::Test;

// The colour scale spans at least these ratios to the median, so that small differences have nearly the same colour.
constexpr double kDarkest = 0.95;
constexpr double kBrightest = 1.02;

/// The ranks, and the transfers between ranks, that one test flags.
struct FlaggedBy {
  std::set<int> ranks{};
  std::set<std::pair<int, int>> pairs{};

  FlaggedBy(const Fleet& fleet, const std::string& test) {
    for (const Flagged& flagged : fleet.flagged) {
      if (std::ranges::find(flagged.tests, test) == flagged.tests.end()) continue;
      if (flagged.what == Flagged::What::pair && flagged.ranks.size() == 2) {
        pairs.emplace(flagged.ranks[0], flagged.ranks[1]);
      } else {
        ranks.insert(flagged.ranks.begin(), flagged.ranks.end());
      }
    }
  }
  [[nodiscard]] bool has(const Test::Value& value) const {
    if (!value.pair) return ranks.contains(value.rank);
    return ranks.contains(value.pair->first) || ranks.contains(value.pair->second) || pairs.contains(*value.pair);
  }
};

}  // namespace

FleetMaps::FleetMaps(const Fleet& fleet, const std::vector<Test>& tests) : fleet_(fleet), places_(fleet) {
  for (const RankPlace& place : fleet.ranks) {
    columns_[place.local_rank] = 0;
    if (rows_.try_emplace(place.node, hosts_.size()).second) hosts_.push_back(place.host);
  }
  std::size_t next = 0;
  for (auto& [rank, column] : columns_) column = next++;
  std::map<Judged, std::map<Group, std::vector<double>>> numbers;
  for (const Test& test : tests) {
    for (const Test::Value& value : test.values) {
      if (knows(value)) numbers[judged_as(test)][group_of(value)].push_back(value.value);
    }
  }
  for (const auto& [test, groups] : numbers) {
    for (const auto& [group, values] : groups) medians_[test][group] = statistics::median(values);
  }
}

FleetMaps::Judged FleetMaps::judged_as(const Test& test) {
  Test named;
  named.key = !test.values.empty() && test.values.front().pair ? without_round_of_partners(test.key) : test.key;
  named.pace = test.pace;
  return {named.name(), test.metric};
}

bool FleetMaps::knows(const Test::Value& value) const {
  if (!value.pair) return places_.has(value.rank);
  return places_.has(value.rank) && places_.has(value.pair->first) && places_.has(value.pair->second);
}

FleetMaps::Group FleetMaps::group_of(const Test::Value& value) const {
  if (!value.pair) return {places_.peer_group(value.rank), 0, false};
  const auto [from, to] = *value.pair;
  return {places_.peer_group(from), places_.peer_group(to), places_.node(from) != places_.node(to)};
}

bool FleetMaps::has_map_of(const Test& test) const {
  constexpr std::size_t kLeast = 3;
  constexpr std::size_t kMostCells = 8;  // maximum cells of the matrix per number; with more, most would be empty
  const std::size_t numbers = test.values.size();
  return numbers >= kLeast && rows_.size() * columns_.size() <= kMostCells * numbers;
}

Matrix FleetMaps::map_of(const Test& test, const std::string& title) const {
  std::vector<std::string> columns;
  for (const auto& [rank, column] : columns_) columns.push_back(std::to_string(rank));
  Matrix matrix(hosts_, std::move(columns));
  matrix.title = title;
  matrix.corner = "host \\ local rank";
  matrix.form = Matrix::Form::percent;
  matrix.darkest = kDarkest;
  matrix.brightest = kBrightest;
  const Judged judged = judged_as(test);
  const FlaggedBy flagged(fleet_, judged.first);
  bool of_pairs = false;
  for (const Test::Value& value : test.values) {
    if (!knows(value)) continue;
    of_pairs = of_pairs || value.pair.has_value();
    const RankPlace& place = *fleet_.place(value.rank);
    const std::size_t cell = rows_.at(place.node) * matrix.columns.size() + columns_.at(place.local_rank);
    const double median = medians_.at(judged).at(group_of(value));
    const auto [more, less] =
        test.better == Better::lower ? std::pair(median, value.value) : std::pair(value.value, median);
    if (less > 0) matrix.cells[cell] = more / less;
    matrix.marked[cell] = flagged.has(value);
  }
  matrix.note = of_pairs ? "Each cell is the receiving rank. 100 is the median of transfers between the same GPU "
                           "models and links; transfers within a host and between hosts have separate medians."
                         : "100 is the median of ranks with the same GPU model and link; higher is better.";
  const bool has_marks = std::ranges::find(matrix.marked, true) != matrix.marked.end();
  if (has_marks) matrix.note += " Marked cells are flagged by this test.";
  return matrix;
}

Table table_of_places(const Fleet& fleet) {
  std::map<int, std::set<std::string_view>> flagged;
  for (const Flagged& one : fleet.flagged) {
    for (const int rank : one.ranks) flagged[rank].insert(to_text(one.what));
  }
  for (const int rank : fleet.missing) flagged[rank].insert("missing");
  Table table{
      .header = {"rank", "host", "GPU", "model", "UUID", "PCI", "link", "NUMA node", "driver", "profile", "flagged"},
      .title = "Where the ranks are"};
  if (fleet.ranks.size() > kMostRanksInTables)
    table.title += ": flagged and missing ranks only; the results file has all";
  for (const RankPlace& place : fleet.ranks) {
    if (fleet.ranks.size() > kMostRanksInTables && !flagged.contains(place.rank)) continue;
    const Environment& e = place.environment;
    table.rows.push_back(
        {{std::to_string(place.rank), place.host, gpu_text(place), e.gpu.name, e.gpu.uuid, e.gpu.pci_bus_id,
          e.gpu.pcie ? fmt::format("Gen{} x{}", e.gpu.pcie->generation, e.gpu.pcie->width) : "",
          e.gpu.numa_node ? std::to_string(*e.gpu.numa_node) : "", e.driver, e.profile,
          Cell(fmt::format("{}", fmt::join(flagged[place.rank], ", ")), Tone::bad)}});
  }
  constexpr std::size_t kFirstThatMayGo = 3;
  for (std::size_t column = table.header.size(); table.rows.size() > 1 && column-- > kFirstThatMayGo;) {
    const std::string& first = table.rows.front().cells[column].text;
    const auto differs = [&](const Table::Row& row) { return row.cells[column].text != first; };
    if (std::ranges::none_of(table.rows, differs)) table.erase_column(column);
  }
  table.left_columns = table.header.size();
  return table;
}

}  // namespace xferbench
