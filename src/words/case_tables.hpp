// The tables of a scenario's cases: a row for each, a column for each axis that varies and for each number that one of
// them has.
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

/// Results of one scenario and what varies among them.
struct Group {
  const ScenarioDescriptor& scenario;
  const std::vector<const Result*>& results;
  std::map<std::string, std::size_t> skipped{};  ///< how many for each reason

  Group(const ScenarioDescriptor& of, const std::vector<const Result*>& all);

  /// Whether it was skipped, and others for the same reason.
  [[nodiscard]] bool shares_reason(const Result& r) const;
  /// The first that has the axis, if any.
  [[nodiscard]] const Result* with(const std::string& axis) const;
  /// Whether those results that have the axis differ in it. That some lack it follows from another axis, which varies.
  [[nodiscard]] bool varies(const std::string& axis) const;
};

/// Axes with one value: {"size", "1 MiB"}.
using Fixed = std::vector<std::pair<std::string, std::string>>;
Fixed fixed_axes(const Group& group);

/// The results that have a row of their own: after Ctrl-C there may be hundreds that had not begun, and what was
/// measured would scroll away.
std::vector<const Result*> with_row(const Group& group);
/// For each reason that several cases were skipped for, one line.
std::vector<std::string> skipped_lines(const Group& group);

/// What the columns of the scenario say of these.
Table headline_of(const Group& group, const std::vector<const Result*>& rows);
/// A table for each number that single GPUs have and that has a heading.
std::vector<Table> gpu_tables(const Group& group);
/// Measurements of one result. Percentiles are shown where one is sure of them.
Table table_of(const std::vector<const Measurement*>& measurements);

}  // namespace xferbench
