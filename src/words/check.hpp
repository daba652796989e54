// Whether results are what was expected, in words. Pure functions from records to documents, of the results of one file
// or of several that were held against the same expectations.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "paper/document.hpp"

namespace xferbench {

using AllChecked = std::span<const check::Checked>;

/// Of several files each mark with the names of those that have it.
Trust trust_of(AllChecked all);

/// Whether all expectations hold for every file.
bool all_hold(AllChecked all);

/// A table for each file, one summary, and for what no file has measured the commands that would.
Document document_of(AllChecked all);

/// Why a file does not pass; empty where it came to its end.
std::string incomplete(const check::Checked& checked);
/// Of a run that came to its end and does not pass although no expectation fails.
bool nothing_was_checked(const check::Checked& checked);
/// "4 hold, 1 fails, 3 not measured".
std::string summary(const check::Checked& checked);
/// Behind a name that came before "(2)", "(3)" and so on: readers of OpenMetrics and JUnit keep one of equal names.
std::vector<std::string> made_distinct(std::vector<std::string> names);
/// The case that decides, or why there is none.
std::string about(const check::Row& row);

}  // namespace xferbench
