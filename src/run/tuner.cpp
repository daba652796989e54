#include "run/tuner.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/on_exit.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "model/candidate_search.hpp"
#include "results/metric_names.hpp"
#include "run/health.hpp"
#include "run/tune_findings.hpp"

namespace xferbench {

std::string Tunable::family(const Case& c) const {
  std::string words;
  for (const Case::Param& param : c.params()) {
    if (is_word(param.kind)) words += std::get<std::string>(param.value) + "/";
  }
  return words;
}

Region region_for(Objective objective, const Region& region) {
  if (objective == Objective::device) return region;
  Region wall = wall_region(region);
  wall.warmed_by_another = false;
  return wall;
}

// --- What a tune writes ---------------------------------------------------------------------------------------------

namespace {

constexpr const char* kPredicted = "predicted";
constexpr const char* kMakespan = "makespan";
constexpr const char* kResidual = "residual";
constexpr const char* kBehindBest = "behind_best";
constexpr const char* kHostBlocked = "host_blocked";
constexpr const char* kMeasuredIn = "measured_in";
constexpr const char* kObjective = "objective";
constexpr const char* kConfirmation = "confirmation";
constexpr const char* kSearchSuffix = "-search";

std::vector<MetricDeclaration> tune_metrics(std::span<const MetricDeclaration> of_scenario) {
  std::vector<MetricDeclaration> metrics{
      derived_time(kPredicted, "makespan predicted by the model, without correction").column("predicted"),
      derived(kResidual, "1", Better::neither, "measured / predicted - 1")
          .column("residual", MetricDeclaration::Format::percent),
      derived_time(kMakespan,
                   "median of the time that tune minimizes, from the confirmation if the configuration took part, "
                   "otherwise from the search"),
      derived(kBehindBest, "1", Better::lower, "makespan / makespan of the winner - 1"),
      derived_time(kHostBlocked, "submit time: host time in the calls that submit the work").column("submit time"),
      label(kMeasuredIn, "phase that gave the makespan: search or confirmation"),
      label(kObjective, "time that tune minimizes: makespan on the device, or wall (time to result)"),
      measured(kWall, "--objective wall: host time from the first call to the return of the wait"),
      measured(std::string(kWall) + kSearchSuffix, "--objective wall: all samples of a finalist in the search"),
  };
  using Kind = MetricDeclaration::Kind;
  if (find(of_scenario, Kind::metric, kTimeToResult) == nullptr) metrics.push_back(time_to_result());
  for (const MetricDeclaration& m : of_scenario) {
    if (m.headline) metrics.push_back(measured(m.name + kSearchSuffix, "all samples of a finalist in the search"));
  }
  return metrics;
}

double makespan(const Result& result) {
  const Metric* metric = result.metric(kMakespan);
  return metric == nullptr ? 0 : metric->value;
}

// --- The search ------------------------------------------------------------------------------------------------------

// Fractions of the sampling budget for inputs of predictions (stages) and the search. The confirmation gets the rest.
constexpr double kForStages = 0.15;
constexpr double kLongest = 60;  // seconds of budget; a larger budget leaves the part for the stages unchanged
constexpr double kForSearch = 0.5;
constexpr double kSlowHost = 0.9;  // fraction of the makespan; a longer submit time causes a warning

constexpr std::size_t kSamplesPerRound = 4;
constexpr std::size_t kLeastThatDecide = 6;  // number of samples; fewer give no confidence interval

/// A configuration of the search space, with its prediction and its measurements so far.
struct Entry {
  Case config;
  double predicted = 0;
  std::optional<Candidate> candidate{};  ///< set from the first round until the configuration is dropped
  std::optional<Measurement> search{};   ///< samples of all search rounds
  std::optional<Measurement> fresh{};    ///< samples of the confirmation (the last round)
  CaseHealth health{};                   ///< health of the GPU over all rounds of this configuration
  double host_blocked = 0;               ///< median submit time in seconds, from the latest round
  std::string failure{};
};

/// Returns a scope guard that adds the host time until the end of the scope, in seconds, to `seconds`.
auto stopwatch(HostRuntime& host, double& seconds) {
  return OnExit([&host, &seconds, begun = host.now()] { seconds += host.now() - begun; });
}

/// Time spent on creating the Tunable.
struct Spent {
  double seconds = 0;
  double of_budget = 0;  ///< part of `seconds` that counts against the sampling budget
};

/// Returns the number of passes in each sample. All configurations use the same number, in search and confirmation:
/// then the fixed cost per sample affects all times equally, and samples of several rounds can be pooled.
unsigned passes_in_a_sample(const Tunable& tunable, std::span<const Case> space, Objective objective) {
  if (objective == Objective::wall) return 1;  // a real program waits for the result of each pass
  double shortest = kShortestSample;
  unsigned most = std::numeric_limits<unsigned>::max();
  for (const Case& c : space) {
    const double predicted = tunable.predict(c);
    if (predicted > 0) shortest = std::min(shortest, predicted);
    most = std::min(most, tunable.most_behind_gate(c));
  }
  return std::clamp(static_cast<unsigned>(std::min(std::ceil(kShortestSample / shortest), 1e6)), 1U, most);
}

/// Returns the 95 % interval of the median or, with too few samples for it, the range of at least three samples. The
/// true median lies within the range of n samples with probability 1 - 2^(1 - n), which is 3 in 4 for three samples.
std::optional<Interval> interval_of(const Measurement& m) {
  constexpr std::size_t kFewest = 3;
  if (m.ci95 || m.samples.size() < kFewest) return m.ci95;
  return Interval{m.min, m.max};
}

class Tuner {
 public:
  Tuner(std::unique_ptr<Tunable> tunable, unsigned passes, std::span<const Case> space, const RunContext& bench,
        const TuneObserver& observer, const model::CandidateSearchPolicy& policy, const Spent& spent)
      : tunable_(std::move(tunable)),
        passes_(passes),
        bench_(bench),
        observer_(observer),
        race_(predictions(*tunable_, space), policy),
        most_finalists_(policy.finalists),
        spent_(spent.of_budget) {
    account_.model = spent.seconds;
    entries_.reserve(space.size());
    for (const Case& c : space) entries_.push_back({.config = c, .predicted = tunable_->predict(c)});
  }

  void run() {
    search();
    confirm();
  }

  /// Returns results of all measured or failed configurations, in the order in which their measurement began.
  [[nodiscard]] std::vector<Result> results() const {
    std::vector<Result> all;
    const Entry* best = leader();
    for (const std::size_t i : begun_) {
      const Entry& entry = entries_[i];
      if (!entry.failure.empty() || decisive(entry) != nullptr) all.push_back(result_of(entry, best));
    }
    return all;
  }

  [[nodiscard]] std::vector<Finding> findings(const CommandOf& command_of) const {
    TuneSummary summary;
    for (const Entry& entry : entries_) summary.space.push_back(entry.config);
    const std::vector<std::size_t> standing = race_.standing();
    for (const std::size_t i : begun_) {
      const Entry& entry = entries_[i];
      if (!entry.failure.empty()) ++summary.failed;
      if (!counts(entry)) continue;
      const Measurement* time = decisive(entry);
      const auto interval = interval_of(*time);
      summary.by_host_clock = time->clock == Clock::host;
      constexpr double kDisturbed = 0.1;  // maximum width of the interval, as a fraction of the median time
      summary.contestants.push_back(
          {.config = entry.config,
           .seconds = time->median,
           .interval = time->ci95,
           .predicted = entry.predicted,
           .complexity = tunable_->complexity(entry.config),
           .confirmed = entry.fresh.has_value(),
           .out = !has_item(standing, i),
           .disturbed = interval && interval->high - interval->low > kDisturbed * time->median});
    }
    summary.objective = bench_.objective;
    summary.account = account_;
    summary.command_of = command_of;
    return tune_findings(std::move(summary));
  }

 private:
  static std::vector<model::Prediction> predictions(const Tunable& tunable, std::span<const Case> space) {
    return list_of(space, [&](const Case& c) { return model::Prediction{tunable.predict(c), tunable.family(c)}; });
  }

  [[nodiscard]] bool has_budget() const { return interrupted() == 0 && bench_.device.usable(); }
  [[nodiscard]] double left_until(double share) const { return share * bench_.policy.budget - spent_; }

  /// Runs search rounds until the search is decided or its part of the budget is spent.
  void search() {
    while (has_budget() && left_until(kForStages + kForSearch) > 0) {
      const double left = left_until(kForStages + kForSearch);
      const std::vector<std::size_t> batch = ready(affordable(race_.next(), left, kSamplesPerRound));
      if (batch.empty() && race_.over()) return;
      if (batch.empty()) continue;
      for (const auto& [i, series] : sampled_in_groups(batch)) {
        if (!entries_[i].failure.empty() || series.samples.empty()) continue;
        append(entries_[i].search, series);
        race_.record(i, entries_[i].search->median, interval_of(*entries_[i].search));
      }
      if (!has_budget()) return;
      release_losers();
      observer_.measured(results());
    }
  }

  /// Measures the finalists again, alternating and with the user's sampling policy. The times from the search alone
  /// would be biased: among many similar configurations, the fastest may owe its lead to chance.
  void confirm() {
    if (!has_budget()) return;
    confirming_ = true;
    const std::vector<std::size_t> best = ready(finalists());
    if (best.empty()) return;
    tunable_->measure_again();
    SamplingPolicy policy = bench_.policy;
    policy.budget = std::max(left_until(1), 0.0);
    const Sampled all = sampled(best, policy);
    // After an interruption, this round may have too few samples to decide. They are added to the samples of the
    // search.
    const std::size_t enough = std::min(kLeastThatDecide, policy.min_samples);
    const bool decides =
        !apart_ && std::ranges::all_of(all, [&](const auto& s) { return s.second.samples.size() >= enough; });
    for (const auto& [i, series] : all) {
      if (!entries_[i].failure.empty() || series.samples.empty()) continue;
      if (decides) {
        entries_[i].fresh = series;
      } else {
        append(entries_[i].search, series);
      }
    }
    if (has_budget()) tunable_->measure_again();
  }

  /// Prepares and verifies configurations; drops those that fail. Returns the others; none after Ctrl-C or device loss.
  std::vector<std::size_t> ready(const std::vector<std::size_t>& batch) {
    const OnExit time = stopwatch(bench_.machine.host(), account_.verification);
    std::vector<std::size_t> good;
    for (const std::size_t i : batch) {
      if (!has_budget()) return {};
      show();
      Entry& entry = entries_[i];
      const bool first_time = !has_item(begun_, i);
      if (first_time) begun_.push_back(i);
      const std::string failure = failure_of([&] {
        if (!entry.candidate) entry.candidate = tunable_->prepare(entry.config);
        if (first_time && bench_.verify) entry.candidate->verify();
      });
      if (failure.empty()) {
        good.push_back(i);
      } else {
        drop(i, failure);
      }
    }
    return good;
  }

  void drop(std::size_t i, const std::string& failure) {
    entries_[i].failure = failure;
    entries_[i].candidate.reset();
    race_.fail(i);
  }

  using Sampled = std::vector<std::pair<std::size_t, Measurement>>;

  /// Samples the configurations of a batch alternately. If that throws, samples each configuration separately, so that
  /// only the failing ones are dropped.
  Sampled sampled(const std::vector<std::size_t>& batch, const SamplingPolicy& policy) {
    Sampled all;
    if (batch.size() > 1) apart_ = false;
    std::optional<std::size_t> wrong;
    const std::string failure = failure_of([&] {
      try {
        all = sampled_together(batch, policy);
      } catch (const FailedCheck& failed) {
        wrong = batch[failed.region];
        throw;
      }
    });
    if (failure.empty()) return all;
    if (wrong) return resample_without(*wrong, failure, batch, policy);
    if (batch.size() == 1 || !bench_.device.usable()) {
      for (const std::size_t i : batch) drop(i, failure);
      return {};
    }
    apart_ = true;
    SamplingPolicy share = policy;
    share.budget /= static_cast<double>(batch.size());
    for (const std::size_t i : batch) {
      if (!has_budget()) break;
      for (auto& one : sampled({i}, share)) all.push_back(std::move(one));
    }
    return all;
  }

  /// Samples the configurations of a search round; samples each configuration that disturbs others alone.
  Sampled sampled_in_groups(std::vector<std::size_t> batch) {
    const auto alone = std::stable_partition(batch.begin(), batch.end(),
                                             [this](std::size_t i) { return !entries_[i].candidate->apart; });
    const std::vector<std::size_t> single(alone, batch.end());
    batch.erase(alone, batch.end());
    Sampled all = batch.empty() ? Sampled() : sampled(batch, round_policy());
    for (const std::size_t i : single) {
      if (has_budget()) std::ranges::move(sampled({i}, round_policy()), std::back_inserter(all));
    }
    return all;
  }

  /// Drops a configuration whose output was wrong, and samples the others of the batch again.
  Sampled resample_without(std::size_t wrong, const std::string& failure, std::vector<std::size_t> batch,
                           const SamplingPolicy& policy) {
    drop(wrong, failure);
    std::erase(batch, wrong);
    return batch.empty() || !has_budget() ? Sampled() : sampled(batch, policy);
  }

  /// Samples a batch alternately. Checks the output of passes only in the confirmation, which decides the winner.
  Sampled sampled_together(const std::vector<std::size_t>& batch, const SamplingPolicy& policy) {
    const OnExit time = stopwatch(bench_.machine.host(), confirming_ ? account_.confirmation : account_.search);
    std::vector<Region> regions;
    regions.reserve(batch.size());
    for (const std::size_t i : batch) {
      regions.push_back(region_for(bench_.objective, entries_[i].candidate->region()));
      regions.back().warmed_by_another = true;  // the verification of each configuration has warmed it up
      regions.back().batch = passes_;
    }
    const double begun = bench_.machine.host().now();
    const Health before = bench_.device.health();
    const auto observe = [this](const SamplingProgress&) { show(); };
    const PassChecks checks = confirming_ ? bench_.checks() : PassChecks();
    const std::vector<Series> series = sample(bench_.machine, std::move(regions), policy, observe, checks);
    const HealthRecord health{before, bench_.device.health()};
    for (const std::size_t i : batch) entries_[i].health.note(health);
    spent_ += bench_.machine.host().now() - begun;
    for (const Series& s : series) {
      spent_ -= s.checking;
      account_.passes += s.elapsed.samples.size() * s.elapsed.batch;
    }
    Sampled all;
    for (std::size_t n = 0; n < batch.size(); ++n) {
      all.emplace_back(batch[n], series[n].elapsed);
      entries_[batch[n]].host_blocked = calls_of(series[n]);
    }
    return all;
  }

  /// Estimates the seconds that one sample of a configuration takes, overhead included.
  [[nodiscard]] double sample_time(std::size_t i) const {
    return std::max(passes_ * race_.corrected(i), 2 * kShortestSample);
  }

  /// Returns the first configurations of the batch for which `samples` samples each fit into `left` seconds. Returns at
  /// least two if there are two, because one alone cannot be compared. Later search rounds propose the others again.
  [[nodiscard]] std::vector<std::size_t> affordable(std::vector<std::size_t> batch, double left,
                                                    std::size_t samples) const {
    double round = 0;
    std::size_t count = 0;
    for (const std::size_t i : batch) {
      round += sample_time(i);
      if (count >= 2 && round * static_cast<double>(samples) > left) break;
      ++count;
    }
    batch.resize(count);
    return batch;
  }

  /// Returns the policy of a search round: a fixed, small number of samples of each configuration.
  [[nodiscard]] SamplingPolicy round_policy() const {
    SamplingPolicy policy;
    policy.max_samples = policy.min_samples = std::min(kSamplesPerRound, bench_.policy.max_samples);
    policy.ci = 0;  // never stop early because of a narrow interval
    return policy;
  }

  /// Returns the median submit time, in seconds. A region that waits for its own work has a part for its calls.
  [[nodiscard]] double calls_of(const Series& series) const {
    if (bench_.objective == Objective::wall) return series.part(kWallCalls).median;
    const auto own = std::ranges::find(series.parts, kSubmit, &Measurement::name);
    return own != series.parts.end() ? own->median : series.submit.median;
  }

  static void append(std::optional<Measurement>& all, const Measurement& more) {
    if (all) {
      statistics::append(*all, more);
    } else {
      all = more;
    }
  }

  /// Frees the streams and events of configurations that the search has dropped as clearly slower.
  void release_losers() {
    const std::vector<std::size_t> standing = race_.standing();
    for (const std::size_t i : begun_) {
      if (!has_item(standing, i)) entries_[i].candidate.reset();
    }
  }

  /// Returns the configurations for the confirmation: the best of the search, then those that may be within 1 % of it,
  /// as many as the budget allows.
  [[nodiscard]] std::vector<std::size_t> finalists() const {
    std::vector<std::size_t> found = race_.standing();
    found.resize(std::min(found.size(), most_finalists_));
    return affordable(std::move(found), left_until(1), kLeastThatDecide);
  }

  /// Returns the measurement that gives a configuration's time: that of the confirmation if it exists, otherwise that
  /// of the search. Null if there is none.
  static const Measurement* decisive(const Entry& entry) {
    if (entry.fresh) return &*entry.fresh;
    return entry.search ? &*entry.search : nullptr;
  }

  static bool counts(const Entry& entry) { return entry.failure.empty() && decisive(entry) != nullptr; }

  /// Returns the fastest configuration of the confirmation, or of the search if there was no confirmation; null before
  /// the first measurement.
  [[nodiscard]] const Entry* leader() const {
    const Entry* best = nullptr;
    const auto rank = [](const Entry& e) { return std::pair(!e.fresh.has_value(), decisive(e)->median); };
    for (const std::size_t i : begun_) {
      const Entry& entry = entries_[i];
      if (counts(entry) && (best == nullptr || rank(entry) < rank(*best))) best = &entry;
    }
    return best;
  }

  [[nodiscard]] Result result_of(const Entry& entry, const Entry* best) const {
    Result result(entry.config);
    const Measurement* time = decisive(entry);
    if (time != nullptr) result.measurements.push_back(*time);
    if (entry.fresh && entry.search) {
      result.measurements.push_back(*entry.search);
      result.measurements.back().name += kSearchSuffix;
      result.measurements.back().auxiliary = true;
    }
    entry.health.add_to(result);
    if (!entry.failure.empty()) {
      result.status = Status::failed;
      result.reason = entry.failure;
      return result;
    }
    result.add(kPredicted, entry.predicted, "s");
    result.add(kMakespan, time->median, "s");
    if (bench_.objective == Objective::wall) result.add(kTimeToResult, time->median, "s");
    result.add(kResidual, time->median / entry.predicted - 1, "1");
    result.labels.emplace_back(kMeasuredIn, entry.fresh ? kConfirmation : "search");
    result.labels.emplace_back(kObjective, to_text(bench_.objective));
    result.add(kHostBlocked, entry.host_blocked, "s");
    if (time->clock == Clock::event_gated && entry.host_blocked > kSlowHost * time->median) {
      result.warnings.push_back("the host submits no faster than the GPU works (submit time " +
                                format_seconds(entry.host_blocked) +
                                "): the gate hides this time here, but a real program would wait for it");
    }
    tunable_->describe(entry.config, time->median, decisive(*best)->median, result);
    if (&entry == best) std::ranges::move(tunable_->stages(), std::back_inserter(result.measurements));
    result.add(kBehindBest, time->median / decisive(*best)->median - 1, "1");
    if (entry.fresh) warn(result, bench_.policy);
    return result;
  }

  void show() const {
    const auto best = race_.leader();
    observer_.progress({.measured = race_.measured(),
                        .most = race_.most(),
                        .best = best ? std::optional(entries_[*best].search->median) : std::nullopt,
                        .confirming = confirming_});
  }

  std::unique_ptr<Tunable> tunable_;
  unsigned passes_;  // number of passes in each sample
  RunContext bench_;
  const TuneObserver& observer_;
  model::CandidateSearch race_;
  std::vector<Entry> entries_;
  std::vector<std::size_t> begun_;  // indices of entries_ whose measurement has begun, in the order of their beginning
  std::size_t most_finalists_;
  TuneAccount account_;
  double spent_ = 0;    // budget spent, in seconds
  bool apart_ = false;  // whether the latest samples were taken one configuration after another, not alternately
  bool confirming_ = false;
};

}  // namespace

ScenarioDescriptor tuned_descriptor(const ScenarioDescriptor& scenario) {
  ScenarioDescriptor tuned = scenario;
  tuned.heat_maps.clear();
  for (MetricDeclaration& own : tune_metrics(scenario.metrics)) {
    const auto same = [&own](const MetricDeclaration& m) { return m.kind == own.kind && m.name == own.name; };
    if (own.heading.empty() && std::ranges::any_of(tuned.metrics, same)) continue;
    std::erase_if(tuned.metrics, same);
    tuned.metrics.push_back(std::move(own));
  }
  return tuned;
}

std::vector<Result> fastest(std::span<const Result> results, std::size_t most) {
  std::vector<Result> ok;
  std::vector<Result> failed;
  for (const Result& r : results) (r.status == Status::ok ? ok : failed).push_back(r);
  std::ranges::stable_sort(
      ok, {}, [](const Result& r) { return std::pair(r.label(kMeasuredIn) != kConfirmation, makespan(r)); });
  ok.resize(std::min(ok.size(), most));
  ok.insert(ok.end(), failed.begin(), failed.end());
  return ok;
}

// --- The space -------------------------------------------------------------------------------------------------------

std::optional<SkipReason> skip_reason_of_tune(const PlannedCase& planned, std::optional<std::uint64_t> limit) {
  if (auto reason = planned.scenario->reason_against_tuning(planned.config)) return reason;
  if (auto reason = planned.scenario->skip_reason(planned.config, nullptr)) return reason;
  const std::uint64_t needed = planned.scenario->needs(planned.config).device;
  if (!limit || needed <= *limit) return std::nullopt;
  return SkipReason::impossible(fmt::format("needs {} of device memory, more than the {} of --memory-limit",
                                            format_size(needed), format_size(*limit)));
}

std::vector<Case> feasible(std::span<const PlannedCase> cases, Machine& machine, bool verify,
                           std::optional<std::uint64_t> limit) {
  std::vector<Case> space;
  std::string first;
  for (const PlannedCase& planned : cases) {
    auto reason = skip_reason_of_tune(planned, limit);
    if (!reason) reason = skip_reason(planned, machine, verify);
    if (!reason) {
      space.push_back(planned.config);
    } else if (first.empty()) {
      first = planned.config.key() + ": " + reason->text;
    }
  }
  if (space.empty()) throw UsageError("no configuration is left to tune: " + first);
  return space;
}

Tuned tune(const Scenario& scenario, std::span<const Case> space, const RunContext& bench, const CommandOf& command_of,
           const TuneObserver& observer, SearchMode thoroughness) {
  RunContext for_stages = bench;
  for_stages.policy.budget = std::min(for_stages.policy.budget, kLongest) * kForStages;
  const double begun = bench.machine.host().now();
  std::unique_ptr<Tunable> tunable = scenario.tunable(space, for_stages);
  if (tunable == nullptr) throw UsageError(fmt::format("{} cannot be tuned", scenario.descriptor().name));
  if (interrupted() != 0) return {};
  std::vector<Case> searched = those_of(space, [&](const Case& c) { return !tunable->skip_reason(c); });
  if (searched.empty()) {
    throw UsageError(fmt::format("no configuration is left to tune: {}: {}", space.front().key(),
                                 tunable->skip_reason(space.front())->text));
  }
  const unsigned passes = passes_in_a_sample(*tunable, searched, bench.objective);
  if (passes > 1) tunable->repeat_passes(passes);
  if (interrupted() != 0) return {};
  // This time includes allocation and preparation. So at most twice the budget of the stages is charged for it.
  const double seconds = bench.machine.host().now() - begun;
  const Spent spent{seconds, std::min(seconds, 2 * kForStages * bench.policy.budget)};
  model::CandidateSearchPolicy policy;
  policy.model_error = tunable->model_error();
  if (thoroughness == SearchMode::exhaustive) {
    policy.share = 1;
    policy.most = space.size();
    policy.reach = 1e6;  // so large that no prediction excludes a configuration
    policy.finalists = 16;
  }
  Tuner tuner(std::move(tunable), passes, searched, bench, observer, policy, spent);
  tuner.run();
  Tuned tuned{tuner.results(), tuner.findings(command_of)};
  // If the device was lost although no configuration failed, this mark is the only sign that the search ended early.
  if (!bench.device.usable()) std::ranges::for_each(tuned.results, mark_unfinished);
  return tuned;
}

}  // namespace xferbench
