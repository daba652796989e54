// Tables of a scenario's cases, with a row for each case. Columns are the axes that vary and the numbers of the cases.
#pragma once

#include "paper/table.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

/// Results of one scenario, and which axes vary among them.
struct Group {
  const ScenarioDescriptor& scenario;
  const std::vector<const Result*>& results;
  std::map<std::string, std::size_t> skipped{};  ///< number of skipped results, by reason

  Group(const ScenarioDescriptor& of, const std::vector<const Result*>& all);

  /// Whether the result was skipped for a reason for which others were skipped, too.
  [[nodiscard]] bool shares_reason(const Result& r) const;
  /// Returns the first result that has the axis; null if none has it.
  [[nodiscard]] const Result* with(const std::string& axis) const;
  /// Whether the results that have the axis differ in its value. Results without the axis do not count: they lack it
  /// because of the value of another axis, which then varies.
  [[nodiscard]] bool varies(const std::string& axis) const;
};

/// Axes with the same value in all results, each with that value: {"size", "1 MiB"}.
using Fixed = std::vector<std::pair<std::string, std::string>>;
Fixed fixed_axes(const Group& group);

/// Returns the results that get a row. Leaves out cases that did not begin before Ctrl-C, because there may be
/// hundreds, and cases that were skipped for the same reason as others.
std::vector<const Result*> with_row(const Group& group);
/// Returns a line for each reason for which several cases were skipped.
std::vector<std::string> skipped_lines(const Group& group);

/// Returns the table of these results, with the columns that the scenario declares.
Table headline_table(const Group& group, const std::vector<const Result*>& rows);
/// Returns a table for each number that is declared with a heading and has values for single GPUs.
std::vector<Table> gpu_tables(const Group& group);
/// Returns a table of the measurements of one result. A percentile is empty if there are too few samples for it.
Table table_of(const std::vector<const Measurement*>& measurements);

}  // namespace xferbench
