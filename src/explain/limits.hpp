// What a machine can do, from results of the suite `limits`.
#pragma once

#include <string>
#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "results/result.hpp"

namespace xferbench::explain {

struct MachineLimits {
  Costs costs{};
  LimitTimes times{};                ///< of which the costs are made, as far as they are known
  std::vector<LimitCurve> curves{};  ///< copies to and from the GPU, by size
  std::string of{};                  ///< "NVIDIA H200, driver 580.95.05, measured 2026-11-23"
  bool simulated = false;
  std::string uuid{};  ///< of the GPU
};

/// Cases that failed, were skipped or are of other scenarios are left out; what nothing was measured of keeps its usual
/// cost, and copies of which nothing was measured have none.
MachineLimits limits_of(const Report& report);

/// The time of a copy of that size, between measured ones in proportion of logarithms, below all of them as the
/// smallest where that is small (kSmallCopy), above at the rate of the largest; else nothing.
std::optional<double> seconds_on(const LimitCurve& curve, std::uint64_t bytes);

}  // namespace xferbench::explain
