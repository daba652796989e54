// Describes the results of a run in words. Pure functions of the records; `scenarios` declare the columns of tables.
#pragma once

#include "paper/document.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

struct RunView {
  bool details = false;   ///< show all findings, and all measurements of a single case; otherwise only the first
                          ///< findings, and the measurements that are columns
  bool every_row = true;  ///< show all rows; otherwise long tables leave out rows that matrices from GPU to GPU show,
                          ///< and rows after the first thousand
  std::string next{};     ///< how to continue an incomplete run; else empty
  /// Number of processes. With several, the report has medians over the processes, and warnings of single processes.
  std::size_t processes = 1;
  bool findings_of_first = false;  ///< the findings are only those of the first of several processes
};

/// Returns a table for each scenario. Axes with a single value are in the heading, the others are columns. Columns
/// without any value are left out, and cases that were skipped for the same reason share a line below the table. If
/// there is only one case, its measurements get a table. Findings follow, as a table for each kind and as sentences.
/// For fleets see words/fleet.hpp. Markdown and HTML pages end with the warnings.
Document document_of(const Report& report, Descriptors scenarios, const RunView& shown = {});

/// Returns the warnings and their cases. Of warnings that differ only in numbers, returns one and how many more there
/// are.
std::vector<std::string> warning_lines(const Report& report);

}  // namespace xferbench
