// How sure one can be that two samples differ, and by how much. Pure functions; the files of src/compare/ say what is
// compared, docs/lab/compare.md why it is done like this.
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

/// A sample as comparisons need it: sorted, and how much its dependence on itself takes from it.
struct Sample {
  std::vector<double> sorted;
  double effective_size = 0;  ///< how many independent samples say as much; never more than there are
};

/// Of samples in run order. Where they are flagged as autocorrelated, their effective size is n (1 - r) / (1 + r) with
/// the correlation r of neighbours.
Sample sample_of(std::span<const double> in_run_order);

/// The factor by which dependence widens the spread of rank statistics: 1 for independent samples.
double inflation(const Sample& base, const Sample& next);

/// Adjusted by Holm for all being looked at together, in the order given; each 1 at most. One that is at most 0.05 is
/// significant while the chance of any false one among all stays below 5 %.
std::vector<double> holm(std::span<const double> p_values);

/// The least p that a two-sided rank test can give for samples of these sizes: 2 / C(n + m, n).
double least_p(std::size_t n, std::size_t m);

/// The Mann-Whitney (Wilcoxon rank sum) test. Keeps the exact distributions that it has computed, so that thousands of
/// cases cost little; not to be shared between threads.
class MannWhitney {
 public:
  /// Two-sided. Exact where both samples are smaller than 50, independent and without ties; else by the normal
  /// distribution with corrections for ties and continuity, and never below what is possible at all (least_p).
  double p_value(const Sample& base, const Sample& next);

  /// The rank k (from 1) of the pairwise ratio, counted from either end, at which the 95 % interval ends: what lies
  /// between is what the test does not reject. Nothing if there are too few samples for such an interval.
  std::optional<std::size_t> interval_rank(std::size_t n, std::size_t m, double inflated);

 private:
  /// P(U <= u) for u = 0 ... n m, of samples without ties.
  const std::vector<double>& distribution(std::size_t n, std::size_t m);

  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> distributions_;
};

/// Those of all pairwise ratios next/base that have these ranks (from 1, ascending). Holds no more than a few thousand
/// pairs: for more it counts. All samples must be above 0 and no ratio beyond what a double holds.
std::vector<double> ratios_of_ranks(std::span<const double> sorted_base, std::span<const double> sorted_next,
                                    std::span<const std::uint64_t> ranks);

/// By how much two samples differ.
struct Estimate {
  double ratio = 1;                  ///< next / base
  std::optional<Interval> interval;  ///< 95 %; absent where there are too few samples
};

/// Of Hodges and Lehmann: the median of all pairwise ratios, with the interval of the ratios that the Mann-Whitney test
/// does not reject. Nothing if a sample is not above 0, or the ratios are beyond what a double holds.
std::optional<Estimate> shift(MannWhitney& test, const Sample& base, const Sample& next);

/// The ratio of the medians, with a percentile interval of 10,000 resamples; the same for the same seed. Resampling
/// knows nothing of dependence between samples, so the interval is widened by inflation(), as that of shift() is, on
/// the scale of logarithms. Nothing where shift() says nothing; no interval below two samples a side.
std::optional<Estimate> bootstrap(const Sample& base, const Sample& next, std::uint64_t seed);

// --- How far apart processes lie in all cases of a suite together ----------------------------------------------------

/// The variance of the logarithms of processes' medians, each side around its own middle, and its degrees of freedom,
/// above 0.
struct SeenVariance {
  double value = 0;
  double freedom = 0;
};

/// What to expect of a case before it is looked at, by what all of them show, which is more than its own few values do
/// (docs/compare.md, "How a case is judged"): their variances are taken to be drawn from a scaled inverse chi-squared
/// distribution (empirical Bayes, as G. K. Smyth's moderated t, 2004), whose scale is the value and whose degrees of
/// freedom say how alike the cases are: few where their spreads differ much. Nothing of fewer than five cases, nor of 30
/// degrees of freedom in all.
std::optional<SeenVariance> pooled(std::span<const SeenVariance> cases);

}  // namespace xferbench::compare
