// Runs pipelines on several GPUs at once, and compares them with the stages on all GPUs and with a single GPU.
#pragma once

#include "run/scenario.hpp"
#include "scenarios/overlap/case.hpp"

namespace xferbench {

/// Implements Scenario::run() for cases with OverlapCase::split.
void measure_multi_gpu(const OverlapCase& c, const RunContext& bench, Result& result);

/// Returns the device memory of the GPU that needs most, and the host memory for all GPUs.
MemoryNeeds multi_gpu_needs(const OverlapCase& c);

/// Returns why `tune` does not support a case with several GPUs; nothing for a case with one GPU.
std::optional<SkipReason> reason_against_search(const OverlapCase& c);

/// Returns why the case is impossible on any machine (`can` is null) or on this one; nothing if it is possible.
std::optional<SkipReason> reason_against_multi_gpu(const OverlapCase& c, const Capabilities* can);

}  // namespace xferbench
