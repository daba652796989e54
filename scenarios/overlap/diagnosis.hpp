// Not a scenario: what the results of overlap say in words: which is the fastest, where its time went, what to try.
#pragma once

#include <span>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// Of cases that do the same work, the fastest, the parts of its makespan, and a suggestion where there is one. All of
/// them are ok. Pure.
std::vector<Finding> diagnose(std::span<const Result* const> results);

}  // namespace xferbench
