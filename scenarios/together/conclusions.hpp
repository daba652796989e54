// Not a scenario: what the results of together say in words: who shares what, how much it carries, whose memory is
// better.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "results/result.hpp"

namespace xferbench {

/// What one GPU's copies are called when nothing else runs, sampled in the same rounds; Measurement::gpu says whose.
inline constexpr const char* kAlone = "alone";

/// "0", "0 and 1", "0 to 3", "0, 2 and 4 to 7": numbers that follow each other, from three on, as a range.
std::string gpus_in_words(std::vector<int> numbers);

/// Findings of kind "shares" for every two GPUs; "bottleneck", which share one, where there are more than two;
/// "at-once", what all of a group reach that is part of no other; "memory", own against shared. All results are ok.
/// Pure. Throws InputError where one lacks its own time.
std::vector<Finding> conclude_together(std::span<const Result* const> results);

}  // namespace xferbench
