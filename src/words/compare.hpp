// Comparisons in words. Pure functions from records to documents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "paper/document.hpp"

namespace xferbench {

/// The marks of both sides. Each mark has the names of the files that it is about.
Trust trust_of(const compare::Comparison& comparison);

/// The marks of files side by side, of which some may be simulated by that profile.
Trust trust_of(const std::optional<std::string>& profile, const std::vector<compare::Source>& files);

/// The worst cases are first. On a terminal, a long list only counts the cases without a known change, unless `all` is
/// set; elsewhere these are folded. Doubts are not shown on a terminal, because they go to standard error.
/// `tells_exit`: the answer also gives the exit code.
Document document_of(const compare::Comparison& comparison, bool all = false, bool tells_exit = true);

/// One column for each file, one row for each case. The best and those tied with it are marked.
Document document_of(const compare::Across& across);

}  // namespace xferbench
