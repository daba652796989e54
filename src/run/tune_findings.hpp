// Describes the result of a tune: the winner, what is as fast, and how to run it again. Pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "results/result.hpp"
#include "run/tunable.hpp"

namespace xferbench {

/// A configuration that was measured.
struct TuneCandidate {
  Case config;
  double seconds = 0;  ///< median time
  std::optional<Interval> interval;
  double predicted = 0;    ///< seconds
  double complexity = 0;   ///< less is simpler
  bool confirmed = false;  ///< measured in the last round, interleaved with the other confirmed ones
  bool out = false;        ///< clearly slower according to the search
  bool disturbed = false;  ///< its samples vary too much to judge the prediction
};

/// How a tune spent its time, in seconds by the host's clock.
struct TuneAccount {
  double model = 0;  ///< allocating, filling and checking data; measuring the stages and other inputs of predictions
  double verification = 0;  ///< preparing configurations and verifying them
  double search = 0;        ///< sampling until the best are known
  double confirmation = 0;  ///< sampling the best afresh, and checking the output of passes
  std::size_t passes = 0;   ///< timed passes of search and confirmation

  [[nodiscard]] double all() const { return model + verification + search + confirmation; }
};

struct TuneSummary {
  std::vector<Case> space;                 ///< every configuration
  std::vector<TuneCandidate> contestants;  ///< configurations with a median
  std::size_t failed = 0;                  ///< number of configurations that failed
  TuneAccount account{};
  Objective objective = Objective::device;             ///< what the times measure
  std::function<std::string(const Case&)> command_of;  ///< the command that runs a case by itself
};

/// Findings of kind "tune". The label "about" distinguishes them: "winner" with the values of its axes, "alike"
/// (configurations within 1 %), "simplest" of these, "search" (how many were measured, and the errors of the model),
/// "command". The winner is the fastest confirmed configuration, or the fastest of all if none is confirmed. Without
/// contestants there is only "search".
std::vector<Finding> tune_findings(TuneSummary summary);

}  // namespace xferbench
