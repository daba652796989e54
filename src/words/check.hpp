// Describes the results of `xferbench check` in words, for one file or several that were checked against the same
// expectations. Pure functions from records to documents.
#pragma once

#include "check/check.hpp"
#include "paper/document.hpp"

namespace xferbench {

using AllChecked = std::span<const check::Checked>;

/// Returns the trust marks of a document about these files: simulated, not verified, incomplete, injected fault.
Trust trust_of(AllChecked all);

bool all_hold(AllChecked all);

/// Returns a table for each file, one summary, and commands that measure the expectations that no file has measured.
Document document_of(AllChecked all);

/// Returns why a file does not pass because its run is incomplete; empty if the run is complete.
std::string incomplete(const check::Checked& checked);
/// Whether the run is complete and still does not pass, because no expectation was measured.
bool nothing_was_checked(const check::Checked& checked);
/// Returns for example "4 passed, 1 failed, 3 not measured".
std::string summary(const check::Checked& checked);
/// Appends "(2)", "(3)" and so on to equal names, because readers of OpenMetrics and JUnit drop duplicates.
std::vector<std::string> made_distinct(std::vector<std::string> names);
/// Returns the case that decides whether the expectation holds, or why there is none.
std::string about(const check::Row& row);

}  // namespace xferbench
