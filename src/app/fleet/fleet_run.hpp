// A run by all ranks of a fleet: they measure the cases in step, rank 0 collects the results, and what looks slow is
// measured a second time.
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

/// Options for judging the fleet, from the command line.
fleet::Options judge_options_of(const cli::FleetChoice& choice);

/// A longer timeout, for ranks that wait for rank 0 to write its files.
Timeout timeout_while_rank0_writes(Timeout timeout);

class FleetRun {
 public:
  /// `live`: receives the results at rank 0; null elsewhere. `idle`: called while it waits for other ranks. All
  /// arguments must outlive it.
  FleetRun(const cli::RunCommand& command, RankSession& session, LiveReport* live, std::function<void()> idle);

  /// Measures all rounds, or until a signal comes to any rank. Throws RankTimeoutError or CommunicationError if a rank
  /// does not answer.
  void run();

  /// The signal that has ended the run early, the same on all ranks; 0: none.
  [[nodiscard]] int signal() const { return lockstep_.signal(); }

  /// The key of the case that is being measured, or was last.
  [[nodiscard]] std::string at() const { return at_; }
  /// A result of this rank that rank 0 may not have.
  [[nodiscard]] const std::optional<Result>& unsent() const { return unsent_; }
  /// The index of a result in rank 0's report. Throws InputError if the command has no such case, which can happen if
  /// the sending rank is of another build.
  [[nodiscard]] std::size_t index_of(const Result& result) const;
  void clear_progress() noexcept { progress_.clear(); }

 private:
  using Ranks = std::vector<int>;
  using Moments = std::map<std::string, std::vector<Lockstep::Moments>>;
  /// A case at one concurrency (pace), and how its passes went in all turns so far.
  struct Step {
    std::size_t number = 0;  ///< index of the case
    RankConcurrency pace = RankConcurrency::all;
    RankLockstep::Tally tally{};
    double clock_uncertainty = 0;
    Moments moments{};
    Ranks ranks{};  ///< the ranks that measure this step; empty: all
  };

  void learn_clocks();
  void retests_of();
  void measure_all(std::vector<Step>& steps, unsigned round, std::size_t turns);
  /// One turn of a step: each rank that takes part calls `visit`.
  void measure(Step& step, unsigned round, const std::function<Result()>& visit);
  /// Collective: sends the result of each rank to rank 0.
  void collect();
  /// At rank 0: puts the results of all ranks, as JSON texts, into the report.
  void keep(const std::vector<std::string>& texts);
  [[nodiscard]] RunContext context();
  /// Groups of ranks that measure at the same time; the groups measure one after the other.
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
  std::map<std::pair<std::string, RankConcurrency>, std::size_t> places_;  // indexes in steps_, by key and concurrency
  Ranks everybody_;
  cli::Progress progress_;
  Moments moments_;  // by region, from the passes of the current visit
  std::string at_;
  std::optional<Result> unsent_;
};

}  // namespace xferbench::app
