#include "scenarios/scenarios.hpp"

// All scenarios, the default first. X(name) stands for `const Scenario& name_scenario()`, defined in a file of this
// folder.
#define XFERBENCH_SCENARIOS(X) \
  X(overlap)                   \
  X(memcpy)                    \
  X(p2p)                       \
  X(together)                  \
  X(multipath)                 \
  X(exchange)                  \
  X(async)                     \
  X(latency)                   \
  X(alloc)                     \
  X(staging)                   \
  X(scatter)                   \
  X(storage)                   \
  X(callback)                  \
  X(smem)                      \
  X(dynpar)

namespace xferbench {

#define XFERBENCH_DECLARE(name) const Scenario& name##_scenario();
XFERBENCH_SCENARIOS(XFERBENCH_DECLARE)

std::span<const Scenario* const> scenarios() {
#define XFERBENCH_ADDRESS(name) &name##_scenario(),
  static const std::array all{XFERBENCH_SCENARIOS(XFERBENCH_ADDRESS)};
  return all;
}

}  // namespace xferbench
