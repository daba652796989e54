// Finds outliers in a group of peers, such as one link among links of its kind or one GPU among its siblings. Pure
// functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/relation.hpp"

namespace xferbench::model {

/// Deviations from the group's median below this fraction are not outliers.
inline constexpr double kOutlierMargin = 0.05;

/// Returns the indices of the members that certainly deviate from the group's median: by more than the margin, and with
/// their whole interval on one side of the median. Members without an interval are never outliers. Returns none for
/// fewer than three members, because then it is unknown which member is the outlier.
std::vector<std::size_t> group_outliers(std::span<const Estimate> group);

}  // namespace xferbench::model
