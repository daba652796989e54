// Not a scenario: what the results of p2p say together. Pure functions.
#pragma once

#include <span>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// Of results that are ok. Throws InputError or std::out_of_range for one that lacks what every such result has, as
/// only a file's can.
std::vector<Finding> p2p_findings(std::span<const Result* const> results);

}  // namespace xferbench
