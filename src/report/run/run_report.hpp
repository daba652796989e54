// Results as people read them, in terminals, on pages and in spreadsheets. Pure functions from records to text.
// `scenarios` says what each calls its columns.
#pragma once

#include <string>

#include "core/scenario_descriptor.hpp"
#include "report/style.hpp"
#include "results/result.hpp"

namespace xferbench {

/// One table per scenario. Axes with one value stand in the title, the others are columns; columns without any value
/// are left out. One single case gets all its measurements below. Then what the results say together: a table for each
/// kind of finding, and the sentences.
std::string to_table(const Report& report, Descriptors scenarios, const Style& style);

/// For issues, wikis and CI summaries: the terminal's tables as GitHub renders them, and at the end what was doubtful.
/// Simulated results say so above and in every heading.
std::string to_markdown(const Report& report, Descriptors scenarios);

/// One row for each measurement (kind "measurement", its value the median) and each metric (kind "metric") of each
/// case; a case that has neither has one row. The first columns are always the same ones; after them comes a column for
/// every axis of the scenarios that have results, in the order of `scenarios`, whether or not a case has it: files of
/// the same scenarios have the same columns. Sizes are bytes. Numbers are the shortest that read back as the same
/// double, whatever the locale.
///
/// Quoted as RFC 4180 says, lines end with a line feed alone. A text (never a number) that a spreadsheet would take for
/// a formula begins with an apostrophe.
std::string to_csv(const Report& report, Descriptors scenarios);

}  // namespace xferbench
