// Statistics of the difference between two samples. Pure functions; the files of src/compare/ say what is compared,
// docs/lab/compare.md why it is done like this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "results/result.hpp"

namespace xferbench::compare {

struct Sample {
  std::vector<double> sorted;
  double effective_size = 0;  ///< number of independent samples with as much information; at most the real number
};

/// Makes a sample from values in run order. If they are flagged as autocorrelated, the effective size is n (1 - r) / (1
/// + r), where r is the correlation of neighbours.
Sample sample_of(std::span<const double> in_run_order);

/// The factor by which dependence widens the spread of rank statistics: 1 for independent samples.
double inflation(const Sample& base, const Sample& next);

/// The p-values adjusted by Holm for all tests together, in the order given, each 1 at most. Adjusted values up to 0.05
/// are significant, and the chance of any false one among all stays below 5 %.
std::vector<double> holm(std::span<const double> p_values);

/// The least p that a two-sided rank test can give for samples of these sizes: 2 / C(n + m, n).
double least_p(std::size_t n, std::size_t m);

/// The Mann-Whitney (Wilcoxon rank sum) test. Caches the exact distributions, so that thousands of cases cost little;
/// not to be shared between threads.
class MannWhitney {
 public:
  /// The two-sided p-value. Exact if both samples are smaller than 50, independent and without ties; else by the normal
  /// distribution with corrections for ties and continuity, and never below least_p().
  double p_value(const Sample& base, const Sample& next);

  /// The rank k (from 1) of the pairwise ratio, counted from either end, at which the 95 % interval ends. The interval
  /// holds the ratios that the test does not reject. nullopt if there are too few samples for such an interval.
  std::optional<std::size_t> interval_rank(std::size_t n, std::size_t m, double inflated);

 private:
  /// P(U <= u) for u = 0 ... n m, of samples without ties.
  const std::vector<double>& distribution(std::size_t n, std::size_t m);

  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> distributions_;
};

/// The pairwise ratios next/base that have these ranks (from 1, ascending). Stores up to 1024 pairs; for more it
/// bisects and counts. All samples must be above 0 and no ratio beyond what a double holds.
std::vector<double> ratios_of_ranks(std::span<const double> sorted_base, std::span<const double> sorted_next,
                                    std::span<const std::uint64_t> ranks);

/// The estimated difference of two samples.
struct Estimate {
  double ratio = 1;                  ///< next / base
  std::optional<Interval> interval;  ///< 95 % confidence interval; absent if there are too few samples
};

/// The Hodges-Lehmann estimate: the median of all pairwise ratios, with the interval of the ratios that the
/// Mann-Whitney test does not reject. nullopt if a sample is not above 0, or the ratios are beyond what a double holds.
std::optional<Estimate> shift(MannWhitney& test, const Sample& base, const Sample& next);

/// The ratio of the medians, with a percentile interval of 10,000 resamples; the same for the same seed. Resampling
/// ignores dependence between samples, so the interval is widened by inflation(), as that of shift() is, on the scale
/// of logarithms. nullopt where shift() has none; no interval below two samples a side.
std::optional<Estimate> bootstrap(const Sample& base, const Sample& next, std::uint64_t seed);

// --- Spread between processes, of all cases of a suite together ------------------------------------------------------

/// The variance of the logarithms of processes' medians, around the middle of each side, and its degrees of freedom,
/// above 0.
struct ObservedVariance {
  double value = 0;
  double freedom = 0;
};

/// The spread to expect of a case before its own numbers are looked at, from all cases, which show more than its own
/// few values (docs/compare.md, "How a case is judged"). Empirical Bayes, as in G. K. Smyth's moderated t (2004): the
/// cases' variances are taken to be drawn from a scaled inverse chi-squared distribution. Its scale is the value. Its
/// degrees of freedom are few if the spreads of the cases differ much. nullopt with fewer than five cases, or fewer
/// than 30 degrees of freedom in all.
std::optional<ObservedVariance> pooled(std::span<const ObservedVariance> cases);

}  // namespace xferbench::compare
