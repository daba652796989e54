// Results of a fleet in words.
#pragma once

#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Adds what is flagged, missing or failed. Then for each scenario: a table with the median over the ranks and the
/// lowest and highest number for each case and concurrency (pace), what contention costs, and with `every_rank` a table
/// of all ranks. Then findings, and limits of the judgement. The report must have a fleet.
void add_fleet(const Report& report, bool every_rank, Document& document);

}  // namespace xferbench
