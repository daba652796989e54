#include "measure/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>

#include "core/lists.hpp"

namespace xferbench::statistics {

namespace {

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::ranges::sort(copy);
  return copy;
}

double median_of_sorted(std::span<const double> s) {
  const std::size_t n = s.size();
  return n % 2 == 1 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2;
}

/// Quantile of sorted samples, interpolated linearly between order statistics (type 7 of Hyndman and Fan).
double quantile_of_sorted(std::span<const double> s, double q) {
  const double position = q * static_cast<double>(s.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, s.size() - 1);
  return s[below] + (position - static_cast<double>(below)) * (s[above] - s[below]);
}

/// Differences between samples below this fraction of the median are due to clock resolution and raise no flag.
constexpr double kNegligible = 1e-3;

struct Fences {
  double mild_low, mild_high, severe_low, severe_high;
};

Fences fences(std::span<const double> samples) {
  const std::vector<double> s = sorted(samples);
  const double q1 = quantile_of_sorted(s, 0.25);
  const double q3 = quantile_of_sorted(s, 0.75);
  const double range = q3 - q1;
  const double mild = std::max(1.5 * range, kNegligible * median_of_sorted(s));
  const double severe = std::max(3 * range, kNegligible * median_of_sorted(s));
  return {q1 - mild, q3 + mild, q1 - severe, q3 + severe};
}

double mean(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

/// Returns the value at a fractional rank from 1 to n; ranks outside of this range give the extreme samples.
double at_rank(std::span<const double> s, double rank) {
  const double place = std::clamp(rank - 1, 0.0, static_cast<double>(s.size() - 1));
  return quantile_of_sorted(s, s.size() == 1 ? 0 : place / static_cast<double>(s.size() - 1));
}

/// Returns a 95% confidence interval of the median, from the medians of the first, middle and last third of the series
/// (Student's t, two degrees of freedom). It captures drift that is too slow to show within one third. It uses the
/// logarithms of positive medians, because drift multiplies times by a factor.
Interval interval_of_thirds(std::span<const double> samples) {
  constexpr double kQuantile = 4.302653;
  const std::size_t third = samples.size() / 3;
  std::array<double, 3> medians{median(samples.first(third)),
                                median(samples.subspan(third, samples.size() - 2 * third)),
                                median(samples.last(third))};
  const bool positive = std::ranges::all_of(medians, [](double m) { return m > 0; });
  if (positive) std::ranges::transform(medians, medians.begin(), [](double m) { return std::log(m); });
  const double middle = mean(medians);
  const double squares = total_of(medians, [middle](double m) { return (m - middle) * (m - middle); });
  const double half = kQuantile * std::sqrt(squares / 2 / 3);
  const double centre = median(samples);
  if (!positive) return {centre - half, centre + half};
  return {centre / std::exp(half), centre * std::exp(half)};
}

/// Returns for each sample its side of the median (1 above, -1 below, 0 equal), minus the mean side of all samples.
std::vector<double> sides(std::span<const double> samples) {
  const double centre = median(samples);
  std::vector<double> sides = list_of(samples, [centre](double x) { return x > centre ? 1. : x < centre ? -1. : 0.; });
  const double shift = mean(sides);
  for (double& side : sides) side -= shift;
  return sides;
}

}  // namespace

double median(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  return copy.size() % 2 == 1 ? *middle : (*std::max_element(copy.begin(), middle) + *middle) / 2;
}

double percentile(std::span<const double> samples, double fraction) {
  return quantile_of_sorted(sorted(samples), fraction);
}

std::optional<std::pair<std::size_t, std::size_t>> median_ranks(std::size_t n) {
  // Compute binomial terms by logarithms: for n > 1000, C(n,i) would overflow and 2^-n underflow.
  double cumulative = 0;
  std::size_t k = 0;
  const double count = static_cast<double>(n);
  while (k < n) {
    const double i = static_cast<double>(k);
    cumulative +=
        std::exp(std::lgamma(count + 1) - std::lgamma(i + 1) - std::lgamma(count - i + 1) - count * std::log(2.0));
    if (cumulative > 0.025) break;
    ++k;
  }
  if (k == 0) return std::nullopt;
  return std::pair{k, n + 1 - k};
}

std::optional<Interval> median_interval(std::span<const double> samples) {
  const auto ranks = median_ranks(samples.size());
  if (!ranks) return std::nullopt;
  const std::vector<double> s = sorted(samples);
  return Interval{s[ranks->first - 1], s[ranks->second - 1]};
}

double widening(std::span<const double> samples) {
  constexpr std::size_t kFewest = 10;
  if (samples.size() < kFewest) return kLeastWidening;
  const std::vector<double> x = sides(samples);
  const auto products = [&x](std::size_t lag) {
    return std::inner_product(x.begin() + static_cast<std::ptrdiff_t>(lag), x.end(), x.begin(), 0.0);
  };
  const double variance = products(0);
  if (variance <= 0) return kLeastWidening;
  double sum = 0;
  for (std::size_t lag = 1; lag + 1 < samples.size() / 2; lag += 2) {
    const double pair = products(lag) + products(lag + 1);
    if (pair <= 0) break;
    sum += pair / variance;
  }
  return std::max(kLeastWidening, std::sqrt(1 + 2 * sum));
}

std::optional<Interval> autocorrelation_adjusted_ci(std::span<const double> samples) {
  const auto ranks = median_ranks(samples.size());
  if (!ranks) return std::nullopt;
  const std::vector<double> s = sorted(samples);
  const double middle = static_cast<double>(s.size() + 1) / 2;
  const double reach = (middle - static_cast<double>(ranks->first)) * widening(samples);
  const Interval slow = interval_of_thirds(samples);
  return Interval{std::min(at_rank(s, middle - reach), slow.low), std::max(at_rank(s, middle + reach), slow.high)};
}

std::optional<double> half_width(std::span<const double> samples) {
  const auto interval = autocorrelation_adjusted_ci(samples);
  if (!interval) return std::nullopt;
  const double centre = median(samples);
  return centre > 0 ? (interval->high - interval->low) / 2 / centre : 0;
}

double samples_for(double ci, double samples, double width) {
  const double times = width / ci;
  return ci > 0 ? std::ceil(samples * times * times) : std::numeric_limits<double>::infinity();
}

bool settled(std::span<const double> samples, double ci) {
  const auto width = half_width(samples);
  return width && *width <= ci && !drifting(samples) && !slow_first(samples);
}

Stop stop_of(std::span<const double> samples, double ci, Stop all) {
  if (all == Stop::interrupted) return Stop::interrupted;
  if (settled(samples, ci)) return Stop::ci;
  return all == Stop::ci ? Stop::others : all;
}

std::optional<Interval> interval_over_rounds(std::size_t rounds, const std::function<bool()>& given_up,
                                             const std::function<double(std::span<const std::size_t>)>& number_of) {
  constexpr std::size_t kFewest = 6;
  constexpr std::size_t kDraws = 1000;
  if (rounds < kFewest) return std::nullopt;
  const auto block = static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(rounds))));
  std::mt19937_64 random(1);  // fixed seed, so that the same samples give the same interval
  std::vector<std::size_t> drawn(rounds);
  std::vector<double> numbers(kDraws);
  for (double& number : numbers) {
    if (given_up()) return std::nullopt;
    for (std::size_t i = 0; i < rounds; i += block) {
      const std::size_t first = random() % rounds;
      for (std::size_t j = 0; j < block && i + j < rounds; ++j) drawn[i + j] = (first + j) % rounds;
    }
    number = number_of(drawn);
  }
  return Interval{percentile(numbers, 0.025), percentile(numbers, 0.975)};
}

bool autocorrelated(std::span<const double> samples) {
  const std::size_t n = samples.size();
  if (n < 10) return false;
  const auto [least, most] = std::ranges::minmax(samples);
  if (most - least <= kNegligible * median(samples)) return false;
  return autocorrelation(samples) > 1.96 / std::sqrt(static_cast<double>(n));
}

double autocorrelation(std::span<const double> samples) {
  if (samples.size() < 3) return 0;
  const double centre = mean(samples);
  double covariance = 0;
  double variance = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double deviation = samples[i] - centre;
    variance += deviation * deviation;
    if (i > 0) covariance += deviation * (samples[i - 1] - centre);
  }
  return variance > 0 ? covariance / variance : 0;
}

Outliers outliers(std::span<const double> samples) {
  Outliers found;
  if (samples.size() < 4) return found;
  const Fences f = fences(samples);
  for (const double x : samples) {
    if (x < f.severe_low || x > f.severe_high) {
      ++found.severe;
    } else if (x < f.mild_low || x > f.mild_high) {
      ++found.mild;
    }
  }
  return found;
}

bool slow_first(std::span<const double> samples) {
  if (samples.size() < 6) return false;
  const auto others = samples.subspan(1);
  // If the samples are nearly constant, Tukey's fences lie very close to the median. So the first sample must also be
  // more than 1% slower than the median.
  return samples[0] > fences(others).severe_high && samples[0] > 1.01 * median(others);
}

bool drifting(std::span<const double> samples) {
  if (samples.size() < 9) return false;
  const std::size_t third = samples.size() / 3;
  const double shift = std::abs(median(samples.last(third)) - median(samples.first(third)));
  const auto interval = median_interval(samples);
  return shift > 0.01 * median(samples) && interval && shift > interval->high - interval->low;
}

bool bimodal(std::span<const double> samples) {
  const std::size_t n = samples.size();
  if (n < 20) return false;  // with fewer samples, a gap may be chance
  const std::vector<double> s = sorted(samples);
  // Find the widest gap with at least a fifth of the samples on either side.
  std::size_t split = 0;
  for (std::size_t i = (n + 4) / 5; i <= n - (n + 4) / 5; ++i) {
    if (split == 0 || s[i] - s[i - 1] > s[split] - s[split - 1]) split = i;
  }
  const double gap = s[split] - s[split - 1];
  // Ignore the outer tenth of each cluster, so that a single outlier does not hide two modes.
  const std::span<const double> low(s.data(), split);
  const std::span<const double> high(s.data() + split, n - split);
  const double width =
      std::max(low.back() - quantile_of_sorted(low, 0.1), quantile_of_sorted(high, 0.9) - high.front());
  return gap > 0.02 * median_of_sorted(s) && gap > width;
}

void summarise(Measurement& m) {
  const std::span<const double> samples = m.samples;
  if (samples.empty()) return;
  m.min = *std::ranges::min_element(samples);
  m.max = *std::ranges::max_element(samples);
  m.median = median(samples);
  m.ci95 = autocorrelation_adjusted_ci(samples);
  // With fewer samples, the percentile would just be the maximum.
  m.p90 = samples.size() >= 10 ? std::optional(percentile(samples, 0.9)) : std::nullopt;
  m.p99 = samples.size() >= 100 ? std::optional(percentile(samples, 0.99)) : std::nullopt;

  const auto flag_if = [&m](bool condition, const char* name) {
    if (condition) m.flags.emplace_back(name);
  };
  flag_if(autocorrelated(samples), "autocorrelated");
  const Outliers found = outliers(samples);
  m.outliers_mild = found.mild;
  m.outliers_severe = found.severe;
  flag_if(found.severe > 0, "outliers");
  flag_if(slow_first(samples), "slow-first");
  flag_if(drifting(samples), "drift");
  flag_if(bimodal(samples), "bimodal");
}

void append(Measurement& all, const Measurement& more) {
  if (more.batch != all.batch) {
    throw std::logic_error("samples of " + all.name + " that are means of different numbers of repetitions");
  }
  // Keep flags that describe the machine, because they cannot be recomputed from samples.
  std::vector<std::string> of_machine;
  for (const char* flag : {"not-warm", "throttled", "gate-timeout"}) {
    const auto has = [flag](const Measurement& m) { return has_item(m.flags, flag); };
    if (has(all) || has(more)) of_machine.emplace_back(flag);
  }
  all.samples.append(more.samples);
  all.warmup_runs += more.warmup_runs;
  all.warmup_converged = all.warmup_converged && more.warmup_converged;
  all.gate_timeouts += more.gate_timeouts;
  if (more.checked) all.checked = all.checked.value_or(0) + *more.checked;
  all.flags.clear();
  summarise(all);
  std::ranges::move(of_machine, std::back_inserter(all.flags));
}

std::vector<std::size_t> check_points(std::size_t min, std::size_t max) {
  std::vector<std::size_t> schedule;
  std::size_t n = 10;
  while (n < max) {
    if (n >= min) schedule.push_back(n);
    n = n < 30 ? n + 10 : (n * 3 + 1) / 2;
  }
  if (schedule.empty() || schedule.front() > min) schedule.insert(schedule.begin(), std::min(min, max));
  if (schedule.back() < max) schedule.push_back(max);
  return schedule;
}

}  // namespace xferbench::statistics
