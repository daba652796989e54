// Describes comparisons of results files in words. Pure functions from records to documents.
#pragma once

#include "compare/compare.hpp"
#include "compare/trend.hpp"
#include "paper/document.hpp"

namespace xferbench {

/// Returns the trust marks of both sides: simulated, not verified, incomplete, injected fault. Each names its files.
Trust trust_of(const compare::Comparison& comparison);

/// Returns the trust marks of files compared side by side. `profile`: the device profile that simulated some of them.
Trust trust_of(const std::optional<std::string>& profile, const std::vector<compare::Source>& files);

/// Returns a report in which the worst cases come first. With many cases, a terminal shows only the number of those
/// without a known change, unless `all` is set; other formats collapse them. Doubts about the numbers are left out on a
/// terminal, because they go to standard error. `tells_exit`: the answer also names the exit code.
Document document_of(const compare::Comparison& comparison, bool all = false, bool tells_exit = true);

/// Returns a table with a column for each file and a row for each case. Marks the best number of each row, and numbers
/// tied with it.
Document document_of(const compare::Across& across);

/// Returns a document about the results of one machine over time: the changes (since which run, by how much, and what
/// else differs from the run before) and a small chart for each case. Charts of cases with changes come first; the
/// others are collapsed.
Document document_of(const compare::Trend& trend);

}  // namespace xferbench
