// Lower bounds on the time of transfers and pipelines, and the fraction of these bounds that a time reaches. Pure
// functions; times in seconds. Derivation: docs/scenarios/overlap-model.md, "The bound of a pipeline".
#pragma once

#include <limits>

#include "core/enum_text.hpp"

namespace xferbench::model {

/// Times of the whole payload through each stage alone, and of both copies at once in several arrangements.
struct Stages {
  double h2d = 0;
  double kernel = 0;
  double d2h = 0;
  double both = 0;           ///< H2D and D2H concurrently, until both have finished
  double chunked = 0;        ///< H2D and D2H concurrently in chunks, until both have finished; 0: not measured
  double at_both_rates = 0;  ///< result of time_at_both_rates(); 0: not measured
};

/// Returns the rate of each direction while both run, relative to the rate of that direction alone: 1 for full duplex,
/// 0.5 for half duplex, always above 0.
double duplex_ratio(const Stages& stages);

/// Returns the time in which both copies would move all their bytes at the total rate that they reach while both run.
/// The faster rate of one direction after the other has ended does not count. `h2d`, `d2h`: time of each copy alone.
/// `h2d_end`, `d2h_end`: end of each copy if both start together.
double time_at_both_rates(double h2d, double d2h, double h2d_end, double d2h_end);

/// The source of a bound: the kernel, an arrangement of both copies, or a measured pipeline that beat the other bounds.
enum class LimitSource { kernel, in_turn, whole, chunked, rates, fastest };
constexpr auto texts_of(LimitSource) { return enum_texts("kernel", "in-turn", "whole", "chunked", "rates", "fastest"); }

struct Bound {
  double seconds = 0;
  LimitSource by = LimitSource::whole;
  bool is_of_kernel = false;  ///< whether the kernel, not the link, is the bottleneck
};

/// Returns the shortest possible makespan of a pipeline over these stages: the time of the kernel or of the fastest
/// arrangement of both copies, whichever is longer. With one copy engine the copies take turns. `fastest`: the best
/// measured makespan over the same stages, which replaces the bound if it is lower.
Bound lower_bound(const Stages& stages, unsigned copy_engines,
                  double fastest = std::numeric_limits<double>::infinity());

/// Returns limit / seconds, the fraction of the limit that a time reaches. A measured time below its limit counts as 1.
double share_of_limit(double limit, double seconds);

/// Returns the achieved part of the possible overlap: (serial - pipeline) / (serial - bound); 0 if none is possible.
double hidden_fraction(double serial, double pipeline, double bound);

}  // namespace xferbench::model
