// The cases of scenario overlap: parsing, predictions of the pipeline model, metrics, findings in words (fastest case,
// where its time went, what to try), and the search space of `tune`.
#pragma once

#include <string_view>

#include "model/bounds.hpp"
#include "model/pipeline.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/chunked_work.hpp"
#include "scenarios/overlap/pipelines.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

/// How several GPUs share the work.
enum class Split {
  each,    ///< each GPU has a payload of its own
  shared,  ///< each GPU has a part of one payload
};
inline constexpr std::array<std::string_view, 2> kSplits{"each", "shared"};

/// The parsed axes of a case.
struct OverlapCase {
  ChunkedWork::Shape work;  ///< the parser does not set `seed`; the run derives it from RunContext::seed
  PipelineShape pipeline;
  std::optional<double> balance{};  ///< requested ratio of kernel time to H2D time; choose_work() then sets work.work
  bool sizes_kernels = false;       ///< whether --blocks or --kernels-per-chunk was given
  std::optional<Split> split{};  ///< how several GPUs that all compute share the work; nothing: only one GPU computes
  std::size_t gpus = 1;

  /// Whether to measure how many kernels of different streams run concurrently. This is not possible in a graph.
  [[nodiscard]] bool kernels_may_share_gpu() const {
    return sizes_kernels && pipeline.strategy == Strategy::streams && !pipeline.graph;
  }
  /// Whether one GPU computes while other GPUs relay some of its chunks.
  [[nodiscard]] bool uses_peer_relay() const { return pipeline.strategy == Strategy::multipath; }
};
OverlapCase overlap_case(const Case& c);

/// Returns the case for all GPUs of the run if several were requested, else the case itself.
std::vector<Case> expand_overlap(const Case& c, const GpusOfRun& gpus);

/// Whether the pipeline model covers the case. It does not cover kernels on host memory, grids so small that kernels
/// run concurrently, and payloads too small to measure the costs of operations.
bool modelled(const OverlapCase& c);

/// Returns the predicted makespan in seconds; nothing if the model does not cover the case. `gated`: the pass is timed
/// behind a gate, which hides the host's submission.
std::optional<double> predicted(const StageCosts& costs, const OverlapCase& c, bool gated);

/// Splits a measured makespan into its causes; nothing if the model does not cover the case. Times in seconds.
std::optional<model::Losses> losses(const StageCosts& costs, const OverlapCase& c, bool gated, double makespan,
                                    double limit);

/// Flags that should make a pipeline faster, and the fraction of the makespan that they should save.
struct Suggestion {
  std::string flags;
  double gain = 0;
};
/// Tries other chunk counts, growths, and numbers of streams and slots in the model. Returns nothing if the model
/// predicts a gain of at most 1 %.
std::optional<Suggestion> suggestion(const StageCosts& costs, const OverlapCase& c, bool gated);

/// Returns the smallest chunk count, with the case's growth, whose predicted makespan is within 1 % of the best
/// prediction. Nothing if the model does not cover the case, or if the case has no chunks.
std::optional<std::size_t> best_chunks(const StageCosts& costs, const OverlapCase& c, bool gated);

/// Adds bandwidth, limit, efficiency and bottleneck. `limit`: lower bound of the time of all rounds, at most the
/// makespan.
void add_efficiency(const OverlapCase& c, const model::Bound& limit, double makespan, Result& result);

/// Returns the findings for each group of cases that do the same work: the fastest case if there are several, its
/// comparison with serial, where the time of the fastest modelled case went, and a suggestion if its predicted gain is
/// larger than the unexplained time. `results` must be successful.
std::vector<Finding> diagnose(std::span<const Result* const> results);

/// Returns the names of the axes that define what is computed. The other axes define how it is computed.
std::vector<std::string_view> overlap_work_axes();

/// Creates the search space of `tune`: measures the stages, and the costs of their operations. All candidates share one
/// payload. Throws UsageError if the cases do different work, or use --balance.
std::unique_ptr<Tunable> overlap_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
