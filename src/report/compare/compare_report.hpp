// Comparisons as CI servers and programs read them. Pure functions from records to text.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "report/annotations.hpp"

namespace xferbench {

/// What became worse, the worst first, and why the exit code is not 0 where that is not it.
std::vector<Annotation> annotations_of(const compare::Comparison& comparison);

/// For programs (docs/compare-schema.json is the contract): a case to a line. What is unknown is absent.
std::string to_json(const compare::Comparison& comparison);
std::string to_json(const compare::Across& across);
/// What docs/compare-schema.json says.
std::string compare_schema();

}  // namespace xferbench
