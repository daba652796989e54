// What a program's transfers cost it, as programs read it. A pure function from records to text.
#pragma once

#include <string>

#include "explain/explanation.hpp"

namespace xferbench {

/// For programs, and for scripts/report (docs/explain-schema.json is the contract): "xferbench-explain/1". What is
/// unknown is absent.
std::string to_json(const explain::Explanation& explanation);
/// What docs/explain-schema.json says.
std::string explain_schema();

}  // namespace xferbench
