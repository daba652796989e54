// Statistics of copies by direction, memory and size, with this machine's limits for comparison.
#pragma once

#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "explain/program.hpp"

namespace xferbench::explain {

/// One entry per direction, host memory and size class of the copies; sorted by total time, longest first.
std::vector<Traffic> traffic_of(const Program& program, const Costs& costs);

/// At most `most` points: copies of one kind and size whose times differ by less than a tenth share a point.
std::vector<CopyPoint> cloud_of(const Program& program, std::size_t most);

}  // namespace xferbench::explain
