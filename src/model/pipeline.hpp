// What a pipeline of chunks takes, and why: copies in, kernels and copies out on three engines, each in order. Pure
// functions; times in seconds, payloads in bytes. Formulas and their order:
// docs/lab/overlap-model.md, "The pipeline model".
#pragma once

#include <cstddef>
#include <vector>

namespace xferbench::model {

/// What one stage costs, each chunk by itself. None of it is negative.
struct Cost {
  double per_operation = 0;  ///< engine time beside the payload
  double per_byte = 0;
  // Of a copy beside one of the other direction. The two directions need not suffer alike.
  double duplex_rate = 1;      ///< while that moves payload: its rate over that alone; in (0, 1]
  double duplex_overhead = 1;  ///< per_operation over that alone; 1 or more
};

/// From the end of an operation to the start of one on another engine that waited for it.
struct Handoff {
  double copy_to_kernel = 0;
  double kernel_to_copy = 0;
  double copy_to_copy = 0;  ///< of the other direction

  static Handoff alike(double seconds) { return {seconds, seconds, seconds}; }
};

struct StageCosts {
  Cost h2d;
  Cost kernel;
  Cost d2h;
  Handoff handoff{};
  double stream_switch = 0;   ///< of a copy engine that goes on with another stream than before
  double start = 0;           ///< what each pass takes beside its operations: no copy starts earlier
  unsigned copy_engines = 2;  ///< with 1, both directions take turns
  double submit_h2d = 0;      ///< host time of each call; 0 where submission is hidden, as behind a gate
  double submit_kernel = 0;
  double submit_d2h = 0;
};

/// The chunks and what they wait for, beside being worked on in order: copy in, kernel, copy out. 0: for nothing.
struct Arrangement {
  std::vector<double> chunks;        ///< bytes of each
  std::size_t h2d_after_d2h = 0;     ///< the copy of chunk i to the GPU waits for the copy back of chunk i - this
  std::size_t h2d_after_kernel = 0;  ///< the copy of chunk i to the GPU waits for the kernel of chunk i - this
  std::size_t kernel_after_d2h = 0;  ///< the kernel of chunk i waits for the copy back of chunk i - this
  std::size_t streams = 0;           ///< chunks take turns on so many; 0: each engine has one of its own
  std::size_t wave = 1;  ///< chunks that are submitted stage by stage together; 1: chunk after chunk, "depth first"
};

/// From the first call, or from the start of the first copy where submission is hidden, to the end of the last copy
/// out. Steps through starts and ends, by the rules of the simulated device: O(chunks).
double makespan(const StageCosts& costs, const Arrangement& arrangement);

/// What no arrangement can beat: the payload through each stage in one piece, and both directions together at the rates
/// that they leave each other.
double lower_bound(const StageCosts& costs, double bytes);

/// Where a measured makespan went. `limit` and all below but `contention` add up to it.
struct Losses {
  double limit = 0;        ///< as measured
  double contention = 0;   ///< part of `limit`: what the two directions cost each other, where the link sets it
  double fill_drain = 0;   ///< not all engines have work at the beginning and at the end
  double overhead = 0;     ///< what each operation costs beside its payload, pauses and hand-over
  double slots = 0;        ///< waiting for a place
  double submission = 0;   ///< waiting for the host
  double unexplained = 0;  ///< measured less modelled; may be negative
};

/// Effects are switched on one at a time in the order of Losses; each is charged with what it adds to those before.
/// None of them is negative: what an effect gains comes off those before. So `unexplained` is what the model as a whole
/// misses.
Losses explain(const StageCosts& costs, const Arrangement& arrangement, double measured_makespan,
               double measured_limit);

}  // namespace xferbench::model
