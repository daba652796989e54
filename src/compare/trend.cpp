#include "compare/trend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "compare/files.hpp"
#include "compare/processes.hpp"
#include "core/error.hpp"
#include "core/lists.hpp"
#include "measure/statistics.hpp"

namespace xferbench::compare {

namespace {

using Values = std::span<const double>;

constexpr std::size_t kLeastPart = 2;  // fewest runs on each side of a cut (the assumed point of a change)
constexpr std::size_t kMargin = 12;    // number of runs on each side of a cut that most_different_neighbours() compares

/// Returns the ranks of the values, from 1; equal values share the mean of their ranks.
std::vector<double> ranks_of(Values values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  std::vector<double> ranks;
  for (const double value : values) {
    const auto equal = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<double>((equal.first - sorted.begin()) + (equal.second - sorted.begin()) + 1) / 2);
  }
  return ranks;
}

/// Returns by how many standard deviations the rank sum of the first `at` of `n` values differs from its expectation.
double standardised(double rank_sum, double at, double n) {
  return std::abs(rank_sum - at * (n + 1) / 2) / std::sqrt(at * (n - at) * (n + 1) / 12);
}

/// Returns the largest value of standardised() over all possible cuts of a series, whose ranks are given.
double largest_statistic(Values ranks) {
  double sum = 0;
  double largest = 0;
  for (std::size_t at = 1; at + kLeastPart <= ranks.size(); ++at) {
    sum += ranks[at - 1];
    if (at < kLeastPart) continue;
    largest = std::max(largest, standardised(sum, static_cast<double>(at), static_cast<double>(ranks.size())));
  }
  return largest;
}

double deviation(Values values) {
  const double middle = statistics::median(values);
  return std::accumulate(values.begin(), values.end(), 0.,
                         [middle](double sum, double value) { return sum + std::abs(value - middle); });
}

/// Returns the cut at which the values of both parts deviate least from their medians. The rank statistic is not used,
/// because it prefers cuts in the middle.
std::size_t best_cut(Values values) {
  std::size_t best = kLeastPart;
  double least = HUGE_VAL;
  for (std::size_t at = kLeastPart; at + kLeastPart <= values.size(); ++at) {
    const double left = deviation(values.first(at)) + deviation(values.subspan(at));
    if (left < least) least = left, best = at;
  }
  return best;
}

Sample independent(Values values) {
  Sample sample{{values.begin(), values.end()}, static_cast<double>(values.size())};
  std::ranges::sort(sample.sorted);
  return sample;
}

std::string machine_text(const Environment& e) {
  const std::string of = e.simulated() ? ", simulated by profile " + e.profile_text() : "";
  return fmt::format("{}{}{}", e.gpu.name, e.gpu.uuid.empty() ? "" : " " + e.gpu.uuid, of);
}

void require_trend_inputs(std::span<const NamedReport> files) {
  const NamedReport& first = files.front();
  for (const NamedReport& file : files) {
    if (file.report.fleet) {
      throw UsageError(fmt::format("{} has {} ranks; a trend needs runs of a single process", file.name,
                                   file.report.fleet->ranks.size()));
    }
    if (!of_same_machine(first.report.environment, file.report.environment)) {
      throw UsageError(fmt::format(
          "{} is not from the same machine as {} ({}, not {}); a trend needs one machine: pass the files "
          "of each machine separately",
          file.name, first.name, machine_text(file.report.environment), machine_text(first.report.environment)));
    }
  }
}

/// Merges the processes of each run, and sorts the runs by their start time.
std::vector<NamedReport> sorted_by_time(std::vector<NamedReport> files) {
  std::ranges::stable_sort(files, {},
                           [](const NamedReport& file) { return std::pair(file.report.started_at, file.name); });
  auto runs = list_of(runs_of(std::move(files)), [](Processes& processes) { return pooled_run(std::move(processes)); });
  std::ranges::stable_sort(runs, {}, [](const NamedReport& run) { return run.report.started_at; });
  return runs;
}

/// Returns the series of one case. It contains the number that is the headline (main measurement) in the last run with
/// this case.
Trend::Series series_of(const SameCase& c, const Options& options) {
  Trend::Series series{.key = c.identity};
  std::optional<Value> last;
  for (std::size_t i = c.results.size(); i-- > 0;) {
    const auto value = c.results[i] == nullptr ? std::nullopt : value_of(*c.results[i], options.metric, options);
    if (!value || (last && (last->name != value->name || last->unit != value->unit))) continue;
    if (!last) series.better = better_of(*value, c.results[i]->config.scenario(), options);
    last = value;
    series.points.push_back(
        {i, value->median, value->measurement != nullptr ? value->measurement->ci95 : std::nullopt});
  }
  std::ranges::reverse(series.points);
  if (last) series.measured = last->name, series.unit = last->unit;
  return series;
}

}  // namespace

ChangeFinder::ChangeFinder(std::size_t series)
    : level_(kTrendError / static_cast<double>(std::max<std::size_t>(series, 1)) / 2) {}

std::vector<Change> ChangeFinder::changes(Values values, double threshold) {
  std::vector<Cut> found = cuts(values, 0);
  std::ranges::sort(found, {}, &Cut::at);
  std::vector<Change> all;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : found[i - 1].at;
    const std::size_t end = i + 1 == found.size() ? values.size() : found[i + 1].at;
    const Change change{.at = found[i].at,
                        .before = statistics::median(values.subspan(begin, found[i].at - begin)),
                        .after = statistics::median(values.subspan(found[i].at, end - found[i].at)),
                        .p = found[i].p};
    if (change.before > 0 && std::abs(change.ratio() - 1) >= threshold) all.push_back(change);
  }
  return all;
}

std::vector<ChangeFinder::Cut> ChangeFinder::cuts(Values values, std::size_t from) {
  if (values.size() < kFewestRuns) return {};
  const double p = by_chance(values.size(), largest_statistic(ranks_of(values)));
  const auto cut = p <= level_ ? std::optional(Cut{best_cut(values), p}) : most_different_neighbours(values);
  if (!cut || cut->p > level_) return {};
  std::vector<Cut> all = cuts(values.first(cut->at), from);
  const std::vector<Cut> behind = cuts(values.subspan(cut->at), from + cut->at);
  all.insert(all.end(), behind.begin(), behind.end());
  all.push_back({from + cut->at, cut->p});
  return all;
}

/// Compares the kMargin runs before each possible cut with the kMargin runs after it. Returns the best cut, with p
/// adjusted for the number of cuts.
std::optional<ChangeFinder::Cut> ChangeFinder::most_different_neighbours(Values values) {
  std::optional<Cut> most;
  for (std::size_t at = kMargin; at + kMargin <= values.size(); ++at) {
    const double p =
        test_.p_value(independent(values.subspan(at - kMargin, kMargin)), independent(values.subspan(at, kMargin)));
    if (!most || p < most->p) most = {at, p};
  }
  if (!most) return most;
  const std::size_t begin = most->at - kMargin;
  return Cut{begin + best_cut(values.subspan(begin, 2 * kMargin)),
             most->p * static_cast<double>(values.size() - 2 * kMargin + 1)};
}

/// Returns the p-value of `statistic`: the probability that a series of `n` values without a change reaches it.
double ChangeFinder::by_chance(std::size_t n, double statistic) {
  constexpr double kMost = 20'000;
  std::vector<double>& known = chance_[n];
  if (known.empty()) {
    // The smallest p-value that N permutations can give is 1 / (N + 1), so use enough to reach a fifth of
    // level_. The shuffle is implemented here, because std::shuffle differs between standard libraries.
    known.resize(static_cast<std::size_t>(std::clamp(std::ceil(5 / level_), 1000., kMost)));
    std::mt19937_64 random(n);
    std::vector<double> ranks(n);
    std::iota(ranks.begin(), ranks.end(), 1.);
    for (double& largest : known) {
      for (std::size_t left = n; left > 1; --left) std::swap(ranks[left - 1], ranks[random() % left]);
      largest = largest_statistic(ranks);
    }
    std::ranges::sort(known);
  }
  const auto as_large = known.end() - std::ranges::lower_bound(known, statistic - 1e-9);
  return static_cast<double>(1 + as_large) / static_cast<double>(1 + known.size());
}

std::optional<std::size_t> ChangeFinder::runs_to_confirm(std::size_t before) {
  // rank sum in the clearest case: all runs before the change are lower than all runs after it
  const auto sum = static_cast<double>(before * (before + 1)) / 2;
  for (std::size_t after = kLeastPart; after <= 30; ++after) {
    const std::size_t n = before + after;
    if (by_chance(n, standardised(sum, static_cast<double>(before), static_cast<double>(n))) <= level_) return after;
  }
  return std::nullopt;
}

std::optional<bool> Trend::Series::is_worse(const Change& change) const {
  if (better == Better::neither) return std::nullopt;
  return (change.ratio() > 1) == (better == Better::lower);
}

Trend trend(std::vector<NamedReport> files, const Options& options) {
  require_trend_inputs(files);
  check_medians(files_of({files}));
  const std::vector<NamedReport> runs = sorted_by_time(std::move(files));
  if (runs.size() < kFewestRuns) {
    throw UsageError(fmt::format("a trend needs at least {} runs, but there are {}", kFewestRuns, runs.size()));
  }
  const Files all = files_of({runs});
  Options known = options;
  known.metrics_declared = all_declared(all, options);
  Trend trend{.runs = sources_of(runs), .environment = runs.back().report.environment, .warnings = doubts_of(all)};
  if (trend.environment.simulated()) trend.simulated = trend.environment.profile_text();
  for (const SameCase& c : cases_of(all, known, std::nullopt)) {
    Trend::Series series = series_of(c, known);
    if (series.points.size() > 1) trend.series.push_back(std::move(series));
  }
  if (trend.series.empty()) throw UsageError("no case was measured in more than one of these runs");
  ChangeFinder finder(trend.series.size());
  for (Trend::Series& series : trend.series) {
    series.changes = finder.changes(list_of(series.points, &Trend::Point::value));
    for (const Change& change : series.changes) {
      const std::size_t run = series.points[change.at].run;
      trend.differences.try_emplace(run,
                                    differences(std::span(runs).subspan(run - 1, 1), std::span(runs).subspan(run, 1)));
    }
  }
  trend.runs_to_confirm = finder.runs_to_confirm(std::max(kFewestRuns, runs.size() - 3));
  return trend;
}

}  // namespace xferbench::compare
