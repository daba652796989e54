// Tables of a scenario's cases: a row for each case, a column for each axis that varies and for each number that a case
// has.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "paper/table.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

/// Results of one scenario, and which axes vary among them.
struct Group {
  const ScenarioDescriptor& scenario;
  const std::vector<const Result*>& results;
  std::map<std::string, std::size_t> skipped{};  ///< number of results for each reason

  Group(const ScenarioDescriptor& of, const std::vector<const Result*>& all);

  /// Whether the result was skipped for a reason that it shares with others.
  [[nodiscard]] bool shares_reason(const Result& r) const;
  /// The first result that has the axis; null: none.
  [[nodiscard]] const Result* with(const std::string& axis) const;
  /// Whether the results that have the axis differ in it. If some lack it, that is because of another axis, which
  /// varies.
  [[nodiscard]] bool varies(const std::string& axis) const;
};

/// Axes with the same value in all results: {"size", "1 MiB"}.
using Fixed = std::vector<std::pair<std::string, std::string>>;
Fixed fixed_axes(const Group& group);

/// The results that get a row of their own. After Ctrl-C hundreds of cases may not have begun; their rows would scroll
/// the measured ones away.
std::vector<const Result*> with_row(const Group& group);
/// One line for each reason that several cases were skipped for.
std::vector<std::string> skipped_lines(const Group& group);

/// The table of these results, with the scenario's columns.
Table headline_table(const Group& group, const std::vector<const Result*>& rows);
/// A table for each number that has a heading and values for single GPUs.
std::vector<Table> gpu_tables(const Group& group);
/// The measurements of one result. A percentile is empty if there are too few samples for it.
Table table_of(const std::vector<const Measurement*>& measurements);

}  // namespace xferbench
