// Estimates what fixes would gain, by replaying the changed program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "explain/candidates.hpp"
#include "explain/explanation.hpp"

namespace xferbench::explain {

/// Largest tolerated error of a replay of the recording without changes, as a share of the recorded time. Gains are
/// unavailable if the error is larger.
inline constexpr double kReplayTolerance = 0.03;

/// Returns why gains are unavailable: the replay failed or its error is too large. Empty if they are available.
std::string why_gains_unavailable(const WindowSummary& window_summary);

/// Estimate of the program without profiler overhead, made from a profiled run.
struct UnprofiledProgram {
  Program program{};
  double seconds = 0;   ///< duration of the replay of `program`
  double per_call = 0;  ///< profiler overhead removed from each call, in seconds
};
/// Returns a changed program whose replay takes about `baseline` seconds, if possible. `replayed`: seconds that the
/// replay of `program` takes. Removes profiler overhead from calls and operations, within bounds. Attributes the
/// remaining difference first to copies of pageable memory, then to host time. If kernels wait for managed pages,
/// attributes it first to these kernels and to host time. Other GPU operations keep their recorded times.
UnprofiledProgram without_profiling(const Program& program, double replayed, double baseline);

struct Gains {
  std::vector<Finding> findings{};  ///< sorted by gain, largest first
  std::size_t left_out = 0;
};

/// Estimates the gain of each candidate. `reference`: real duration of the unchanged program in seconds, to which
/// replayed times are scaled. Leaves out findings that gain less than `least_share` both alone and after earlier fixes.
Gains gains_of(const Program& program, double reference, const std::vector<Candidate>& candidates, double least_share);

/// Estimate for the window with only the requested kinds of findings fixed.
struct Chosen {
  std::optional<double> seconds{};     ///< duration with the fixes; nothing if no such finding exists
  std::optional<double> least{};       ///< lower end of the range of `seconds`; see Finding::seconds_after_least
  bool at_most = false;                ///< the gain is an upper bound
  std::vector<FindingKind> missing{};  ///< requested kinds without a finding
};

/// Applies the best fix of each candidate that is of one of these kinds.
Chosen chosen_fixes(const Program& program, double reference, const std::vector<Candidate>& candidates,
                    const std::vector<FindingKind>& kinds);

}  // namespace xferbench::explain
