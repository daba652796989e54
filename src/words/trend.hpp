// Describes in words how the results of one machine changed over time. A pure function from records to a document.
#pragma once

#include "compare/trend.hpp"
#include "paper/document.hpp"

namespace xferbench {

/// Returns a document with the changes (since which run, by how much, and what else differs from the run before) and a
/// small chart for each case. Charts of cases with changes come first; the others are collapsed.
Document document_of(const compare::Trend& trend);

}  // namespace xferbench
