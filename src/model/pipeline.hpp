// Predicts the makespan of a chunked pipeline and explains where time is lost: H2D copies, kernels and D2H copies on
// three engines, each in order. Pure functions; times in seconds, payloads in bytes. Formulas:
// docs/lab/overlap-model.md, "The pipeline model".
#pragma once

#include <cstddef>
#include <vector>

namespace xferbench::model {

/// Cost of one stage for a single chunk, in seconds unless noted; no value is negative.
struct Cost {
  double per_operation = 0;  ///< engine time in addition to the time for the payload
  double per_byte = 0;
  // The duplex values apply to a copy while a copy in the opposite direction runs. They may differ between H2D and D2H.
  double duplex_rate = 1;      ///< rate while the other copy moves payload, relative to the rate alone; in (0, 1]
  double duplex_overhead = 1;  ///< factor by which per_operation grows while the other copy runs; at least 1
};

/// Seconds from the end of an operation to the start of a dependent one on another engine.
struct Handoff {
  double copy_to_kernel = 0;
  double kernel_to_copy = 0;
  double copy_to_copy = 0;  ///< from a copy to a dependent copy in the opposite direction

  static Handoff alike(double seconds) { return {seconds, seconds, seconds}; }
};

struct StageCosts {
  Cost h2d;
  Cost kernel;
  Cost d2h;
  Handoff handoff{};
  double stream_switch = 0;   ///< seconds by which a switch to another stream delays a copy engine
  double start = 0;           ///< fixed cost of a pass in seconds: no H2D copy starts earlier in the pass
  unsigned copy_engines = 2;  ///< with 1, the two directions take turns
  double submit_h2d = 0;      ///< host seconds per call; 0 if submission is hidden, for example by a gate
  double submit_kernel = 0;
  double submit_d2h = 0;
};

/// The chunks of a pipeline and the dependencies between different chunks; 0: no dependency.
struct Arrangement {
  std::vector<double> chunks;        ///< bytes per chunk
  std::size_t h2d_after_d2h = 0;     ///< H2D copy of chunk i waits for the D2H copy of chunk i - h2d_after_d2h
  std::size_t h2d_after_kernel = 0;  ///< H2D copy of chunk i waits for the kernel of chunk i - h2d_after_kernel
  std::size_t kernel_after_d2h = 0;  ///< kernel of chunk i waits for the D2H copy of chunk i - kernel_after_d2h
  std::size_t streams = 0;           ///< chunks rotate over this many streams; 0: one stream per engine
  std::size_t wave = 1;              ///< chunks submitted together, stage by stage; 1: chunk by chunk ("depth first")
};

/// Returns the seconds from the first call (from the start of the first copy if submission is hidden) to the end of the
/// last D2H copy. Simulates starts and ends by the rules of the simulated device, in O(chunks).
double makespan(const StageCosts& costs, const Arrangement& arrangement);

/// Returns a lower bound for the makespan of every arrangement. It is the longest of four times: of the payload through
/// each of the three stages in one piece, and of both copies at once (in turn with one copy engine).
double lower_bound(const StageCosts& costs, double bytes);

/// Decomposes a measured makespan, in seconds. It is the sum of `limit` and all later fields except `contention`.
struct Losses {
  double limit = 0;        ///< lower bound of the makespan: argument `measured_limit` of explain()
  double contention = 0;   ///< part of `limit`: delay of copies by opposing copies; 0 if the kernel is the bottleneck
  double fill_drain = 0;   ///< pipeline start and end, when not all engines have work
  double overhead = 0;     ///< fixed costs of operations and of the pass, handoffs, stream switches
  double slots = 0;        ///< waiting for a free buffer slot
  double submission = 0;   ///< waiting for the host's submission
  double unexplained = 0;  ///< measured minus modelled; may be negative
};

/// Splits a measured makespan. Enables the model's effects one at a time, in the order of Losses, and charges each for
/// the time that it adds. No loss is negative: if an effect saves time, the saving reduces the losses of earlier
/// effects. `unexplained` is the error of the whole model.
Losses explain(const StageCosts& costs, const Arrangement& arrangement, double measured_makespan,
               double measured_limit);

}  // namespace xferbench::model
