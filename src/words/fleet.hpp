// Results of a fleet in words.
#pragma once

#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Adds what is flagged, missing or failed; for each scenario a table with a row for each case and concurrency (pace);
/// findings; and limits of the judgement. A row has the median over the ranks, the lowest and the highest number with
/// their ranks, and what contention costs. `every_rank` adds a table of all ranks. The report must have a fleet.
void add_fleet(const Report& report, bool every_rank, Document& document);

}  // namespace xferbench
