// A run by all ranks of a fleet together: the cases in step, what everybody measured at rank 0, and once more what
// looks slow.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/fleet/membership.hpp"
#include "app/live_report.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "fleet/judgement.hpp"
#include "ranks/common_clock.hpp"
#include "ranks/in_step.hpp"
#include "run/runner.hpp"

namespace xferbench::app {

/// How the command wants its fleet to be judged.
fleet::Options judging_of(const cli::FleetChoice& choice);

/// Of a rank that waits for rank 0 to write its files.
Patience while_first_writes(Patience patience);

class FleetRun {
 public:
  /// `live`: at rank 0, where results go; null elsewhere. `idle`: called while it waits for other ranks. All must
  /// outlive it.
  FleetRun(const cli::RunCommand& command, Member& member, LiveReport* live, std::function<void()> idle);

  /// All rounds, or what there was of them when a signal came to any rank. Throws RanksSilentError or
  /// CommunicationError where somebody does not answer any more.
  void run();

  /// The signal that has ended it early, at all ranks; 0 where none has.
  [[nodiscard]] int signal() const { return in_step_.signal(); }

  /// The case that is being measured, or was last.
  [[nodiscard]] std::string at() const { return at_; }
  /// What this rank has measured and rank 0 may not have.
  [[nodiscard]] const std::optional<Result>& unsent() const { return unsent_; }
  /// Where a result of rank 0's report stands. Throws InputError where it is of no case of the command, as another
  /// build's may be.
  [[nodiscard]] std::size_t index_of(const Result& result) const;
  void clear_progress() noexcept { progress_.clear(); }

 private:
  using Ranks = std::vector<int>;
  using Moments = std::map<std::string, std::vector<Pace::Moments>>;
  /// A case at a pace, and how its passes went in all turns so far.
  struct Step {
    std::size_t number = 0;  ///< of the case
    Pacing pace = Pacing::all;
    InStep::Tally tally{};
    double clock_uncertainty = 0;
    Moments moments{};
    Ranks ranks{};  ///< that measure it; none: all
  };

  void learn_clocks();
  void second_round();
  void measure_all(std::vector<Step>& steps, unsigned round, std::size_t turns);
  /// One turn of a step, by those ranks of it that measure, each by its `visit`.
  void measure(Step& step, unsigned round, const std::function<Result()>& visit);
  /// What everybody has of a step, to rank 0.
  void collect();
  /// At rank 0: the texts of all ranks become results of the report.
  void keep(const std::vector<std::string>& texts);
  [[nodiscard]] RunContext context();
  /// Those who measure at once, one group after the other.
  [[nodiscard]] std::vector<Ranks> groups(const Step& step, const Ranks& ranks) const;
  [[nodiscard]] std::vector<fleet::Retest> retests();
  void note_passes(Step& step, bool alone);
  void describe(Result& result, const Step& step, unsigned round) const;

  const cli::RunCommand& command_;
  Member& member_;
  LiveReport* live_;
  Patience patience_;
  CommonClock clock_;
  InStep in_step_;
  FleetContext context_;
  std::vector<Step> steps_;
  std::map<std::pair<std::string, Pacing>, std::size_t> places_;  // of the steps, by keys of cases
  Ranks everybody_;
  cli::Progress progress_;
  Moments moments_;  // of the visit that goes on
  std::string at_;
  std::optional<Result> unsent_;
};

}  // namespace xferbench::app
