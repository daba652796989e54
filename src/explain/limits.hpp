// The measured limits of a machine, taken from results of the suite `limits`.
#pragma once

#include <string>
#include <vector>

#include "explain/costs.hpp"
#include "explain/explanation.hpp"
#include "results/result.hpp"

namespace xferbench::explain {

struct MachineLimits {
  Costs costs{};
  LimitTimes times{};                ///< measured times, the source of `costs`
  std::vector<LimitCurve> curves{};  ///< times of copies to and from the GPU, by size
  std::string of{};                  ///< source, for example "NVIDIA H200, driver 580.95.05, measured 2026-11-23"
  bool simulated = false;
  std::string uuid{};  ///< UUID of the measured GPU
};

/// Derives the limits from a report. Ignores cases that failed, were skipped or are of other scenarios. Costs that were
/// not measured keep their typical values; Costs::copy returns nothing for kinds of copies that were not measured.
MachineLimits limits_of(const Report& report);

/// Returns the seconds of a copy of this size. Interpolates between measured sizes. Above the largest size, assumes the
/// largest size's rate. Below the smallest size, returns the smallest size's time if that size is at most kSmallCopy,
/// else nothing.
std::optional<double> seconds_on(const LimitCurve& curve, std::uint64_t bytes);

}  // namespace xferbench::explain
