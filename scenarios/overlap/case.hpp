// Not a scenario: what a case of overlap means: how its payload is cut, how its chunks are arranged, what the model
// says of it, and the metrics that follow from its times. What results say in words: which is the fastest, where its
// time went, what to try. And the cases as a space for `tune` to search.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/axis.hpp"
#include "model/bounds.hpp"
#include "model/pipeline.hpp"
#include "results/result.hpp"
#include "run/scenario.hpp"
#include "run/tunable.hpp"
#include "scenarios/common/chunked_work.hpp"
#include "scenarios/overlap/pipelines.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

/// What each of several GPUs has to do.
enum class Split {
  each,    ///< a payload of its own
  shared,  ///< its part of one
};
inline constexpr std::array<std::string_view, 2> kSplits{"each", "shared"};

/// A case in the terms of what runs it.
struct OverlapCase {
  ChunkedWork::Shape work;  ///< its seed is the run's
  PipelineShape pipeline;
  std::optional<double> balance{};  ///< kernel time over H2D time that the work is chosen for; until then it is 1
  bool sizes_kernels = false;       ///< --blocks or --kernels-per-chunk was given
  std::optional<Split> split{};     ///< of several GPUs; where there is none, one of them has all the work
  std::size_t gpus = 1;             ///< that it takes

  /// Small kernels of different streams may run at once; in a graph nobody can launch them by themselves.
  [[nodiscard]] bool kernels_may_share_gpu() const {
    return sizes_kernels && pipeline.strategy == Strategy::streams && !pipeline.graph;
  }
  /// One GPU works, others pass on.
  [[nodiscard]] bool through_neighbours() const { return pipeline.strategy == Strategy::multipath; }
};
OverlapCase overlap_case(const Case& c);

/// The same on all GPUs of the run, where several were asked for.
std::vector<Case> expand_overlap(const Case& c, const GpusOfRun& gpus);

/// Whether the model covers the pipeline: not kernels on host memory, nor grids so small that kernels run side by side,
/// nor payloads too small for their costs to be measured.
bool modelled(const OverlapCase& c);

/// Seconds that the pipeline should take; nothing where the model does not cover it. `gated`: its timed passes hide
/// what the host takes to submit.
std::optional<double> predicted(const StageCosts& costs, const OverlapCase& c, bool gated);

/// Where the time of a measured makespan went; nothing where the model does not cover the pipeline. Times in seconds.
std::optional<model::Losses> losses(const StageCosts& costs, const OverlapCase& c, bool gated, double makespan,
                                    double limit);

/// Flags that should make the pipeline faster, and by which share of its time.
struct Suggestion {
  std::string flags;
  double gain = 0;
};
/// Tries other chunk counts, growths, streams and slots in the model. Nothing unless it predicts more than 1 % of gain.
std::optional<Suggestion> suggestion(const StageCosts& costs, const OverlapCase& c, bool gated);

/// The fewest equal or growing chunks, as the case has them, within 1 % of the number that the model finds best of
/// those that suggestion() tries. Nothing where the model does not cover the pipeline, or where it has no chunks.
std::optional<std::size_t> best_chunks(const StageCosts& costs, const OverlapCase& c, bool gated);

/// Adds bandwidth, limit, efficiency and what sets the limit. `limit`: of all rounds; no more than the makespan.
void add_efficiency(const OverlapCase& c, const model::Bound& limit, double makespan, Result& result);

/// Of cases that do the same work, who is ahead where there are several, whether plain serial is as fast, the parts of
/// the makespan of the fastest that the model covers, and a suggestion where it promises more than is unexplained. All
/// of them are ok. Pure.
std::vector<Finding> diagnose(std::span<const Result* const> results);

/// The axes that say what is done, and not how.
std::vector<std::string_view> overlap_work_axes();

/// Measures the stages and what their operations cost. All candidates share one payload. Throws UsageError if the cases
/// do not do the same work, or choose their work by --balance.
std::unique_ptr<Tunable> overlap_space(std::span<const Case> cases, const RunContext& bench);

}  // namespace xferbench
