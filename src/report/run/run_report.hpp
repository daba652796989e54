// Results as people read them, in terminals, on pages and in spreadsheets. Pure functions from records to text.
// `scenarios` says what each calls its columns.
#pragma once

#include <string>
#include <vector>

#include "core/scenario_descriptor.hpp"
#include "report/style.hpp"
#include "results/result.hpp"
#include "results/sink.hpp"

namespace xferbench {

/// How many of a report's findings are shown.
enum class FindingsShown {
  main,  ///< of each scenario the first sentences and rows that are no details, and how many more there are
  all,
};

/// One table per scenario. Axes with one value stand in the title, the others are columns; columns without any value
/// are left out, and cases that were skipped for one reason share a line below. One single case gets all its
/// measurements there. Then what the results say together: a table for each kind of finding, and the sentences. Those
/// of a fleet have a report of their own (report/fleet/fleet_report.hpp), here and as Markdown.
std::string to_table(const Report& report, Descriptors scenarios, const Style& style,
                     FindingsShown which = FindingsShown::main);

/// For issues, wikis and CI summaries: the terminal's tables as GitHub renders them, and at the end what was doubtful.
/// Simulated results say so above and in every heading.
std::string to_markdown(const Report& report, Descriptors scenarios, FindingsShown which = FindingsShown::main);

/// What was doubtful, and of which case: warnings that differ only in their numbers once, with how many cases more.
std::vector<std::string> warning_lines(const Report& report);

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
