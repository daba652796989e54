// An overlap case on several GPUs is split into parts, one per GPU. Each part has its own buffers, pipeline and stages.
#pragma once

#include <cstddef>

#include "run/scenario.hpp"
#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/pipelines.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

/// Returns the case that GPU number `gpu` of the case runs. `c` must have a split.
OverlapCase part_of(const OverlapCase& c, std::size_t gpu, std::uint64_t seed);

/// The part of a case that one GPU runs, with its pipeline and stages.
struct PartOnGpu {
  PartOnGpu(Device& gpu, const OverlapCase& part, Device& near)
      : device(&gpu), own(gpu, part.work, part.pipeline, payload(gpu, part, near)), stages(gpu, *own.work) {}

  static std::shared_ptr<Payload> payload(Device& gpu, const OverlapCase& part, Device& near);

  Device* device;
  CutPipeline own;
  Stages stages;
};

class PartsOnGpus {
 public:
  /// `near`: the GPU on whose NUMA node all host buffers are allocated; null: each part's buffers are near its own GPU.
  PartsOnGpus(const OverlapCase& c, const RunContext& bench, Device* near = nullptr);

  [[nodiscard]] PartOnGpu& first() const { return *parts_.front(); }
  [[nodiscard]] std::vector<OnGpu> works() const;

  // stages() returns a region per stage (Stages::all()), pipelines() one region. Each region runs on all GPUs at once.
  [[nodiscard]] std::vector<Region> stages() const;
  [[nodiscard]] Region pipelines() const;

  void prepare() const;
  void verify_stages() const;
  /// Runs all pipelines at once on poisoned memory and checks their output.
  void verify(Machine& machine, VerifiedRun run) const;

 private:
  Machine& machine_;
  std::vector<std::unique_ptr<PartOnGpu>> parts_;
};

}  // namespace xferbench
