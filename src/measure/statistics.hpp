// Statistics of samples. Pure functions; samples are in run order and never modified.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "results/result.hpp"

namespace xferbench::statistics {

/// Median of at least one sample; the mean of the middle two for an even number.
double median(std::span<const double> samples);

/// Percentile of at least one sample for `fraction` in [0, 1], interpolated linearly (type 7 of Hyndman and Fan): 0
/// is the minimum, 0.5 the median, 1 the maximum.
double percentile(std::span<const double> samples, double fraction);

/// Returns the ranks (1-based, low and high) of the sorted samples that enclose the median with at least 95%
/// confidence: the largest k with sum_{i<k} C(n,i) 2^-n <= 0.025. Returns nothing for fewer than six samples.
std::optional<std::pair<std::size_t, std::size_t>> median_ranks(std::size_t n);

/// The median's 95% confidence interval from median_ranks(). Distribution-free; assumes independent samples.
std::optional<Interval> median_interval(std::span<const double> samples);

/// The median's 95% confidence interval for autocorrelated samples: the interval for n / widening(samples)^2
/// independent samples, extended to cover the interval computed from the medians of the series' thirds. Reports show
/// this interval, and it decides when sampling stops. Its measured coverage is in tests/verdicts/interval_coverage.cpp.
std::optional<Interval> autocorrelation_adjusted_ci(std::span<const double> samples);

/// Returns the factor by which autocorrelation widens the median's interval, sqrt(n / n_eff) = sqrt(1 + 2 sum of
/// rho_k). rho_k is the lag-k autocorrelation of the sign relative to the median, which determines the median's
/// variance and is robust against outliers. The sum ends at the first pair of neighbouring rho_k whose sum is not
/// positive (Geyer's initial positive sequence). The result is at least kLeastWidening.
double widening(std::span<const double> samples);
/// Lower limit of widening(), because short series underestimate their autocorrelation. Derived from data of an H200.
inline constexpr double kLeastWidening = 1.25;

/// Whether a measurement has reached its target: the interval's relative half-width is at most `ci`, the first sample
/// is no outlier, and the series does not drift.
bool settled(std::span<const double> samples, double ci);
/// Returns the stop reason of one measurement when all sampling has ended with reason `all`. It is Stop::ci if and only
/// if this measurement has settled().
Stop stop_of(std::span<const double> samples, double ci, Stop all);
/// Returns how many samples are needed for a half-width of `ci`, if `samples` samples give `width`. Assumes that the
/// width is inversely proportional to the square root of the number of samples. Infinite for a `ci` of 0.
double samples_for(double ci, double samples, double width);
/// Half the interval's width, divided by the median; nothing if there are too few samples for an interval.
std::optional<double> half_width(std::span<const double> samples);

/// 95% confidence interval of a number derived from several series sampled in the same rounds, such as a ratio of
/// medians. Circular block bootstrap over rounds (blocks of n^(1/3), 1000 draws, fixed seed): blocks preserve slow
/// drift, and effects common to all series cancel. `number_of` gets the drawn round indices, with repetitions.
/// Calls `given_up` before each draw. Returns nothing if `given_up` returns true, or for fewer than six rounds.
std::optional<Interval> interval_over_rounds(std::size_t rounds, const std::function<bool()>& given_up,
                                             const std::function<double(std::span<const std::size_t>)>& number_of);

/// Lag-1 autocorrelation; 0 for fewer than three samples or if all samples are equal.
double autocorrelation(std::span<const double> samples);
/// Whether the lag-1 autocorrelation is larger than in 97.5 % of series of independent samples.
bool autocorrelated(std::span<const double> samples);

struct Outliers {
  std::size_t mild = 0;    ///< number of samples beyond 1.5 interquartile ranges, but not beyond 3
  std::size_t severe = 0;  ///< number of samples beyond 3 interquartile ranges
};
/// Counts outliers by Tukey's fences, with linearly interpolated quartiles (type 7). Samples closer to a quartile than
/// 0.1% of the median do not count.
Outliers outliers(std::span<const double> samples);

/// Whether the first sample lies above the severe fence of the others, which indicates missing warm-up.
bool slow_first(std::span<const double> samples);

/// Whether the medians of the first and last third differ by more than both 1% and the width of median_interval().
bool drifting(std::span<const double> samples);

/// Whether the samples form two clusters, each of at least a fifth of the samples, separated by more than either
/// cluster's width and by more than 2% of the median.
bool bimodal(std::span<const double> samples);

/// Computes all fields that follow from `measurement.samples`: minimum, median, maximum, interval (adjusted for
/// autocorrelation), percentiles if there are enough samples, outliers, and flags.
void summarise(Measurement& measurement);

/// Appends the later samples of `more` to `all` and recomputes statistics. Keeps flags that describe the machine.
/// Throws std::logic_error if the batches differ, because a mean of n passes includes 1/n of the fixed start cost.
void append(Measurement& all, const Measurement& more);

/// Returns the sample counts at which to evaluate the interval: `min`, `max`, and between them the members of the
/// sequence 10, 20, 30, 45, 68, ... (factor 1.5). The counts are few and fixed, because each evaluation is another
/// chance to stop on a narrow interval by accident.
std::vector<std::size_t> check_points(std::size_t min, std::size_t max);

}  // namespace xferbench::statistics
