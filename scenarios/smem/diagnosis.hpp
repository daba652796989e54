// Not a scenario: what the results of smem say together. Pure.
#pragma once

#include <span>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// The best of each method as rows of kind "best", the fastest of all methods as a sentence of kind "winner", and for
/// results that differ only in their stages one of kind "stages": how many are enough, beside what Little's law asks
/// for.
std::vector<Finding> diagnose_smem(std::span<const Result* const> results);

}  // namespace xferbench
