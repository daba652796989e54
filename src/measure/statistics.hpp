// What samples say. Pure functions of samples in run order; none removes or reorders what it is given.
#pragma once

#include <cstddef>
#include <functional>
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

/// The same for samples that depend on each other, however far apart, and so say less than their number: n counts as
/// n / widening(samples)^2, and the interval holds whatever the medians of the series' thirds say of its level, too.
/// This is the interval that is reported and that decides when to stop. How often it holds what longer series come to:
/// tests/verdicts/interval_coverage.cpp.
std::optional<Interval> autocorrelation_adjusted_ci(std::span<const double> samples);

/// sqrt(n / n_eff) for the median of samples that depend on each other: sqrt(1 + 2 sum of rho_k), where rho_k is the
/// correlation, k samples apart, of being above or below the median. That is what a median's variance depends on, and
/// no outlier hides it. The sum ends where two neighbouring rho_k first have no sum above 0 (Geyer's initial positive
/// sequence). Never less than kLeastWidening.
double widening(std::span<const double> samples);
/// Short series hide what they depend on: those that are stored of an H200 need this much more than they show.
inline constexpr double kLeastWidening = 1.25;

/// Whether sampling may stop: the interval's half-width is within the share `ci` of the median, and neither was the
/// series slow at first nor does it drift.
bool settled(std::span<const double> samples, double ci);
/// Why sampling of one thing ended, where that of all that is sampled together ended for that reason: whoever has
/// settled says so itself, and nobody else does.
Stop stop_of(std::span<const double> samples, double ci, Stop all);
/// How many samples an interval of half-width `ci` takes, where so many have one of `width`: it shrinks as the root of
/// their number. Infinite for a `ci` of 0.
double samples_for(double ci, double samples, double width);
/// Half the interval over the median; nothing where there is no interval.
std::optional<double> half_width(std::span<const double> samples);

/// 95% interval of a number that follows from several series whose samples were taken in the same rounds, as a ratio of
/// their medians does: the rounds are drawn anew in blocks of neighbours, so that what moves slowly stays together, and
/// what moves all series alike cancels (block bootstrap, circular, blocks of n^(1/3), 1000 draws from a fixed seed).
/// `number_of` gets the rounds, by their places, of which some stand there several times. Nothing below six rounds, and
/// where `given_up` says, before one of the draws, that nobody waits for it any more.
std::optional<Interval> interval_over_rounds(std::size_t rounds, const std::function<bool()>& given_up,
                                             const std::function<double(std::span<const std::size_t>)>& number_of);

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
/// all samples. What was said of the machine at any time stays said. Throws std::logic_error where samples of the two
/// are of different numbers of repetitions, which have different parts of what a pass takes by itself.
void append(Measurement& all, const Measurement& more);

/// Numbers of samples at which to look at the interval. Few and fixed, because each further look is another chance to
/// stop on a fluke: 10, 20, 30, then half as many again each time; `min` and `max` bound them and are looked at.
std::vector<std::size_t> check_points(std::size_t min, std::size_t max);

}  // namespace xferbench::statistics
