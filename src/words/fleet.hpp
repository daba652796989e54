// What a fleet measured, in words.
#pragma once

#include "paper/document.hpp"
#include "results/result.hpp"

namespace xferbench {

/// What is flagged, who is missing or has failed; for each scenario a table with a row for each case and pace: the
/// median over the ranks, the lowest and the highest and whose they are, what contention costs, and where wanted a
/// table of all ranks; what the cases say together, and what limits the judgement. The report has a fleet.
void add_fleet(const Report& report, bool every_rank, Document& document);

}  // namespace xferbench
