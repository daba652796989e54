// Whether results are what was expected, as people and as programs read it. Pure functions from records to text, of the
// results of one file or of several that were held against the same expectations.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "report/annotations.hpp"
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
/// As JUnit's XML, which CI servers show: a suite for each file, a test case for each expectation. One that was not
/// measured is skipped; a file that does not pass although none of its expectations fails has a case that says why.
std::string to_check_junit(AllChecked all);
/// As OpenMetrics text: of each file whether it passes, how many expectations have which verdict, and the margins.
std::string to_check_openmetrics(AllChecked all);
/// What is wrong, the worst first.
std::vector<Annotation> annotations_of(AllChecked all);

// Why a file does not pass, or is not what it might be taken for; empty where it is not so.
std::string incomplete(const check::Checked& checked);
std::string injected(const check::Checked& checked);
/// Of a run that came to its end and does not pass although no expectation fails.
bool nothing_was_checked(const check::Checked& checked);
/// "4 hold, 1 fails, 3 not measured".
std::string summary(const check::Checked& checked);
/// Behind a name that came before "(2)", "(3)" and so on: readers of OpenMetrics and JUnit keep one of equal names.
std::vector<std::string> made_distinct(std::vector<std::string> names);
/// The case that decides, or why there is none.
std::string about(const check::Row& row);

}  // namespace xferbench
