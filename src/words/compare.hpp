// Comparisons in words. Pure functions from records to documents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "paper/document.hpp"

namespace xferbench {

/// Of both sides, each mark with the names of the files that have it.
Trust trust_of(const compare::Comparison& comparison);

/// Of files side by side, of which one may be simulated by that profile.
Trust trust_of(const std::optional<std::string>& profile, const std::vector<compare::Source>& files);

/// What is worse first. On a terminal, of many cases those of which nothing is known to have changed are only counted,
/// unless `all` are wanted; elsewhere they are folded away. What doubts there are is not on the terminal: that belongs
/// to standard error. `tells_exit`: the answer says which exit code that is, too.
Document document_of(const compare::Comparison& comparison, bool all = false, bool tells_exit = true);

/// One column for each file, one row for each case; the best, and what cannot be told from it, is marked.
Document document_of(const compare::Across& across);

}  // namespace xferbench
