// Trends in words. A pure function from records to a document.
#pragma once

#include "compare/trend.hpp"
#include "paper/document.hpp"

namespace xferbench {

/// First what changed, from when on and by how much, and what else differs there; then a low chart for each case, those
/// that changed first and the others folded away.
Document document_of(const compare::Trend& trend);

}  // namespace xferbench
