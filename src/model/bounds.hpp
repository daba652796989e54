// What a transfer or a pipeline cannot beat, and how close one came. Pure functions of times in seconds.
// Formulas and their derivation: docs/scenarios/overlap-model.md, "The bound of a pipeline".
#pragma once

#include <cstdint>

namespace xferbench::model {

/// Times of the whole payload through each stage alone, and of both copies together.
struct Stages {
  double h2d = 0;
  double kernel = 0;
  double d2h = 0;
  double both = 0;  ///< H2D and D2H at once, start to both finished
};

/// Rate of each direction while both run, over its rate alone; in (0, 1]. 1 is full duplex, 0.5 is taking turns.
double duplex_ratio(const Stages& stages);

/// Least time for both copies on a link with that duplex ratio:
/// max(H, D) + min(H, D) * min(1, 1 / beta - 1).
double link_bound(double h2d, double d2h, double beta);

/// Least makespan of any pipeline over these stages: max(kernel, link); with one copy engine the link takes H + D.
double lower_bound(const Stages& stages, unsigned copy_engines);

/// What stands in the way: the largest term of the lower bound.
enum class Limit { link, kernel };
Limit limiting_stage(const Stages& stages, unsigned copy_engines);

/// (serial - pipeline) / (serial - bound): 0 hides nothing, 1 hides all that can be hidden. 0 where there is nothing
/// to hide.
double hidden_fraction(double serial, double pipeline, double bound);

}  // namespace xferbench::model
