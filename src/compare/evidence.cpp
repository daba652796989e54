#include "compare/evidence.hpp"

#include <algorithm>
#include <cmath>

#include "compare/spreads.hpp"
#include "core/lists.hpp"

#include "measure/statistics.hpp"
#include "model/student.hpp"

namespace xferbench::compare {

namespace {

using Numbers = std::span<const ProcessNumber>;

constexpr std::size_t kEnoughForRanks = 4;  // fewest processes per side for which a rank test is used
// probability that the true value lies outside a 95 % interval, either below or above
constexpr double kInterval = 0.05;
// 95 % of normally distributed errors are smaller in absolute value than this many standard deviations
constexpr double kNormal95 = 1.959963984540054;
constexpr double kFreedomOfDrift = 4;  // degrees of freedom of of_drift(); few, because a drift need not be linear

double square(double x) { return x * x; }

struct Variance {
  double value = 0;
  double freedom = 0;  ///< degrees of freedom; 0: the variance is exact
};

/// Returns the sum of independent variances. Its degrees of freedom follow from the Welch-Satterthwaite equation.
Variance sum(std::initializer_list<Variance> parts) {
  Variance total;
  double doubt = 0;
  for (const Variance& part : parts) {
    total.value += part.value;
    if (part.freedom > 0) doubt += square(part.value) / part.freedom;
  }
  total.freedom = doubt > 0 ? square(total.value) / doubt : 0;
  return total;
}

double freedom_of(const Sample& sample) { return std::max(1.0, sample.effective_size - 1); }

/// Returns the variance between processes that drift causes: the median of a process depends on when its run ends.
Variance of_drift(const ProcessNumber& number) { return {square(number.drift), kFreedomOfDrift}; }

/// Returns the variance of the expected spread for one side. Both sides use the same spread, so each gets half of its
/// degrees of freedom.
Variance of_spread(const PriorSpread& before) { return {square(before.spread), before.degrees_of_freedom / 2}; }

/// Returns the variance of the logarithm of a process's median, as the samples and the drift within each process
/// suggest. The variance is averaged over the processes.
Variance own_variance(Numbers numbers) {
  Variance mean;
  for (const ProcessNumber& n : numbers) {
    const Variance one = sum({{square(n.error.value_or(0)), freedom_of(n.sample)}, of_drift(n)});
    mean.value += one.value / static_cast<double>(numbers.size());
    mean.freedom += one.freedom;
  }
  return mean;
}

std::vector<double> medians_of(Numbers numbers) { return list_of(numbers, &ProcessNumber::median); }

double mean_log(Numbers numbers) {
  const double sum = total_of(numbers, [](const ProcessNumber& n) { return std::log(n.median); });
  return sum / static_cast<double>(numbers.size());
}

/// Returns the variance of one process's number: the mean, weighted by degrees of freedom, of the variance between the
/// given processes and the expected variance. Both are at least own_variance().
Variance process_variance(Numbers numbers, const PriorSpread& before) {
  const Variance own = own_variance(numbers);
  const Variance spread = of_spread(before);
  const Variance expected =
      before.of_medians ? Variance{std::max(spread.value, own.value), spread.freedom} : sum({spread, own});
  if (numbers.size() == 1) return expected;
  const double shown = std::max(log_variance(medians_of(numbers)), own.value);
  const double weight_shown = static_cast<double>(numbers.size() - 1);
  const double weight_before = before.degrees_of_freedom / 2;
  const double freedom = weight_shown + weight_before;
  return {(weight_before * expected.value + weight_shown * shown) / freedom, freedom};
}

/// Fits a straight line to the logarithms of the samples in run order. Returns the change along this line if the
/// change is significant or the samples are flagged as drifting; else 0.
double drift_of(std::span<const double> samples) {
  constexpr std::size_t kFewest = 6;    // with fewer samples, a line may fit by chance
  constexpr double kSure = 2.5;         // a slope above this many standard errors is significant
  constexpr double kNoticeable = 0.01;  // smallest drift that counts; the flag `drift` has the same limit
  if (samples.size() < kFewest) return 0;
  const double n = static_cast<double>(samples.size());
  const double mean = total_of(samples, [n](double x) { return std::log(x) / n; });
  double along = 0;
  double squares = 0;
  const double squares_of_places = n * (n * n - 1) / 12;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double y = std::log(samples[i]) - mean;
    along += (static_cast<double>(i) - (n - 1) / 2) * y;
    squares += y * y;
  }
  const double slope = along / squares_of_places;
  const double error = std::sqrt(std::max(0.0, squares - slope * along) / (n - 2) / squares_of_places);
  const double length = std::abs(slope) * n;
  const bool sure = std::abs(slope) > kSure * error && length > kNoticeable;
  return sure || statistics::drifting(samples) ? length : 0;
}

/// Fills in test, ratio, interval, p and detectable ratios by Student's t-test on a difference of logarithms.
void conclude_by_t(ChangeEvidence& evidence, double log_ratio, const Variance& of_difference, const TestSettings& how) {
  const double error = std::sqrt(of_difference.value);
  const double freedom = of_difference.freedom > 0 ? of_difference.freedom : 1e6;
  const double half = model::student_quantile(kInterval, freedom) * error;
  evidence.test = TestUsed::welch;
  evidence.ratio = std::exp(log_ratio);
  evidence.interval = Interval{std::exp(log_ratio - half), std::exp(log_ratio + half)};
  evidence.p = log_ratio == 0 ? 1 : model::student_two_sided(log_ratio / error, freedom);
  const double significant = model::student_quantile(kSignificant / static_cast<double>(how.cases), freedom) * error;
  const double more = std::max(significant, std::log(1 + how.threshold) + half);
  const double less = std::max(significant, -std::log(1 - how.threshold) + half);
  evidence.detectable_ratios = Interval{std::exp(-less), std::exp(more)};
}

/// Compares one process per side. The samples give the error of each median. The spread between processes cannot be
/// estimated from single processes, so the expected spread is used.
ChangeEvidence test_two_processes(MannWhitney& ranks, const ProcessNumber& base, const ProcessNumber& new_side,
                                  const TestSettings& how) {
  ChangeEvidence evidence;
  if (base.sample.sorted.empty() || new_side.sample.sorted.empty()) {
    if (base.median > 0 && new_side.median > 0) evidence.ratio = new_side.median / base.median;
    return evidence;
  }
  const auto estimate =
      how.bootstrap ? bootstrap(base.sample, new_side.sample, how.seed) : shift(ranks, base.sample, new_side.sample);
  if (!estimate) return evidence;
  evidence.ratio = estimate->ratio;
  evidence.within = estimate->interval;
  if (!estimate->interval || !(estimate->interval->low > 0)) return evidence;
  const double error = std::log(estimate->interval->high / estimate->interval->low) / (2 * kNormal95);
  const Variance of_samples{square(error), freedom_of(base.sample) + freedom_of(new_side.sample)};
  const Variance spread = of_spread(how.before);
  conclude_by_t(evidence, std::log(estimate->ratio),
                sum({of_samples, of_drift(base), of_drift(new_side), spread, spread}), how);
  evidence.spread = how.before.spread;
  evidence.spread_from = how.before.source;
  return evidence;
}

/// Returns the pooled variance of the processes' medians (as logarithms) around the mean of their side. The variance of
/// a side is raised to `least(side)` if it is smaller. nullopt if no side has two processes.
template <class Least>
std::optional<ObservedVariance> variance_within(Numbers base, Numbers new_side, const Least& least) {
  ObservedVariance seen;
  for (const Numbers side : {base, new_side}) {
    if (side.size() < 2) continue;
    const double own = static_cast<double>(side.size() - 1);
    seen.value += own * std::max(log_variance(medians_of(side)), least(side));
    seen.freedom += own;
  }
  if (seen.freedom <= 0) return std::nullopt;
  seen.value /= seen.freedom;
  return seen;
}

std::optional<double> spread_observed(Numbers base, Numbers new_side) {
  const auto seen = variance_within(base, new_side, [](Numbers) { return 0.0; });
  return seen ? std::optional(std::sqrt(seen->value)) : std::nullopt;
}

ChangeEvidence test_by_welch(Numbers base, Numbers new_side, const TestSettings& how) {
  ChangeEvidence evidence;
  Variance of_base = process_variance(base, how.before);
  Variance of_next = process_variance(new_side, how.before);
  // A variance cannot be estimated from one process, so the variance of the other side is used if it is larger.
  const auto borrow = [](Numbers numbers, Variance& own, const Variance& other) {
    if (numbers.size() == 1 && other.value > own.value) own = other;
  };
  borrow(base, of_base, of_next);
  borrow(new_side, of_next, of_base);
  const auto of_mean = [](Numbers numbers, const Variance& v) {
    return Variance{v.value / static_cast<double>(numbers.size()), v.freedom};
  };
  conclude_by_t(evidence, mean_log(new_side) - mean_log(base),
                sum({of_mean(base, of_base), of_mean(new_side, of_next)}), how);
  evidence.spread = std::sqrt((of_base.value + of_next.value) / 2);
  evidence.spread_from = SpreadSource::measured;
  evidence.seen = spread_observed(base, new_side);
  return evidence;
}

Sample sample_of_medians(Numbers numbers) {
  Sample sample{medians_of(numbers), static_cast<double>(numbers.size())};  // processes are independent
  std::ranges::sort(sample.sorted);
  return sample;
}

Sample scaled(Sample sample, double factor) {
  for (double& x : sample.sorted) x *= factor;
  return sample;
}

/// Returns the smallest factor (`least` or more) by which `new_side` must grow to differ significantly from `base`.
double least_significant(MannWhitney& ranks, const Sample& base, const Sample& new_side, double least,
                         std::size_t cases) {
  constexpr double kMost = 1e6;
  constexpr double kClose = 1e-4;
  const auto significant = [&](double factor) {
    return ranks.p_value(base, scaled(new_side, factor)) * static_cast<double>(cases) <= kSignificant;
  };
  double low = least;
  if (significant(low)) return low;
  double high = 1 + 2 * (low - 1) + kClose;
  while (!significant(high) && high < kMost) high = 1 + 2 * (high - 1);
  while (high - low > kClose * (high - 1)) {
    const double middle = (low + high) / 2;
    (significant(middle) ? high : low) = middle;
  }
  return high;
}

ChangeEvidence test_by_ranks(MannWhitney& ranks, Numbers base, Numbers new_side, const TestSettings& how) {
  ChangeEvidence evidence;
  const Sample a = sample_of_medians(base);
  const Sample b = sample_of_medians(new_side);
  const auto estimate = how.bootstrap ? bootstrap(a, b, how.seed) : shift(ranks, a, b);
  if (!estimate) return evidence;
  evidence.test = TestUsed::ranks;
  evidence.ratio = estimate->ratio;
  evidence.interval = estimate->interval;
  evidence.p = ranks.p_value(a, b);
  evidence.seen = spread_observed(base, new_side);
  evidence.spread = evidence.seen;
  evidence.spread_from = SpreadSource::measured;
  if (!estimate->interval) return evidence;
  const Sample level = scaled(b, 1 / estimate->ratio);
  const double more = (1 + how.threshold) * estimate->ratio / estimate->interval->low;
  const double less = estimate->interval->high / estimate->ratio / (1 - how.threshold);
  evidence.detectable_ratios = Interval{1 / least_significant(ranks, level, a, less, how.cases),
                                        least_significant(ranks, a, level, more, how.cases)};
  return evidence;
}

}  // namespace

std::optional<std::size_t> processes_needed(double spread, double sought, const TestSettings& how) {
  constexpr std::size_t kMost = 30;
  for (std::size_t processes = 2; processes <= kMost; ++processes) {
    const double weight_shown = static_cast<double>(processes - 1);
    const double weight_before = how.before.degrees_of_freedom / 2;
    const double freedom = weight_shown + weight_before;
    const double variance = (weight_before * square(how.before.spread) + weight_shown * square(spread)) / freedom;
    ChangeEvidence evidence;
    conclude_by_t(evidence, 0, {2 * variance / static_cast<double>(processes), 2 * freedom}, how);
    if (evidence.detectable_ratios->high <= 1 + sought) return processes;
  }
  return std::nullopt;
}

std::optional<ObservedVariance> observed_variance(Numbers base, Numbers new_side) {
  const auto above_zero = [](const ProcessNumber& n) { return n.median > 0; };
  if (!std::ranges::all_of(base, above_zero) || !std::ranges::all_of(new_side, above_zero)) return std::nullopt;
  return variance_within(base, new_side, [](Numbers side) { return own_variance(side).value; });
}

ProcessNumber process_number(std::span<const double> in_run_order) {
  // standard error of the median / standard error of the mean, for normally distributed samples
  constexpr double kOfMedian = 1.2533141373155;
  ProcessNumber number{.median = statistics::median(in_run_order), .sample = sample_of(in_run_order), .error = {}};
  const std::vector<double>& sorted = number.sample.sorted;
  if (sorted.size() < 2 || !(sorted.front() > 0)) return number;
  const double widened = std::sqrt(static_cast<double>(sorted.size()) / number.sample.effective_size);
  if (const auto ranks = statistics::median_ranks(sorted.size())) {
    number.error = std::log(sorted[ranks->second - 1] / sorted[ranks->first - 1]) / (2 * kNormal95) * widened;
  } else {
    number.error = kOfMedian * std::sqrt(log_variance(sorted) / static_cast<double>(sorted.size()));
  }
  number.drift = drift_of(in_run_order);
  return number;
}

ChangeEvidence test_change(MannWhitney& ranks, Numbers base, Numbers new_side, const TestSettings& how) {
  if (base.size() == 1 && new_side.size() == 1) return test_two_processes(ranks, base[0], new_side[0], how);
  const auto above_zero = [](const ProcessNumber& n) { return n.median > 0; };
  if (!std::ranges::all_of(base, above_zero) || !std::ranges::all_of(new_side, above_zero)) return {};
  const bool enough = std::min(base.size(), new_side.size()) >= kEnoughForRanks;
  const bool can_decide = least_p(base.size(), new_side.size()) * static_cast<double>(how.cases) <= kSignificant;
  return enough && can_decide ? test_by_ranks(ranks, base, new_side, how) : test_by_welch(base, new_side, how);
}

}  // namespace xferbench::compare
