// Writes and reads explanations as JSON.
#pragma once

#include <string>
#include <string_view>

#include "explain/explanation.hpp"

namespace xferbench {

inline constexpr std::string_view kExplanationSchema = "xferbench-explain/1";

/// Returns an explanation as JSON; docs/explain-schema.json is the contract. Unknown values are absent.
std::string to_json(const explain::Explanation& explanation);
/// Reads a file that to_json() wrote. Throws InputError with the place in the file, what was found and expected there.
explain::Explanation read_explanation(const std::string& path);
/// Returns the contents of docs/explain-schema.json.
std::string explain_schema();

}  // namespace xferbench
