// How far apart processes lie in all cases of a suite together, which says more of each case than its own few values
// do. Pure functions; docs/lab/compare.md, "How a case is judged".
#pragma once

#include <optional>
#include <span>

namespace xferbench::compare {

/// The variance of the logarithms of processes' medians, each side around its own middle, and its degrees of freedom,
/// above 0.
struct SeenVariance {
  double value = 0;
  double freedom = 0;
};

/// What to expect of a case before it is looked at, by what all of them show: their variances are taken to be drawn
/// from a scaled inverse chi-squared distribution (empirical Bayes, as G. K. Smyth's moderated t, 2004), whose scale is
/// the value and whose degrees of freedom say how alike the cases are: few where their spreads differ much. Nothing
/// of fewer than five cases, nor of 30 degrees of freedom in all.
std::optional<SeenVariance> pooled(std::span<const SeenVariance> cases);

}  // namespace xferbench::compare
