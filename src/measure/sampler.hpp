// The sampling loop: warm-up, interleaved rounds, stopping rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "measure/region.hpp"
#include "ranks/lockstep.hpp"
#include "results/result.hpp"

namespace xferbench {

/// Stopping rule. `budget` counts from the start of the warm-up; min_samples are taken even beyond it.
struct SamplingPolicy {
  double ci = 0.01;     ///< target: half-width of the median's 95% interval, relative to the median
  double budget = 3.0;  ///< seconds of host time per case
  std::size_t min_samples = 10;
  std::size_t max_samples = 1000;
};

/// Selects timed passes for a result check, because checks before and after sampling would miss errors in between.
struct PassChecks {
  /// One pseudo-random pass out of every hundred.
  static constexpr std::size_t kOneIn = 100;

  bool wanted = false;
  std::uint64_t seed = 0;

  /// Whether pass `pass` (from 1) of region number `region` is selected. The last pass is always checked as well, but
  /// it is not known in advance.
  [[nodiscard]] bool chosen(std::size_t region, std::size_t pass) const;
};

/// Sampling progress, for a progress line.
struct SamplingProgress {
  std::size_t samples = 0;  ///< 0 while warming up
  std::optional<double> widest_half_width;
};
using SamplingObserver = std::function<void(const SamplingProgress&)>;

struct Series {
  Measurement elapsed;                            ///< named like the region
  Measurement submit;                             ///< host time inside submit(), named "<region>-submit"
  std::vector<std::vector<double>> stream_times;  ///< per sample: end times of the streams, see Region::per_stream
  std::vector<Measurement> parts;                 ///< one for each of Region::parts, in that order
  Stop ended = Stop::budget;                      ///< reason why sampling of all regions together ended
  double ci = 0;                                  ///< target: relative half-width of the interval
  double checking = 0;                            ///< seconds spent on checks, which no sample includes
  std::vector<Lockstep::Moments> moments;         ///< start and end of each sample; only with a Lockstep
  /// Returns a part by its name and, if it exists once per GPU, the number of its GPU. Throws std::logic_error if there
  /// is no such part, which is a mistake in the scenario.
  [[nodiscard]] const Measurement& part(std::string_view name, std::optional<int> gpu = {}) const;
  /// Returns a part as a main measurement of the case, with the flags not-warm and throttled of the region.
  [[nodiscard]] Measurement main_part(std::string_view name) const;
};

/// Makes a further measurement from the passes of `series`, with one number per pass, its own statistics and stop
/// reason.
Measurement series_of_same_passes(const Series& series, std::string name, std::vector<double> samples);

/// For a region over several devices: median over the samples of the time between the first and the last device's
/// end, in seconds.
double skew_of(const Series& series);

/// A timed pass left a wrong result.
struct FailedCheck : VerificationError {
  FailedCheck(const std::string& what, std::size_t which, std::vector<Series> series)
      : VerificationError(what), region(which), sampled(std::move(series)) {}

  std::size_t region;           ///< index of the region among those sampled
  std::vector<Series> sampled;  ///< all samples up to and including the wrong pass
};

/// Samples all regions interleaved (A B C, C B A, A B C, ...), so that drift affects all of them and their ratios
/// stay fair. Returns early with what it has if interrupted(). Checks the results of the passes that `checks` selects
/// and of the last round, for regions that have a check. Returns one series per region, in order, followed by the
/// auxiliary series of Region::same_batch. With a `lockstep`, every pass starts together with those of other
/// processes that sample the same regions. All processes take the same number of passes, and a pass that is late or
/// fails in one process is repeated in all. Throws FailedCheck for a wrong result, MeasurementError if a gate times
/// out repeatedly.
std::vector<Series> sample(Machine& machine, std::vector<Region> regions, const SamplingPolicy& policy,
                           const SamplingObserver& observe, const PassChecks& checks = {},
                           Lockstep* lockstep = nullptr);

/// Warm-up criterion: the median of the last eight times is within 1% of the median of the eight before.
bool warm(std::span<const double> times);

}  // namespace xferbench
