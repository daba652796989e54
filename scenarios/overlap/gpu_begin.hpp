// Measures when the GPU starts a pass of a pipeline, and when the calls that submit the pass return. CUDA does not
// document whether the GPU waits for the return of a graph launch, which is a single long call.
#pragma once

#include "measure/region.hpp"
#include "measure/timer_on_host.hpp"
#include "run/scenario.hpp"
#include "scenarios/overlap/pipelines.hpp"

namespace xferbench {

inline constexpr const char* kGpuBegins = "gpu-begins";
inline constexpr const char* kCallsReturn = "calls-return";

/// Times the start of the GPU in passes over the payload `work`, which must outlive this object.
class GpuBegin {
 public:
  GpuBegin(Device& device, ChunkedWork& work, const PipelineShape& shape);

  /// A region that submits a pass without a gate, as a program would, preceded by a kernel that writes a GPU time
  /// stamp. The region part kGpuBegins is the time from the first call to the stamp; kCallsReturn is the time from the
  /// first call to the return of the last call.
  [[nodiscard]] Region region();
  /// Maximum error of kGpuBegins, in seconds.
  [[nodiscard]] double clock_uncertainty() const { return timer_.uncertainty(); }

 private:
  struct Moments {
    double gpu_begins = 0;
    double calls_return = 0;
  };
  Moments pass();

  HostRuntime& host_;
  TimerOnHost timer_;
  HostBuffer slot_;
  std::unique_ptr<Pipeline> pipeline_;
};

/// Takes a few samples and adds the metrics of gpu_begin_metrics(). Adds nothing after Ctrl-C.
void add_gpu_begin(GpuBegin& begin, const RunContext& bench, Result& result);
std::vector<MetricDeclaration> gpu_begin_metrics();

}  // namespace xferbench
