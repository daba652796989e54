// Not a scenario: what each of several GPUs has to do of a case, each with memory and stages of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "run/scenario.hpp"
#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/pipelines.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

/// The case of one of its GPUs. `c`: one with a split.
OverlapCase part_of(const OverlapCase& c, std::size_t gpu, std::uint64_t seed);

/// One GPU's part, and everything that is timed of it.
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
  /// `near`: the GPU in whose part of the host's memory all of them lie; null: each in its own GPU's.
  PartsOnGpus(const OverlapCase& c, const RunContext& bench, Device* near = nullptr);

  [[nodiscard]] PartOnGpu& first() const { return *parts_.front(); }
  [[nodiscard]] std::vector<OnGpu> works() const;

  // Each stage (Stages::all()), and each pipeline, of all GPUs at once.
  [[nodiscard]] std::vector<Region> stages() const;
  [[nodiscard]] Region pipelines() const;

  void prepare() const;
  void verify_stages() const;
  /// All pipelines at once on poisoned memory.
  void verify(Machine& machine, VerifiedRun run) const;

 private:
  Machine& machine_;
  std::vector<std::unique_ptr<PartOnGpu>> parts_;
};

}  // namespace xferbench
