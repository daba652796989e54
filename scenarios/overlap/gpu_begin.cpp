#include "scenarios/overlap/gpu_begin.hpp"

#include "core/interrupt.hpp"

namespace xferbench {

namespace {

std::uint64_t* stamp_in(const HostBuffer& slot) { return reinterpret_cast<std::uint64_t*>(slot.data); }

}  // namespace

GpuBegin::GpuBegin(Device& device, ChunkedWork& work, const PipelineShape& shape)
    : host_(device.host()),
      timer_(device),
      slot_(device.allocate_host(sizeof(std::uint64_t), HostMemory::mapped)),
      pipeline_(make_stamped_pipeline(device, work, shape, stamp_in(slot_))) {}

GpuBegin::Moments GpuBegin::pass() {
  const double begun = host_.now();
  pipeline_->submit();
  const double returned = host_.now();
  for (const StreamView stream : pipeline_->streams()) stream.synchronize();
  return {timer_.until(*stamp_in(slot_), begun), returned - begun};
}

Region GpuBegin::region() {
  Region r{.name = "stamped", .clock = Clock::host, .streams = pipeline_->streams()};
  r.warmed_by_another = true;
  r.parts = {{.name = kGpuBegins, .clock = Clock::device}, {.name = kCallsReturn}};
  r.steps = [this](LapTimer& laps) {
    const Moments moments = pass();
    laps.add(0, moments.gpu_begins);
    laps.add(1, moments.calls_return);
  };
  r.reset = [this] {
    if (timer_.refresh()) pass();
  };
  return r;
}

void add_gpu_begin(GpuBegin& begin, const RunContext& bench, Result& result) {
  constexpr std::size_t kSamples = 10;
  if (interrupted() != 0) return;
  const Series series = sample_few(bench, {begin.region()}, kSamples).front();
  if (series.elapsed.samples.empty()) return;
  for (const auto& [part, metric] : {std::pair{kGpuBegins, "gpu_begins"}, std::pair{kCallsReturn, "calls_return"}}) {
    result.measurements.push_back(series.part(part));
    result.add(metric, series.part(part).median, "s");
  }
  result.add("clock_uncertainty", begin.clock_uncertainty(), "s");
}

std::vector<MetricDeclaration> gpu_begin_metrics() {
  return {
      measured(kGpuBegins, "time from the first call to a GPU timestamp in front of the work"),
      measured(kCallsReturn, "time from the first call to the return of the last call, in the same passes"),
      derived_time("gpu_begins", "median time from the first submitting call to the start of the work on the GPU"),
      derived_time("calls_return",
                   "median time from the first call to the return of the last call, in the same passes"),
      derived_time("clock_uncertainty", "maximum error of gpu_begins"),
  };
}

}  // namespace xferbench
