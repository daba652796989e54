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

/// Why gains cannot be told; empty: they can.
std::string reason_to_withhold(const Stretch& stretch);

/// A program as it is unwatched, as far as that can be told from a run that was watched.
struct Unwatched {
  Program program{};
  double seconds = 0;   ///< replayed
  double per_call = 0;  ///< seconds that were taken out of each call, as watching costs them
};
/// Makes the replay give the bare time: by what watching costs calls and operations, within bounds; what is left of the
/// difference is put on copies of pageable memory and then on the host; where kernels wait for managed pages, on them
/// and on the host before it is put on copies. What else is on the GPU stays as it was recorded.
Unwatched without_watching(const Program& program, double replayed, double bare);

struct Gains {
  std::vector<Finding> findings{};  ///< by gain, the largest first
  std::vector<double> together{};   ///< see ProcessExplanation
  std::size_t left_out = 0;
};

/// Times are relative to what the stretch took: `reference` is what the program replayed unchanged stands for.
/// What gains less than that share, alone and after the others, is left out.
Gains gains_of(const Program& program, double reference, const std::vector<Candidate>& candidates, double least_share);

/// The stretch with just some kinds of findings mended.
struct Chosen {
  std::optional<double> seconds{};     ///< nothing where none of them was found
  bool at_most = false;                ///< as that of a finding
  std::vector<FindingKind> missing{};  ///< that were not found
};

/// With just those kinds mended, the best way each.
Chosen chosen_mended(const Program& program, double reference, const std::vector<Candidate>& candidates,
                     const std::vector<FindingKind>& kinds);

}  // namespace xferbench::explain
