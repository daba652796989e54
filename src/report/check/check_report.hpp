// Whether results are what was expected, as people and as programs read it. Pure functions from records to text, of the
// results of one file or of several that were held against the same expectations.
#pragma once

#include <span>
#include <string>

#include "check/check.hpp"
#include "report/style.hpp"

namespace xferbench {

using AllChecked = std::span<const check::Checked>;

/// Whether all expectations hold for every file.
bool all_hold(AllChecked all);

/// A table for each file, one summary, and for what no file has measured the commands that would.
std::string to_check_table(AllChecked all, const Style& style);
std::string to_check_markdown(AllChecked all);
/// "xferbench-check/1" (docs/check-schema.json): what holds for all files, one entry for each, and one for each
/// expectation of each.
std::string to_check_json(AllChecked all);

}  // namespace xferbench
