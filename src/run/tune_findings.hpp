// Words the findings of `tune`: the winner, configurations that are as fast, and the command that runs the winner
// again. Pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "results/result.hpp"
#include "run/tunable.hpp"

namespace xferbench {

struct TuneCandidate {
  Case config;
  double seconds = 0;  ///< median time; from the confirmation if `confirmed`, otherwise from the search
  std::optional<Interval> interval;
  double predicted = 0;    ///< predicted time in seconds
  double complexity = 0;   ///< Tunable::complexity() of the configuration; lower values are simpler
  bool confirmed = false;  ///< measured again in the last round, alternating with the other finalists
  bool out = false;        ///< dropped during the search because it was clearly slower than the best
  bool disturbed = false;  ///< its samples vary too much to judge the error of the prediction
};

/// Host time that `tune` spent in each phase, in seconds.
struct TuneAccount {
  double model = 0;         ///< allocating, filling and checking data; measuring the inputs of predictions
  double verification = 0;  ///< preparing configurations and verifying them
  double search = 0;        ///< sampling in rounds until the best configurations are known
  double confirmation = 0;  ///< sampling the best configurations again, with checks of their output
  std::size_t passes = 0;   ///< number of timed passes in search and confirmation

  [[nodiscard]] double all() const { return model + verification + search + confirmation; }
};

struct TuneSummary {
  std::vector<Case> space;                 ///< all configurations of the search space
  std::vector<TuneCandidate> contestants;  ///< configurations that have samples
  std::size_t failed = 0;
  TuneAccount account{};
  /// Which time was minimized. All times of the contestants are of this kind.
  Objective objective = Objective::device;
  bool by_host_clock = false;                          ///< whether times are host times until the result arrives
  std::function<std::string(const Case&)> command_of;  ///< returns the command line that runs a case by itself
};

/// Returns findings of kind "tune", distinguished by the label "about": "winner" (its labels are the values of its
/// axes), "alike" (configurations within 1 % of it), "simplest" (the simplest of all these), "search" (the number of
/// measured configurations and the errors of the predictions) and "command". The winner is the fastest confirmed
/// configuration, or the fastest of all if none is confirmed. Without contestants, only "search" is returned.
std::vector<Finding> tune_findings(TuneSummary summary);

}  // namespace xferbench
