// Ways of copying set against each other over the sizes that they have in common. Pure functions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "results/result.hpp"
#include "run/findings.hpp"

namespace xferbench {

/// Of paths that differ only in `axis`: of two, a sentence of kind "crossover" or "winner". Of more, a sentence of kind
/// "classes" that puts those between which no difference was found beside each other and says how the others differ
/// from them; and, as its details, those sentences on each with the first of them, and with its neighbour if the two
/// differ at most sizes.
std::vector<Finding> comparisons(std::span<const Path> paths, std::string_view axis);

}  // namespace xferbench
