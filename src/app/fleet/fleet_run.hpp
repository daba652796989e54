// A run by all ranks of a fleet together: the cases in step, what everybody measured at rank 0, and once more what
// looks slow.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
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

class FleetRun {
 public:
  /// `live`: at rank 0, where results go; null elsewhere. `idle`: called while it waits for other ranks. All must
  /// outlive it.
  FleetRun(const cli::RunCommand& command, Member& member, LiveReport* live, std::function<void()> idle);

  /// All rounds. Throws RanksSilentError or CommunicationError where somebody does not answer any more.
  void run();

  /// The case that is being measured, or was last.
  [[nodiscard]] std::string at() const { return at_; }
  /// What this rank has measured and rank 0 may not have.
  [[nodiscard]] const std::optional<Result>& unsent() const { return unsent_; }
  /// Where a result of rank 0's report stands.
  [[nodiscard]] std::size_t index_of(const Result& result) const;
  void clear_progress() noexcept { progress_.clear(); }

 private:
  /// A case at a pace.
  struct Step {
    std::size_t number = 0;  ///< of the case
    Pacing pace = Pacing::all;
  };
  using Ranks = std::vector<int>;

  void learn_clocks();
  void first_round();
  void second_round();
  /// One turn of a step, by those ranks of it that measure, each by its `visit`.
  void measure(const Step& step, const Ranks& measuring, unsigned round, const std::function<Result()>& visit);
  /// What everybody has of a step, to rank 0.
  void collect();
  [[nodiscard]] RunContext context();
  /// Those who measure at once, one group after the other.
  [[nodiscard]] std::vector<Ranks> groups(const Step& step, const Ranks& ranks) const;
  [[nodiscard]] std::vector<fleet::Retest> retests();
  void describe(Result& result, const Step& step, unsigned round);

  const cli::RunCommand& command_;
  Member& member_;
  LiveReport* live_;
  Patience patience_;
  CommonClock clock_;
  InStep in_step_;
  FleetContext context_;
  std::vector<Step> steps_;
  Ranks everybody_;
  cli::Progress progress_;
  std::map<std::string, std::vector<Pace::Moments>> moments_;
  std::string at_;
  std::optional<Result> unsent_;
};

}  // namespace xferbench::app
