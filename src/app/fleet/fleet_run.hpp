// Runs the cases on all ranks of a fleet. The ranks measure each case at the same time, rank 0 collects the results,
// and cases in which a rank looks slow are measured a second time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/fleet/rank_session.hpp"
#include "app/live_report.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "fleet/judgement.hpp"
#include "ranks/common_clock.hpp"
#include "ranks/rank_lockstep.hpp"
#include "run/runner.hpp"

namespace xferbench::app {

/// Returns the options for finding slow ranks, from the flags of the command line.
fleet::Options judge_options_of(const cli::FleetChoice& choice);

/// Returns a longer timeout, for ranks that wait while rank 0 writes its files.
Timeout timeout_while_rank0_writes(Timeout timeout);

class FleetRun {
 public:
  /// `live` receives the results at rank 0 and is null on other ranks. `idle` is called repeatedly while this rank
  /// waits for others. All arguments must outlive this object.
  FleetRun(const cli::RunCommand& command, RankSession& session, LiveReport* live, std::function<void()> idle);

  /// Measures all cases. Then repeats the cases in which a rank looks slow. Stops early if any rank receives a signal.
  /// Throws RankTimeoutError or CommunicationError if a rank does not answer.
  void run();

  /// Returns the signal that has ended the run early, which is the same on all ranks; 0: none.
  [[nodiscard]] int signal() const { return lockstep_.signal(); }

  /// Returns the key of the case that is being measured or was measured last.
  [[nodiscard]] std::string at() const { return at_; }
  /// Returns a result of this rank that rank 0 may not have received yet.
  [[nodiscard]] const std::optional<Result>& unsent() const { return unsent_; }
  /// Returns the index of a result in rank 0's report. Throws InputError if the command has no such case, which can
  /// happen if the rank that sent the result runs another build.
  [[nodiscard]] std::size_t index_of(const Result& result) const;
  void clear_progress() noexcept { progress_.clear(); }

 private:
  using Ranks = std::vector<int>;
  using Moments = std::map<std::string, std::vector<Lockstep::Moments>>;
  /// A case to measure at one concurrency (`pace`: which ranks measure at once), with counts and times of its passes.
  struct Step {
    std::size_t number = 0;  ///< index of the case
    RankConcurrency pace = RankConcurrency::all;
    RankLockstep::Tally tally{};
    double clock_uncertainty = 0;
    Moments moments{};
    Ranks ranks{};  ///< ranks that measure this step; empty if all do
  };

  void learn_clocks();
  void retests_of();
  void measure_all(std::vector<Step>& steps, unsigned round, std::size_t turns);
  /// Measures a step in one pass of --passes. Each rank that takes part calls `visit`, which returns the rank's result.
  void measure(Step& step, unsigned round, const std::function<Result()>& visit);
  /// Collective operation: sends the result of each rank to rank 0.
  void collect();
  /// Called at rank 0: adds the results of all ranks, given as JSON texts, to the report.
  void keep(const std::vector<std::string>& texts);
  [[nodiscard]] RunContext context();
  /// Splits `ranks` into groups. The ranks of a group measure at the same time, the groups one by one.
  [[nodiscard]] std::vector<Ranks> groups(const Step& step, const Ranks& ranks) const;
  [[nodiscard]] std::vector<fleet::Retest> retests();
  void note_passes(Step& step, bool alone);
  void describe(Result& result, const Step& step, unsigned round) const;

  const cli::RunCommand& command_;
  RankSession& session_;
  LiveReport* live_;
  Timeout timeout_;
  CommonClock clock_;
  RankLockstep lockstep_;
  FleetContext context_;
  std::vector<Step> steps_;
  // indexes into steps_, by case key and concurrency
  std::map<std::pair<std::string, RankConcurrency>, std::size_t> places_;
  Ranks everybody_;
  cli::Progress progress_;
  Moments moments_;  // start and end times of the passes of the current visit, by name of the timed region
  std::string at_;
  std::optional<Result> unsent_;
};

}  // namespace xferbench::app
