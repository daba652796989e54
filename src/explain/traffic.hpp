// Statistics of copies by direction, memory and size, with this machine's limits for comparison.
#pragma once

#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "explain/program.hpp"

namespace xferbench::explain {

/// Returns an entry for each direction, host memory and size class of the copies, sorted by total time, longest first.
std::vector<Traffic> traffic_of(const Program& program, const Costs& costs);

/// Returns the points of the scatter plot. Copies of one kind and size whose durations differ by less than 10 % share a
/// point. If there are more than `most` points, drops the points that stand for the fewest copies.
std::vector<CopyPoint> cloud_of(const Program& program, std::size_t most);

}  // namespace xferbench::explain
