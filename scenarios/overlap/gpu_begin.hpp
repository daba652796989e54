// Not a scenario: when the GPU begins with a pass of a pipeline, beside when the calls that submit it return. A graph
// is one call that takes long: whether the GPU waits for its return is not said anywhere.
#pragma once

#include <memory>

#include "measure/region.hpp"
#include "measure/timer_on_host.hpp"
#include "run/scenario.hpp"
#include "scenarios/overlap/pipelines.hpp"

namespace xferbench {

inline constexpr const char* kGpuBegins = "gpu-begins";
inline constexpr const char* kCallsReturn = "calls-return";

/// The work must outlive it.
class GpuBegin {
 public:
  GpuBegin(Device& device, ChunkedWork& work, const PipelineShape& shape);

  /// A pass as a program makes it, with a stamp of the GPU's timer in front. Parts: kGpuBegins, from the first call to
  /// the stamp, and kCallsReturn, from the first call to the return of the last.
  [[nodiscard]] Region region();
  /// How far the first of these may be off as a whole, in seconds.
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

/// Samples it a few times and adds what came out; nothing after Ctrl-C.
void add_gpu_begin(GpuBegin& begin, const RunContext& bench, Result& result);
/// What that adds, for the scenario to declare.
std::vector<MetricDeclaration> gpu_begin_metrics();

}  // namespace xferbench
