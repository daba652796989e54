// Writes comparisons for CI servers and other programs. Pure functions from records to text.
#pragma once

#include "compare/compare.hpp"
#include "report/annotations.hpp"

namespace xferbench {

/// Returns annotations: regressions and failures are errors, missing cases are warnings, other changes are notices.
std::vector<Annotation> annotations_of(const compare::Comparison& comparison);

/// Return JSON with one case per line; docs/compare-schema.json is the contract. Unknown values are absent.
std::string to_json(const compare::Comparison& comparison);
std::string to_json(const compare::Across& across);
/// Returns the contents of docs/compare-schema.json.
std::string compare_schema();

}  // namespace xferbench
