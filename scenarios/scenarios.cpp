#include "scenarios/scenarios.hpp"

#include <array>

namespace xferbench {

const Scenario& overlap_scenario();
const Scenario& memcpy_scenario();

std::span<const Scenario* const> scenarios() {
  static const std::array all{
      &overlap_scenario(),
      &memcpy_scenario(),
  };
  return all;
}

}  // namespace xferbench
