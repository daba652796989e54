// Pieces of text that tables and maps of results are made of.
#pragma once

#include <string>

#include "results/result.hpp"

namespace xferbench {

/// The value of an axis as tables show it: "64 MiB", "8", "h2d"; "-" where the case has no such axis.
std::string axis_text(const Result& result, const std::string& axis);

}  // namespace xferbench
