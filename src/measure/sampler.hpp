// The sampling loop: warm-up, interleaved rounds, and when to stop.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "measure/region.hpp"
#include "results/result.hpp"

namespace xferbench {

/// When to stop. `budget` counts from the start of the warm-up; min_samples are taken even beyond it.
struct SamplingPolicy {
  double ci = 0.01;     ///< wanted half-width of the median's 95% interval, relative to the median
  double budget = 3.0;  ///< seconds of the host's clock per case
  std::size_t min_samples = 10;
  std::size_t max_samples = 1000;
};

/// How far sampling has come; for a progress line.
struct SamplingProgress {
  std::size_t samples = 0;  ///< 0 while warming up
  std::optional<double> widest_half_width;
};
using SamplingObserver = std::function<void(const SamplingProgress&)>;

/// Everything sampled of one region.
struct Series {
  Measurement elapsed;                            ///< named like the region
  Measurement submit;                             ///< host time inside submit(), named "<region>-submit"
  std::vector<std::vector<double>> stream_times;  ///< per sample, if the region asked for it
  std::vector<Measurement> parts;                 ///< as the region names them
  /// Throws std::logic_error if there is no such part: a mistake in the scenario.
  [[nodiscard]] const Measurement& part(std::string_view name) const;
};

/// Samples all regions interleaved (A B C, C B A, A B C, ...), so that what drifts does so for all of them and ratios
/// between them stay fair. Stops early, with what it has, when interrupted() says so.
/// Throws MeasurementError when a gate times out again and again.
std::vector<Series> sample(Machine& machine, std::vector<Region> regions, const SamplingPolicy& policy,
                           const SamplingObserver& observe);

/// Whether the median of the last eight is within 1% of that of the eight before.
bool warm(std::span<const double> times);

}  // namespace xferbench
