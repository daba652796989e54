// What a fleet measured, as people read it: pure functions from a report that has one to text.
#pragma once

#include <string>

#include "report/style.hpp"
#include "results/result.hpp"

namespace xferbench {

/// For each scenario a table with a row for each case and pace: the median over the ranks, the lowest and the highest
/// and whose they are; what contention costs; with Style::every_row a table of all ranks. Then what is flagged, who is
/// missing or has failed, and what limits the judgement.
std::string to_fleet_table(const Report& report, const Style& style);

/// The same for a ticket: what is flagged first.
std::string to_fleet_markdown(const Report& report);

}  // namespace xferbench
