// Comparisons for programs (docs/compare-schema.json is the contract). Pure functions from records to bytes.
#pragma once

#include <string>

#include "compare/compare.hpp"

namespace xferbench {

/// JSON with a final newline, a case to a line. What is unknown is absent.
std::string to_json(const compare::Comparison& comparison);
std::string to_json(const compare::Across& across);

}  // namespace xferbench
