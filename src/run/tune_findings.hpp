// What a tune says: the winner, what is as fast, and how to run it again. Pure functions.
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
struct Contestant {
  Case config;
  double seconds = 0;  ///< its median
  std::optional<Interval> interval;
  double predicted = 0;    ///< seconds
  double complexity = 0;   ///< fewer is simpler
  bool confirmed = false;  ///< measured in the last round, beside the others that are
  bool out = false;        ///< clearly slower by what the search saw of it
  bool disturbed = false;  ///< its samples lie too far apart to say how far the prediction is off
};

/// Where the time of a tune went; seconds by the host's clock.
struct TuneAccount {
  double model = 0;         ///< allocating, filling and checking the data; the stages and what predictions are made of
  double verification = 0;  ///< making configurations ready and verifying them
  double search = 0;        ///< sampling until it is known which are the best
  double confirmation = 0;  ///< sampling these afresh, and checking what passes left behind
  std::size_t passes = 0;   ///< timed, of the search and the confirmation

  [[nodiscard]] double all() const { return model + verification + search + confirmation; }
};

struct TuneSummary {
  std::vector<Case> space;              ///< every configuration
  std::vector<Contestant> contestants;  ///< those that have a median
  std::size_t failed = 0;               ///< configurations
  TuneAccount account{};
  Objective objective = Objective::device;             ///< whose times these are
  std::function<std::string(const Case&)> command_of;  ///< the command that runs a case by itself
};

/// Findings of kind "tune"; the label "about" tells which: "winner" with the values of its axes, "alike" (those within
/// 1 %), "simplest" of these, "search" (how many were measured and how wrong the model was), "command". The winner is
/// the fastest of those that are confirmed, or of all where none is. Without contestants there is only "search".
std::vector<Finding> tune_findings(TuneSummary summary);

}  // namespace xferbench
