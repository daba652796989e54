// Not a scenario: each stage of a payload alone, both copies together, and the whole without overlap; and what single
// operations cost, from which model/pipeline.hpp predicts pipelines.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "measure/sampler.hpp"
#include "model/bounds.hpp"
#include "model/pipeline.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/chunked_work.hpp"

namespace xferbench {

/// The stages of one payload as regions to time. The work must outlive it.
class Stages {
 public:
  Stages(Device& device, ChunkedWork& work);

  // They can be checked where they are sampled together: a kernel comes after copies in, and a copy out after whatever
  // has computed the whole payload.
  [[nodiscard]] Region h2d();
  [[nodiscard]] Region kernel();
  [[nodiscard]] Region d2h();
  /// Both copies at once; also times when each direction ends.
  [[nodiscard]] Region both();
  /// What one writes first: blocking copies around a kernel, all in the default stream.
  [[nodiscard]] Region serial();

  /// Runs each region once on poisoned memory and checks the result. Throws VerificationError.
  void verify();

 private:
  using StageOfAll = void (ChunkedWork::*)(StreamView);
  [[nodiscard]] Region alone(const char* name, StageOfAll stage);

  Device& device_;
  ChunkedWork& work_;
  Stream default_stream_;
  std::array<Stream, 2> streams_;
};

/// What operations of the stages cost. The way from one engine to the next differs.
struct StageCosts {
  model::StageCosts in_stream;       ///< where a stream's order is all the order there is
  model::StageCosts across_streams;  ///< where events keep order between streams
  double event_call = 0;             ///< host time of recording an event or waiting for one
};

/// Work that one GPU has to do.
struct OnGpu {
  Device* device = nullptr;
  ChunkedWork* work = nullptr;
};

/// Below this, a payload cannot be cut into enough pieces to tell what one more costs (bytes).
inline constexpr std::size_t kLeastForCosts = std::size_t{1} << 20;

/// Measures them: the whole payload in one piece against the same in many, alone and both directions at once, and
/// chunks so small that only the way from one engine to the next is left. Uses the memory of `work` and leaves anything
/// in it. Times are event-gated, so that submission is in none of them but the submit_* ones. Throws std::logic_error
/// for less than kLeastForCosts a round: a mistake in the scenario. On several GPUs everything runs on all of them at
/// once, and the costs are those of the first in such company.
StageCosts measure_stage_costs(const RunContext& bench, std::span<const OnGpu> all);

}  // namespace xferbench
