// What a program's transfers cost it, as programs read it.
#pragma once

#include <string>
#include <string_view>

#include "explain/explanation.hpp"

namespace xferbench {

inline constexpr std::string_view kExplanationSchema = "xferbench-explain/1";

/// For programs (docs/explain-schema.json is the contract). What is unknown is absent.
std::string to_json(const explain::Explanation& explanation);
/// Reads it again. Throws InputError as read_report() does.
explain::Explanation read_explanation(const std::string& path);
/// What docs/explain-schema.json says.
std::string explain_schema();

}  // namespace xferbench
