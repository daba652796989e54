// Statistics of the difference between two samples. Pure functions; docs/lab/compare.md gives the reasons.
#pragma once

#include <cstdint>

#include "results/result.hpp"

namespace xferbench::compare {

struct Sample {
  std::vector<double> sorted;
  /// number of independent samples that would contain as much information; at most the real number
  double effective_size = 0;
};

/// Makes a sample from values in run order. If they are flagged as autocorrelated, the effective size is n (1 - r) / (1
/// + r), where r is the correlation of neighbours.
Sample sample_of(std::span<const double> in_run_order);

/// Returns the factor by which dependence between samples widens the distribution of rank statistics: 1 if independent.
double inflation(const Sample& base, const Sample& next);

/// Returns the p-values in the given order, adjusted by Holm's method for the number of tests. If adjusted values up to
/// 0.05 count as significant, the probability of at least one false positive is at most 5 %.
std::vector<double> holm(std::span<const double> p_values);

/// Returns the smallest p-value that a two-sided rank test can give for samples of these sizes: 2 / C(n + m, n).
double least_p(std::size_t n, std::size_t m);

/// The Mann-Whitney (Wilcoxon rank sum) test. Caches exact distributions, so that thousands of cases are tested
/// quickly; an object must not be shared between threads.
class MannWhitney {
 public:
  /// Returns the two-sided p-value. It is exact if both samples are smaller than 50, independent and without ties.
  /// Otherwise it uses the normal distribution, corrected for ties and continuity, and is never below least_p().
  double p_value(const Sample& base, const Sample& next);

  /// Returns the rank k (from 1) of the pairwise ratio, counted from either end, at which the 95 % interval ends. The
  /// interval contains the ratios that the test does not reject. nullopt if there are too few samples.
  std::optional<std::size_t> interval_rank(std::size_t n, std::size_t m, double inflated);

 private:
  /// Returns P(U <= u) for u = 0 ... n m, for samples without ties.
  const std::vector<double>& distribution(std::size_t n, std::size_t m);

  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> distributions_;
};

/// Returns the pairwise ratios next/base that have these ranks (from 1, ascending). Up to 1024 ratios are stored; more
/// are found by bisection and counting. All samples must be above 0 and all ratios representable as doubles.
std::vector<double> ratios_of_ranks(std::span<const double> sorted_base, std::span<const double> sorted_next,
                                    std::span<const std::uint64_t> ranks);

/// The estimated difference of two samples.
struct Estimate {
  double ratio = 1;                  ///< next / base
  std::optional<Interval> interval;  ///< 95 % confidence interval; absent if there are too few samples
};

/// Returns the Hodges-Lehmann estimate: the median of all pairwise ratios, with the interval of the ratios that the
/// Mann-Whitney test does not reject. nullopt if a sample is not above 0 or a ratio does not fit in a double.
std::optional<Estimate> shift(MannWhitney& test, const Sample& base, const Sample& next);

/// Returns the ratio of the medians, with a percentile interval of 10,000 resamples, which is the same for the same
/// seed. Resampling ignores dependence between samples, so the interval is widened by inflation() on a logarithmic
/// scale. nullopt in the same cases as shift(); no interval with fewer than two samples a side.
std::optional<Estimate> bootstrap(const Sample& base, const Sample& next, std::uint64_t seed);

/// The variance of the logarithms of the processes' medians around the mean of their side. `freedom` is above 0.
struct ObservedVariance {
  double value = 0;
  double freedom = 0;
};

/// Estimates the spread between processes from all cases together, because a single case has only a few values
/// (docs/compare.md, "How a case is judged"). Uses empirical Bayes as in G. K. Smyth's moderated t (2004): the
/// variances of the cases are assumed to be drawn from a scaled inverse chi-squared distribution. `value` is the scale
/// of that distribution. The degrees of freedom are few if the spreads of the cases differ much. nullopt with fewer
/// than five cases, or fewer than 30 degrees of freedom in total.
std::optional<ObservedVariance> pooled(std::span<const ObservedVariance> cases);

}  // namespace xferbench::compare
