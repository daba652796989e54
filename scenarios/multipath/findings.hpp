// Not a scenario: what the results of multipath say in words. Pure functions.
#pragma once

#include <span>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// Findings of kind "multipath" for each result, what it gains and what that costs; "helpers", with how few it is as
/// fast as with more. All results are ok. Throws InputError where one lacks its own time, as only a file's can.
std::vector<Finding> multipath_findings(std::span<const Result* const> results);

}  // namespace xferbench
