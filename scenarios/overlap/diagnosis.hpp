// Not a scenario: what the results of overlap say in words: which is the fastest, where its time went, what to try.
#pragma once

#include <span>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// Of cases that do the same work, who is ahead where there are several, whether plain serial is as fast, the parts of
/// the makespan of the fastest that the model covers, and a suggestion where it promises more than is unexplained. All
/// of them are ok. Pure.
std::vector<Finding> diagnose(std::span<const Result* const> results);

}  // namespace xferbench
