// The results file, version 1 (docs/results-schema.json is the contract). A pure function from a record to bytes.
#pragma once

#include <string>

#include "results/result.hpp"

namespace xferbench {

/// Pretty-printed JSON with a final newline. What is unknown is absent; numbers that JSON cannot hold (NaN, infinities)
/// are absent too.
std::string to_json(const Report& report);

}  // namespace xferbench
