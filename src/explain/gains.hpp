// What mending would gain, by replay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/candidates.hpp"
#include "explain/explanation.hpp"

namespace xferbench::explain {

/// A replay that is further from the recorded time than this explains too little of it for gains to mean something.
inline constexpr double kReplayTolerance = 0.03;
/// Watching that adds more than this is taken out of the calls before gains are told.
inline constexpr double kWatchingTolerance = 0.05;

/// Why gains cannot be told; empty: they can.
std::string reason_to_withhold(const Stretch& stretch);

/// Takes what watching added from the calls of the program, evenly: CUPTI does a little for each.
void take_out_watching(Program& program, double bare);

struct Gains {
  std::vector<Finding> findings{};  ///< by gain, the largest first
  std::vector<double> together{};   ///< see ProcessExplanation
  std::size_t left_out = 0;
};

/// Times are relative to what the stretch took: `reference` is what the program replayed unchanged stands for.
/// What gains less than that share, alone and after the others, is left out.
Gains gains_of(const Program& program, double reference, const std::vector<Candidate>& candidates, double least_share);

/// The time with just those kinds mended, the best way each.
double seconds_mended(const Program& program, double reference, const std::vector<Candidate>& candidates,
                      const std::vector<FindingKind>& kinds);

}  // namespace xferbench::explain
