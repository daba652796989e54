// Shows a run that several processes measured by the medians of their results.
#pragma once

#include <cstddef>
#include <string>

#include "compare/processes.hpp"
#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench::app {

/// A run as one report. If several processes measured it, each sample is the median of one process.
struct PooledRun {
  std::string name;  ///< for example "night-1.json to night-3.json (3 processes)"
  Report report;     ///< its findings follow from the medians of the processes
  std::size_t processes = 1;
  bool findings_of_first = false;  ///< the findings could not be derived again: they are those of the first process
};

/// Merges the processes of a run, derives its findings again if there are several, and sets the AxisKind of each
/// parameter to what its scenario declares. Cases that this version does not know stay as they are.
PooledRun pooled(compare::Processes processes);

/// Describes the run in words. `every_row`: long tables keep all rows.
Document document_of_pooled(const PooledRun& run, bool details, bool every_row);

}  // namespace xferbench::app
