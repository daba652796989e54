// Comparisons as people read them on a terminal. Pure functions from records to text.
#pragma once

#include <string>

#include "compare/compare.hpp"
#include "report/style.hpp"

namespace xferbench {

/// What is worse first. Where there are many cases, those of which nothing is known to have changed are only counted,
/// unless `all` are wanted. What doubts there are is not in it: that belongs to standard error.
std::string to_table(const compare::Comparison& comparison, bool all, const Style& style);

/// One column for each file, one row for each case; the best, and what cannot be told from it, is marked.
std::string to_table(const compare::Across& across, const Style& style);

}  // namespace xferbench
