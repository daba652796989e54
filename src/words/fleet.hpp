// Describes the results of a fleet (several ranks that measure together) in words.
#pragma once

#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Adds the ranks that are flagged, missing or failed. Then, for each scenario, adds a table with the median, lowest
/// and highest number of the ranks for each case and concurrency (how many ranks measure at once), the cost of
/// contention, and with `every_rank` a table of all ranks. Then adds findings, and limits of the judgement. The report
/// must be of a fleet.
void add_fleet(const Report& report, bool every_rank, Document& document);

}  // namespace xferbench
