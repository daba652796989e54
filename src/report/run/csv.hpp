// Results as tidy CSV for spreadsheets, R and pandas: one row for each number. Pure functions from records to text.
#pragma once

#include <span>
#include <string>

#include "core/scenario_descriptor.hpp"
#include "results/result.hpp"

namespace xferbench {

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
