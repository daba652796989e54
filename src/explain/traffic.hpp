// Copies by direction, memory and size, beside what the machine takes for them.
#pragma once

#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "explain/program.hpp"

namespace xferbench::explain {

/// Those whose times together are longest first.
std::vector<Traffic> traffic_of(const Program& program, const Costs& costs);

/// At most so many points: copies of one kind and size whose times differ by less than a tenth are one.
std::vector<CopyPoint> cloud_of(const Program& program, std::size_t most);

}  // namespace xferbench::explain
