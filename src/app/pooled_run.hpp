// Shows a run of several processes as one run, whose samples are the medians of the processes.
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
  bool findings_of_first = false;  ///< true if findings cannot be derived from medians; the first process's are used
};

/// Merges the processes of a run, derives its findings again if there are several, and sets the AxisKind of each
/// parameter to what its scenario declares. Cases that this version does not know stay as they are.
PooledRun pooled(compare::Processes processes);

/// Returns the run as a document. Unless `every_row` is set, long tables are shortened.
Document document_of_pooled(const PooledRun& run, bool details, bool every_row);

}  // namespace xferbench::app
