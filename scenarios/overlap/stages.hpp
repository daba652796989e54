// Times the stages of a payload: each alone, both copies at once, and all one after another without overlap. Also
// measures the costs of single operations, from which model/pipeline.hpp predicts the time of pipelines.
#pragma once

#include <cstddef>

#include "model/bounds.hpp"
#include "model/pipeline.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/chunked_work.hpp"

namespace xferbench {

inline constexpr const char* kBothChunked = "both-chunked";
inline constexpr const char* kAtBothRates = "both-at-rates";
inline constexpr std::size_t kChunksOfBoth = 8;  ///< chunks per direction in both_chunked(); fastest on an H100

/// Builds timed regions for the stages of one payload. `work` must outlive this object.
class Stages {
 public:
  Stages(Device& device, ChunkedWork& work);

  // The checks of these regions assume that all are sampled together in one run: the kernel must run after the copies
  // in, and the copy out after a region that has computed the whole payload.
  [[nodiscard]] Region h2d();
  [[nodiscard]] Region kernel();
  [[nodiscard]] Region d2h();
  /// A region that copies in both directions at once and also times the end of each direction.
  [[nodiscard]] Region both() { return both("both", 1); }
  /// Like both(), but with each direction cut into kChunksOfBoth copies. With one long copy per direction, the hardware
  /// can favour one direction throughout; with several copies it favours none.
  [[nodiscard]] Region both_chunked() { return both(kBothChunked, kChunksOfBoth); }
  [[nodiscard]] std::vector<Region> all() { return {h2d(), kernel(), d2h(), both(), both_chunked()}; }
  /// A region that runs the simplest program: blocking copies around a kernel, in the default stream.
  [[nodiscard]] Region serial();

  /// Runs each region except serial() once on poisoned memory and checks the result. Throws VerificationError.
  void verify();
  void verify_serial();  ///< checks serial() in the same way

 private:
  using StageOfAll = std::function<void(StreamView)>;
  [[nodiscard]] Region alone(const char* name, StageOfAll stage);
  [[nodiscard]] Region both(const char* name, std::size_t parts);

  Device& device_;
  ChunkedWork& work_;
  Stream default_stream_;
  std::array<Stream, 2> streams_;
};

/// Combines the regions of several GPUs. Region i of the result runs region i of every GPU, all at once. With one GPU,
/// returns that GPU's regions.
std::vector<Region> concurrent_on_all_gpus(std::vector<std::vector<Region>> of_gpus);

/// Applies model::time_at_both_rates() to each sample of the regions of Stages in `series`. Returns nothing if the end
/// of each direction is not known, as with several GPUs.
std::optional<Measurement> at_both_rates(std::span<const Series> series);

/// Costs of operations, one set for each way in which operations of different engines are ordered.
struct StageCosts {
  model::StageCosts in_stream;       ///< all operations are in one stream
  model::StageCosts across_streams;  ///< each engine has a stream; events order them
  model::StageCosts in_turns;        ///< chunks rotate over several streams
  double event_call = 0;             ///< host time in seconds of one cudaEventRecord or cudaStreamWaitEvent

  [[nodiscard]] std::array<model::StageCosts*, 3> all() { return {&in_stream, &across_streams, &in_turns}; }
};

/// Returns the costs for several passes in a row within a sample: only the first pass starts behind a gate, and each
/// further pass starts when the previous one has ended.
StageCosts of_passes_in_a_row(StageCosts costs, unsigned passes);

/// Returns the first `bytes` of the payload of `work`, cut into `chunks` chunks.
ChunkedWork recut(Device& device, ChunkedWork& work, std::size_t bytes, std::size_t chunks);

/// A GPU, and the payload on which its costs are measured.
struct OnGpu {
  Device* device = nullptr;
  ChunkedWork* work = nullptr;
};

/// Minimum payload in bytes; a smaller one cannot be cut into enough pieces to measure the cost of one more copy.
inline constexpr std::size_t kLeastForCosts = std::size_t{1} << 20;

/// Whether the payload of one round (Shape::bytes) is large enough for measure_stage_costs(): at least kLeastForCosts
/// bytes, and at least 32 units (Shape::unit_bytes: a row or an element).
bool has_costs(const ChunkedWork::Shape& shape);

/// Measures the costs of operations. Copies the payload in one piece and in many, in one direction and in both at
/// once, and runs chunks so small that only hand-overs between engines matter. Overwrites the buffers of each `work`.
/// All regions are timed behind gates, so only the submit_* costs contain host time. The same work must have run just
/// before, as there is no warm-up. Throws std::logic_error unless has_costs(). With several GPUs all run at once, and
/// the costs of the first one are returned. Repeats noisy measurements up to `attempts` times and keeps the fastest.
StageCosts measure_stage_costs(const RunContext& bench, std::span<const OnGpu> all, int attempts = 1);

}  // namespace xferbench
