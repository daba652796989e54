// Describes in words how the results of one machine changed over time. A pure function from records to a document.
#pragma once

#include "compare/trend.hpp"
#include "paper/document.hpp"

namespace xferbench {

/// Returns first the changes: since which run, by how much, and what else differs from the run before. Then a small
/// chart for each case: those of cases with changes first, the others collapsed.
Document document_of(const compare::Trend& trend);

}  // namespace xferbench
