#include "app/fleet/fleet_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "core/error.hpp"
#include "core/lists.hpp"
#include "core/standard_error.hpp"
#include "core/units.hpp"
#include "results/json.hpp"
#include "results/json_codec.hpp"

namespace xferbench::app {

fleet::Options judge_options_of(const cli::FleetChoice& choice) { return {.threshold = choice.threshold}; }

namespace {

bool holds(const std::vector<int>& ranks, int rank) { return std::ranges::binary_search(ranks, rank); }

constexpr std::array kRetestFields{
    json::field<&fleet::Retest::key, json::kRawText>("key"),
    json::field<&fleet::Retest::pace>("pace"),
    json::field<&fleet::Retest::ranks, json::kSentNumbers>("ranks"),
};
constexpr json::Codec kRetest = json::record(kRetestFields);
constexpr const json::Codec& kRetests = json::kListOf<fleet::Retest, kRetest, std::numeric_limits<std::size_t>::max()>;

}  // namespace

/// The timeout is multiplied by ten, because writing a full page cache to a slow disk takes minutes. After an interrupt
/// the original timeout applies.
Timeout timeout_while_rank0_writes(Timeout timeout) {
  constexpr double kFactor = 10;
  timeout.after_interrupt = timeout.seconds;
  timeout.seconds *= kFactor;
  return timeout;
}

FleetRun::FleetRun(const cli::RunCommand& command, RankSession& session, LiveReport* live, std::function<void()> idle)
    : command_(command),
      session_(session),
      live_(live),
      timeout_(timeout_of(command, std::move(idle))),
      clock_(session.ranks(), session.clock_host()),
      lockstep_(session.ranks(), session.clock_host(), clock_, timeout_),
      context_{session.ranks(), session.nodes, timeout_},
      everybody_(static_cast<std::size_t>(session.ranks().size())),
      progress_(live != nullptr ? command.measuring.show.progress : cli::ProgressMode::never,
                command.cases.size() * command.fleet.pace.size(), command.turns.value_or(1)) {
  std::iota(everybody_.begin(), everybody_.end(), 0);
  for (std::size_t i = 0; i < command.cases.size(); ++i) {
    for (const RankConcurrency pace : command.fleet.pace) {
      places_.emplace(std::pair(command.cases[i].config.key(), pace), steps_.size());
      steps_.push_back({.number = i, .pace = pace});
    }
  }
}

/// Synchronizes the clocks of all ranks several times. The drift between clocks can be estimated only from measurements
/// that are some time apart; without this estimate, the error of the common clock grows.
void FleetRun::learn_clocks() {
  constexpr int kTimes = 3;
  constexpr double kBetween = 50e-3;  // seconds
  for (int i = 0; i < kTimes; ++i) {
    if (i > 0) session_.clock_host().wait_until(session_.clock_host().now() + kBetween);
    clock_.synchronise(timeout_);
  }
}

void FleetRun::run() {
  learn_clocks();
  measure_all(steps_, 1, command_.turns.value_or(1));
  if (signal() == 0) retests_of();
}

std::vector<FleetRun::Ranks> FleetRun::groups(const Step& step, const Ranks& ranks) const {
  const RankConcurrency pace = step.pace;
  const bool together = command_.cases[step.number].scenario->descriptor().needs_ranks;
  if (together || pace == RankConcurrency::all) return {ranks};
  std::map<int, Ranks> by_group;
  for (const int rank : ranks) {
    const int node = session_.nodes.at(static_cast<std::size_t>(rank));
    by_group[pace == RankConcurrency::node ? node : rank].push_back(rank);
  }
  return list_of(by_group, [](auto& group) { return std::move(group.second); });
}

RunContext FleetRun::context() {
  const cli::Measuring& measuring = command_.measuring;
  return {.machine = *session_.machine->machine,
          .device = session_.machine->device(),
          .policy = measuring.policy,
          .seed = measuring.seed,
          .verify = measuring.verify,
          .observe = [this](const SamplingProgress& p) { progress_.sampled(p); },
          .pace = &lockstep_,
          .fleet = &context_,
          .moments = &moments_};
}

void FleetRun::measure_all(std::vector<Step>& steps, unsigned round, std::size_t turns) {
  const RunContext bench = context();
  const RunObserver observer{};
  // A case that is measured at several concurrencies (which ranks measure at once) has one entry for each of them.
  const auto cases = list_of(steps, [&](const Step& step) { return command_.cases[step.number]; });
  InterleavedRuns runs(cases, bench, observer, turns);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (round == 1) progress_.begin(i, turn, cases[i].config);
      measure(steps[i], round, [&] {
        runs.visit(i, turn);
        return runs.result(i);
      });
      collect();
      // All ranks have the same value of signal(), so all of them return here.
      if (signal() != 0) return;
      if (round > 1 || turn + 1 < turns || live_ == nullptr) continue;
      progress_.done(i, runs.result(i), headline_of(runs.result(i), cases[i].scenario->descriptor().metrics));
    }
  }
}

void FleetRun::measure(Step& step, unsigned round, const std::function<Result()>& visit) {
  at_ = command_.cases[step.number].config.key();
  context_.pace = step.pace;
  clock_.synchronise(timeout_);
  for (const Ranks& group : groups(step, step.ranks.empty() ? everybody_ : step.ranks)) {
    const bool alone = group.size() == 1;
    context_.taking_part = group;
    lockstep_.begin_case(at_, alone ? RankLockstep::Company::alone : RankLockstep::Company::together);
    if (holds(group, session_.place.rank)) {
      moments_.clear();
      unsent_ = visit();
      note_passes(step, alone);
      describe(*unsent_, step, round);
    }
    lockstep_.answer_questions();
    if (lockstep_.timeout_reason()) throw RankTimeoutError(*lockstep_.timeout_reason());
    if (signal() != 0) return;
  }
}

/// Adds the counts and times of the last timed passes to the sums in `step`. With --passes N, a step is measured
/// N times, and its result contains the samples of all N measurements.
void FleetRun::note_passes(Step& step, bool alone) {
  step.tally += lockstep_.tally();
  // The error of the common clock does not matter if this rank measures alone.
  if (!alone) step.clock_uncertainty = std::max(step.clock_uncertainty, lockstep_.clock_uncertainty());
  for (const auto& [region, moments] : moments_) {
    std::vector<Lockstep::Moments>& all = step.moments[region];
    all.insert(all.end(), moments.begin(), moments.end());
  }
}

void FleetRun::describe(Result& result, const Step& step, unsigned round) const {
  const Scenario& scenario = *command_.cases[step.number].scenario;
  result.in_fleet = InFleet{.rank = session_.place.rank,
                            .pace = step.pace,
                            .round = round,
                            .path = scenario.data_path(result.config),
                            .clock_uncertainty = step.clock_uncertainty,
                            .passes = step.tally.passes,
                            .void_passes = step.tally.void_passes,
                            .late_passes = step.tally.late_passes};
  if (step.tally.question_mismatch > 0) {
    result.warnings.push_back(
        fmt::format("{} passes did not start at the same time on all ranks: a host was late repeatedly; bind each rank "
                    "to its own CPUs, and look for other load on the hosts",
                    step.tally.question_mismatch));
  }
  const Measurement* headline = headline_of(result, scenario.descriptor().metrics);
  const auto found = headline == nullptr ? step.moments.end() : step.moments.find(headline->name);
  if (found == step.moments.end()) return;
  for (const Lockstep::Moments& m : found->second) {
    result.in_fleet->begins.push_back(m.begin);
    result.in_fleet->ends.push_back(m.end);
  }
}

std::size_t FleetRun::index_of(const Result& result) const {
  const auto step = places_.find({result.config.key(), result.in_fleet->pace});
  if (step == places_.end()) {
    throw InputError(fmt::format(
        "rank {} sent the result of an unexpected case ({}): start all ranks with the same build of xferbench",
        result.in_fleet->rank, result.config.key()));
  }
  const std::size_t before = (result.in_fleet->round - 1) * steps_.size() + step->second;
  return before * everybody_.size() + static_cast<std::size_t>(result.in_fleet->rank);
}

void FleetRun::collect() {
  const std::string mine = unsent_ ? to_json(*unsent_) : "";
  const std::vector<std::string> texts = gather(session_.ranks(), mine, timeout_, "the results of " + at_);
  unsent_.reset();
  if (live_ != nullptr) keep(texts);
  // Wait for rank 0 with a longer timeout: rank 0 may be writing large files to a slow disk.
  static_cast<void>(broadcast(session_.ranks(), "", 0, timeout_while_rank0_writes(timeout_), "rank 0 writing " + at_));
}

void FleetRun::keep(const std::vector<std::string>& texts) {
  KnownResults results;
  double uncertainty = 0;
  for (const std::string& text : texts) {
    if (text.empty()) continue;
    Result one = parse_result(text, at_);
    if (one.in_fleet) uncertainty = std::max(uncertainty, one.in_fleet->clock_uncertainty);
    const std::size_t index = index_of(one);
    results.emplace_back(index, std::move(one));
  }
  live_->edit([&](Report& report) {
    report.fleet->clock_uncertainty = std::max(report.fleet->clock_uncertainty, uncertainty);
  });
  progress_.tell(live_->put(std::move(results)));
}

std::vector<fleet::Retest> FleetRun::retests() {
  constexpr const char* kWhat = "the list of cases to measure again";
  std::vector<fleet::Retest> again;
  if (live_ != nullptr) again = fleet::retests_of(live_->report(), judge_options_of(command_.fleet));
  const std::string text = broadcast(session_.ranks(), json::text_of(kRetests, &again), 0, timeout_, kWhat);
  return json::record_from_text<std::vector<fleet::Retest>>(text, kWhat, kRetests);
}

void FleetRun::retests_of() {
  const std::vector<fleet::Retest> again = retests();
  std::vector<Step> steps;
  for (const fleet::Retest& retest : again) {
    const std::size_t number = steps_.at(places_.at({retest.key, retest.pace})).number;
    steps.push_back({.number = number, .pace = retest.pace, .ranks = retest.ranks});
  }
  if (!again.empty() && live_ != nullptr && !command_.measuring.show.quiet) {
    progress_.tell({fmt::format("measuring {} again where a rank looks slow, with as many other ranks",
                                counted(again.size(), "case"))});
  }
  measure_all(steps, 2, 1);
  if (live_ == nullptr || signal() != 0) return;
  live_->edit([&](Report& report) { fleet::judge(report, judge_options_of(command_.fleet)); });
}

}  // namespace xferbench::app
