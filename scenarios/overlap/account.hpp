// Derives metrics from the measured times of an overlap case, on one GPU or several.
#pragma once

#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

/// Adds to the result which kernel ran: the amount of work of a built-in kernel, or the labels of a user's kernel.
void add_kernel(const ChunkedWork& work, bool verified, Result& result);

/// Declares the measurements that derive() compares with the makespan, taken with as many passes per sample as it so
/// that fixed costs per sample weigh equally.
std::span<const MetricDeclaration> alike_metrics();

/// Adds bandwidths, limit and efficiency from the measurements of pipeline and stages, and warnings about unreliable
/// values. With several GPUs, `o` is the case with the payload of all GPUs together.
void derive(const OverlapCase& o, unsigned copy_engines, Result& result);

/// Adds the comparison with measurement one-gpu: the case's payload on the first GPU alone, through its own link.
void derive_versus_one_gpu(const OverlapCase& o, Result& result);

/// Adds the predictions of the pipeline model for one GPU. `costs` are the costs on that GPU, and `o` is the case with
/// the payload of that GPU alone. Adds nothing after Ctrl-C.
void explain_makespan(const OverlapCase& o, const StageCosts& costs, Result& result);

}  // namespace xferbench
