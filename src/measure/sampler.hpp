// The sampling loop: warm-up, interleaved rounds, and when to stop.
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
#include "ranks/pace.hpp"
#include "results/result.hpp"

namespace xferbench {

/// When to stop. `budget` counts from the start of the warm-up; min_samples are taken even beyond it.
struct SamplingPolicy {
  double ci = 0.01;     ///< wanted half-width of the median's 95% interval, relative to the median
  double budget = 3.0;  ///< seconds of the host's clock per case
  std::size_t min_samples = 10;
  std::size_t max_samples = 1000;
};

/// Which timed passes are checked: what checks before and after the samples would miss is what goes wrong in between.
struct PassChecks {
  /// One pass out of so many, whichever the seed says: spread over a long run, and in step with nothing.
  static constexpr std::size_t kOneIn = 100;

  bool wanted = false;
  std::uint64_t seed = 0;

  /// Whether pass number `pass` (from 1) of region number `region` is one of them. The last pass is, too, but is not
  /// known here.
  [[nodiscard]] bool chosen(std::size_t region, std::size_t pass) const;
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
  Stop ended = Stop::budget;                      ///< why all that was sampled together ended
  double ci = 0;                                  ///< what was asked for
  double checking = 0;                            ///< seconds that went into checks, which are in no sample
  std::vector<Pace::Moments> moments;             ///< of each sample, where passes keep in step with other processes'
  /// Throws std::logic_error if there is no such part: a mistake in the scenario. `gpu`: of the GPU of that number.
  [[nodiscard]] const Measurement& part(std::string_view name, std::optional<int> gpu = {}) const;
  /// A part that is what the case is about. What is wrong with the region's passes is wrong with it.
  [[nodiscard]] Measurement main_part(std::string_view name) const;
};

/// What else the passes of a region say, a number for each: a measurement of its own, which may have settled where the
/// region's time has not, or the other way round.
Measurement of_same_passes(const Series& series, std::string name, std::vector<double> samples);

/// Of a region over several devices: median over the samples of what lies between the first one's end and the last
/// one's, in seconds.
double skew_of(const Series& series);

/// What a timed pass left behind is wrong.
struct FailedCheck : VerificationError {
  FailedCheck(const std::string& what, std::size_t which, std::vector<Series> series)
      : VerificationError(what), region(which), sampled(std::move(series)) {}

  std::size_t region;           ///< which of those that were sampled together
  std::vector<Series> sampled;  ///< up to the pass that was wrong, with it
};

/// Samples all regions interleaved (A B C, C B A, A B C, ...), so that what drifts does so for all of them and ratios
/// between them stay fair. Stops early, with what it has, when interrupted() says so. Checks the outputs of those
/// passes that `checks` chooses and of the last round, where regions can be checked. One series for each region, in
/// their order; behind them what Region::repeated_alike asks for, as auxiliary measurements.
/// With a `pace`, every pass starts together with those of other processes, which sample the same regions: all take the
/// same number of passes, and a pass that was not good for all of them is repeated.
/// Throws FailedCheck where one is wrong, MeasurementError when a gate times out again and again.
std::vector<Series> sample(Machine& machine, std::vector<Region> regions, const SamplingPolicy& policy,
                           const SamplingObserver& observe, const PassChecks& checks = {}, Pace* pace = nullptr);

/// Whether the median of the last eight is within 1% of that of the eight before.
bool warm(std::span<const double> times);

}  // namespace xferbench
