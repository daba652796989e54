// Which of a group that should be alike is not: a link among others of its kind, a GPU among its siblings. Pure
// functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/relation.hpp"

namespace xferbench::model {

/// What is closer to the median of its group, as a share of that, is like the others.
inline constexpr double kOddMargin = 0.05;

/// The places of those that differ from the median of their group by more than the margin, beyond doubt: their whole
/// interval lies on that side of it, and one without an interval is not among them. Of fewer than three nobody can say
/// which it is that differs.
std::vector<std::size_t> odd_ones(std::span<const Estimate> group);

}  // namespace xferbench::model
