// What samples say. Pure functions of samples in run order; none removes or reorders what it is given.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/result.hpp"

namespace xferbench::statistics {

/// Of at least one sample; the mean of the middle two for an even number.
double median(std::span<const double> samples);

/// What the share `fraction` in [0, 1] of at least one sample does not exceed, interpolated linearly between order
/// statistics (type 7 of Hyndman and Fan): 0 is the minimum, 0.5 the median, 1 the maximum.
double percentile(std::span<const double> samples, double fraction);

/// Ranks (1-based, low and high) of the order statistics that enclose the median with at least 95% confidence:
/// the largest k with sum_{i<k} C(n,i) 2^-n <= 0.025. Nothing below six samples.
std::optional<std::pair<std::size_t, std::size_t>> median_ranks(std::size_t n);

/// The median's 95% interval by those ranks; makes no assumption about the distribution but independence.
std::optional<Interval> median_interval(std::span<const double> samples);

/// median_interval, widened by sqrt(n / n_eff) where neighbouring samples are correlated: dependent samples say less
/// than their number. This is the interval that is reported and that decides when to stop.
std::optional<Interval> autocorrelation_adjusted_ci(std::span<const double> samples);

/// Correlation of each sample with the next; 0 for fewer than three samples or constant ones.
double autocorrelation(std::span<const double> samples);
/// Correlation beyond what independent samples would show in 95 of 100 runs.
bool autocorrelated(std::span<const double> samples);

struct Outliers {
  std::size_t mild = 0;    ///< beyond 1.5 interquartile ranges, not severe
  std::size_t severe = 0;  ///< beyond 3
};
/// By Tukey's fences, quartiles interpolated linearly (type 7); nothing within 0.1% of the median of a quartile counts.
Outliers outliers(std::span<const double> samples);

/// The first sample lies above the severe fence of the others: something was not warm.
bool slow_first(std::span<const double> samples);

/// The last third's median differs from the first third's by more than 1% and by more than the interval's width.
bool drifting(std::span<const double> samples);

/// Two clusters, each at least a fifth of the samples, further apart than both are wide, by more than 2%.
bool bimodal(std::span<const double> samples);

/// Fills in everything that follows from `measurement.samples`: minimum, median, maximum, interval (widened where the
/// samples are autocorrelated), percentiles that the samples are enough for, outliers, and flags.
void summarise(Measurement& measurement);

/// Puts the samples of `more`, taken later of the same thing, behind those of `all`, whose statistics become those of
/// all samples. What was said of the machine at any time stays said.
void append(Measurement& all, const Measurement& more);

/// Numbers of samples at which to look at the interval. Few and fixed, because each further look is another chance to
/// stop on a fluke: 10, 20, 30, then half as many again each time; `min` and `max` bound them and are looked at.
std::vector<std::size_t> check_points(std::size_t min, std::size_t max);

}  // namespace xferbench::statistics
