// Not a scenario: each stage of a payload alone, both copies together, and the whole without overlap; and what single
// operations cost, from which model/pipeline.hpp predicts pipelines.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "measure/sampler.hpp"
#include "model/bounds.hpp"
#include "model/pipeline.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/chunked_work.hpp"

namespace xferbench {

inline constexpr const char* kBothChunked = "both-chunked";   ///< name of what Stages::both_chunked() times
inline constexpr const char* kAtBothRates = "both-at-rates";  ///< name of what at_both_rates() says
inline constexpr std::size_t kChunksOfBoth = 8;  ///< few, so that what each costs is little; of an H100 the fastest

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
  [[nodiscard]] Region both() { return both("both", 1); }
  /// The same in chunks, between which neither direction gives way to the other as it can in one long copy.
  [[nodiscard]] Region both_chunked() { return both(kBothChunked, kChunksOfBoth); }
  [[nodiscard]] std::vector<Region> all() { return {h2d(), kernel(), d2h(), both(), both_chunked()}; }
  /// What one writes first: blocking copies around a kernel, all in the default stream.
  [[nodiscard]] Region serial();

  /// Runs each region but serial() once on poisoned memory and checks the result. Throws VerificationError.
  void verify();
  void verify_serial();  ///< the same of that

 private:
  using StageOfAll = std::function<void(StreamView)>;
  [[nodiscard]] Region alone(const char* name, StageOfAll stage);
  [[nodiscard]] Region both(const char* name, std::size_t parts);

  Device& device_;
  ChunkedWork& work_;
  Stream default_stream_;
  std::array<Stream, 2> streams_;
};

/// Of the regions of several GPUs, the first of all at once, then the second, and so on; of one GPU, its own.
std::vector<Region> at_once_on_all(std::vector<std::vector<Region>> of_gpus);

/// Of each round in which both copies were timed one beside the other and alone: model::time_at_both_rates(). Nothing
/// where the ends of the directions are not known, as of several GPUs. `series`: of what Stages times.
std::optional<Measurement> at_both_rates(std::span<const Series> series);

/// What operations of the stages cost. The way from one engine to the next differs.
struct StageCosts {
  model::StageCosts in_stream;       ///< where a stream's order is all the order there is
  model::StageCosts across_streams;  ///< where events keep order between streams
  model::StageCosts in_turns;        ///< the same where chunks take turns on several streams
  double event_call = 0;             ///< host time of recording an event or waiting for one

  [[nodiscard]] std::array<model::StageCosts*, 3> all() { return {&in_stream, &across_streams, &in_turns}; }
};

/// The same of so many passes in a row within a sample: only the first begins behind a gate, the others when the one
/// before has ended.
StageCosts of_passes_in_a_row(StageCosts costs, unsigned passes);

/// So much of the same payload in another way of cutting.
ChunkedWork recut(Device& device, ChunkedWork& work, std::size_t bytes, std::size_t chunks);

/// Work that one GPU has to do.
struct OnGpu {
  Device* device = nullptr;
  ChunkedWork* work = nullptr;
};

/// Below this, a payload cannot be cut into enough pieces to tell what one more costs (bytes).
inline constexpr std::size_t kLeastForCosts = std::size_t{1} << 20;

/// Whether a round of a payload can: also of rows, which are no shorter than they are.
bool has_costs(const ChunkedWork::Shape& shape);

/// Measures them: the whole payload in one piece against the same in many, alone and both directions at once, and
/// chunks so small that only the way from one engine to the next is left. Uses the memory of `work` and leaves anything
/// in it. Times are event-gated, so that submission is in none of them but the submit_* ones. The same work must have
/// run just before: nothing is warmed up. Throws std::logic_error unless it has_costs(): a mistake in the scenario. On
/// several GPUs everything runs on all of them at once, and the costs are those of the first in such company.
/// `attempts`: where something else was in the way, so many times at most; what was fastest counts.
StageCosts measure_stage_costs(const RunContext& bench, std::span<const OnGpu> all, int attempts = 1);

}  // namespace xferbench
