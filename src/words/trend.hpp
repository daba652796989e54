// Trends of one machine in words. A pure function from records to a document.
#pragma once

#include "compare/trend.hpp"
#include "paper/document.hpp"

namespace xferbench {

/// First the changes: since when, by how much, and what else differs there. Then a small chart for each case: the cases
/// with changes first, the others folded away.
Document document_of(const compare::Trend& trend);

}  // namespace xferbench
