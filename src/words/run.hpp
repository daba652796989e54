// The results of a run in words. Pure functions from records to documents; `scenarios` declare the columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "paper/document.hpp"
#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"

namespace xferbench {

struct RunView {
  bool details = false;   ///< all measurements of a single case and all findings; otherwise only the measurements that
                          ///< are columns, and the first findings
  bool every_row = true;  ///< all rows; otherwise long tables leave out rows that matrices from GPU to GPU show, and
                          ///< rows after the first thousand
  std::string next{};     ///< how to continue a run that is not complete
  std::size_t processes = 1;       ///< number of processes whose medians the report has; warnings are of single ones
  bool findings_of_first = false;  ///< with several processes: the findings are those of the first one
};

/// One table for each scenario. Axes with one value are in the heading, the others are columns. Columns without any
/// value are left out, and cases that were skipped for one reason share a line below. A single case gets a table of its
/// measurements. Findings follow: a table for each kind, and sentences. For a fleet see words/fleet.hpp. Markdown and
/// pages end with the warnings.
Document document_of(const Report& report, Descriptors scenarios, const RunView& shown = {});

/// The warnings and their cases. Warnings that differ only in their numbers are given once, with the number of further
/// cases.
std::vector<std::string> warning_lines(const Report& report);

}  // namespace xferbench
