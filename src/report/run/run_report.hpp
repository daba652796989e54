// Results for spreadsheets and monitoring. Pure functions from records to text; `scenarios` says what each calls its
// columns.
#pragma once

#include <string>

#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// One row for each measurement (kind "measurement", its value the median) and each metric (kind "metric") of each
/// case; a case that has neither has one row. The first columns are always the same ones; after them comes a column for
/// every axis of the scenarios that have results, in the order of `scenarios`, whether or not a case has it: files of
/// the same scenarios have the same columns. Sizes are bytes. Numbers are the shortest that read back as the same
/// double, whatever the locale.
///
/// Quoted as RFC 4180 says, lines end with a line feed alone. A text (never a number) that a spreadsheet would take for
/// a formula begins with an apostrophe.
void write_csv(const Report& report, Descriptors scenarios, const Sink& sink);
/// The same as one text.
std::string to_csv(const Report& report, Descriptors scenarios);

/// For monitoring, as OpenMetrics text (report/openmetrics/openmetrics.hpp): the headline of each case, named
/// xferbench_SCENARIO_HEADLINE_UNIT with the case's key as its label, in a fleet with rank, pace and round, too; and of
/// the run when it was started, whether it is complete, and how many cases it has of each status.
std::string to_openmetrics(const Report& report, Descriptors scenarios);

}  // namespace xferbench
