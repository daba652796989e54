// Writes results for spreadsheets and monitoring. Pure functions from records to text; `scenarios` declares the axes
// and metrics of each scenario.
#pragma once

#include "results/result.hpp"
#include "results/scenario_descriptor.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// Writes one row for each measurement (kind "measurement", value: the median) and each metric (kind "metric") of each
/// case; a case without either has one row. After the fixed columns comes one for each axis of the scenarios that have
/// results, in the order of `scenarios`, so files with the same scenarios have the same columns. Sizes are bytes.
/// Numbers are the shortest that read back as the same double, in any locale.
///
/// Texts are quoted as in RFC 4180, but lines end with a line feed only. A text that a spreadsheet would take for a
/// formula gets an apostrophe before it; a number never does.
void write_csv(const Report& report, Descriptors scenarios, const Sink& sink);
/// Returns what write_csv() writes.
std::string to_csv(const Report& report, Descriptors scenarios);

/// Returns OpenMetrics text for monitoring (report/openmetrics/openmetrics.hpp). The main measurement (headline) of
/// each case is named xferbench_SCENARIO_HEADLINE_UNIT and labelled with the case's key, in a fleet also with rank,
/// concurrency ("pace") and round. Other metrics tell when the run started, whether it is complete, and the number of
/// cases by status.
std::string to_openmetrics(const Report& report, Descriptors scenarios);

}  // namespace xferbench
