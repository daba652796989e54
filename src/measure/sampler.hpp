// The sampling loop: warms up, takes samples of several regions alternately, and decides when to stop.
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

/// When to stop sampling. `budget` includes the warm-up. At least min_samples are taken, even beyond the budget.
struct SamplingPolicy {
  double ci = 0.01;     ///< target: half-width of the median's 95% interval, relative to the median
  double budget = 3.0;  ///< seconds of host time per case
  std::size_t min_samples = 10;
  std::size_t max_samples = 1000;
};

/// Selects the timed passes whose results are checked. Checks only before and after sampling would miss errors in
/// between.
struct PassChecks {
  /// One pseudo-random pass in each group of this many is checked.
  static constexpr std::size_t kOneIn = 100;

  bool wanted = false;
  std::uint64_t seed = 0;

  /// Whether pass `pass` (from 1) of region number `region` is selected. The last pass is always checked as well, but
  /// this function cannot select it, because it is not known in advance which pass is the last.
  [[nodiscard]] bool chosen(std::size_t region, std::size_t pass) const;
};

struct SamplingProgress {
  std::size_t samples = 0;  ///< number of samples of each region; 0 during the warm-up
  std::optional<double> widest_half_width;
};
using SamplingObserver = std::function<void(const SamplingProgress&)>;

struct Series {
  Measurement elapsed;  ///< duration of the region's passes, in seconds; has the region's name
  Measurement submit;   ///< host time inside submit(), named "REGION-submit"
  std::vector<std::vector<double>> stream_times;  ///< per sample: end time of each stream (Region::per_stream)
  std::vector<Measurement> parts;                 ///< one for each of Region::parts, in that order
  Stop ended = Stop::budget;                      ///< reason why sampling of all regions together ended
  double ci = 0;                                  ///< target for the interval's half-width, relative to the median
  double checking = 0;                            ///< seconds spent on checks; no sample includes them
  std::vector<Lockstep::Moments> moments;         ///< start and end of each sample; empty without a Lockstep
  /// Returns the part with this name, and for GPU number `gpu` if it is given. Throws std::logic_error if the series
  /// has no such part, which is a mistake in the scenario.
  [[nodiscard]] const Measurement& part(std::string_view name, std::optional<int> gpu = {}) const;
  /// Returns a copy of the part `name`, marked as a main (not auxiliary) measurement. If the region has the flags
  /// not-warm or throttled, the copy gets them too.
  [[nodiscard]] Measurement main_part(std::string_view name) const;
};

/// Makes another measurement from the passes of `series`: `samples` has one number per pass. The statistics, flags and
/// stop reason are computed from these samples.
Measurement series_of_same_passes(const Series& series, std::string name, std::vector<double> samples);

/// For a region that uses several devices: returns the time between the end of the first device and that of the last,
/// in seconds, as the median over the samples.
double skew_of(const Series& series);

/// Thrown when a timed pass left a wrong result.
struct FailedCheck : VerificationError {
  FailedCheck(const std::string& what, std::size_t which, std::vector<Series> series)
      : VerificationError(what), region(which), sampled(std::move(series)) {}

  std::size_t region;           ///< index of the region among those sampled
  std::vector<Series> sampled;  ///< all samples up to and including the wrong pass
};

/// Samples all regions alternately (A B C, C B A, A B C, ...), so that drift affects all of them equally and not their
/// ratios. Each such round takes one sample per region. After Ctrl-C, returns early with the samples so far. Checks the
/// results of the passes that `checks` selects and of the last round, for regions that have a check. Returns one series
/// per region, in order, followed by the auxiliary series of Region::same_batch. With a `lockstep`, every pass starts
/// together with those of other processes that sample the same regions. All processes take the same number of passes,
/// and a pass that is late or fails in one process is repeated in all. Throws FailedCheck for a wrong result,
/// MeasurementError if a gate times out repeatedly.
std::vector<Series> sample(Machine& machine, std::vector<Region> regions, const SamplingPolicy& policy,
                           const SamplingObserver& observe, const PassChecks& checks = {},
                           Lockstep* lockstep = nullptr);

/// Whether the warm-up can end: the median of the last eight times is within 1% of the median of the eight before.
bool warm(std::span<const double> times);

}  // namespace xferbench
