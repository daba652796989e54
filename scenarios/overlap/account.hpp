// Not a scenario: what follows from the times of a case of overlap, on one GPU or on several.
#pragma once

#include <span>

#include "results/result.hpp"
#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

/// Which kernel it was: how much work a built-in one had, or what ran of the user's.
void add_kernel(const ChunkedWork& work, bool verified, Result& result);

/// The series that account for Region::repeated_alike, to declare; derive() holds the makespan against these.
std::span<const MetricDeclaration> alike_metrics();

/// Bandwidths, limit and efficiency, and warnings where these cannot be right, from the measurements of the pipeline
/// and its stages. `o`: with the payload of all GPUs.
void derive(const OverlapCase& o, unsigned copy_engines, Result& result);

/// The same work by the first GPU alone, through its own link, with one payload of the case's size: measurement
/// one-gpu.
void derive_beside_one_gpu(const OverlapCase& o, Result& result);

/// What the model says of it. `o`: with the payload of one GPU, whose costs these are. Adds nothing after Ctrl-C, when
/// there may be no samples of the costs.
void explain_makespan(const OverlapCase& o, const StageCosts& costs, Result& result);

}  // namespace xferbench
