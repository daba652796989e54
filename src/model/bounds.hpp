// What a transfer or a pipeline cannot beat, and how close one came. Pure functions of times in seconds.
// Formulas and their derivation: docs/scenarios/overlap-model.md, "The bound of a pipeline".
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace xferbench::model {

/// Times of the whole payload through each stage alone, and of both copies together in several arrangements.
struct Stages {
  double h2d = 0;
  double kernel = 0;
  double d2h = 0;
  double both = 0;           ///< H2D and D2H at once, start to both finished
  double chunked = 0;        ///< the same, each in chunks; 0: not measured
  double at_both_rates = 0;  ///< as time_at_both_rates() says; 0: not measured
};

/// Rate of each direction while both run, over its rate alone; in (0, 1]. 1 is full duplex, 0.5 is taking turns.
double duplex_ratio(const Stages& stages);

/// Both copies at the rates that they have while both run: where one ends before the other, the other one's rest is
/// taken to move at that rate of both together, and not alone. `h2d`, `d2h`: each alone; the ends: when each ends where
/// both begin at once.
double time_at_both_rates(double h2d, double d2h, double h2d_end, double d2h_end);

/// What sets a limit: the kernel, one of the arrangements of both copies, or the pipeline that is held against it.
enum class SetBy { kernel, in_turn, whole, chunked, rates, fastest };
constexpr auto texts_of(SetBy) {
  return std::to_array<std::string_view>({"kernel", "in-turn", "whole", "chunked", "rates", "fastest"});
}

struct Bound {
  double seconds = 0;
  SetBy by = SetBy::whole;
  bool is_of_kernel = false;  ///< whether the kernel takes longer than both copies; else the link sets it
};

/// Least makespan of any pipeline over these stages: the kernel, or the fastest arrangement of both copies, whichever
/// takes longer; with one copy engine the copies take turns. No pipeline is faster than its limit: `fastest`, the
/// makespan of one over the same stages, is the limit where it is less.
Bound lower_bound(const Stages& stages, unsigned copy_engines,
                  double fastest = std::numeric_limits<double>::infinity());

/// How much of its limit something reaches that takes so long: its limit's time over its own, at most 1. Nothing is
/// faster than its limit: what was measured so is the limit itself.
double share_of_limit(double limit, double seconds);

/// (serial - pipeline) / (serial - bound): 0 hides nothing, 1 hides all that can be hidden. 0 where there is nothing
/// to hide.
double hidden_fraction(double serial, double pipeline, double bound);

}  // namespace xferbench::model
