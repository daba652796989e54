#include "scenarios/overlap/multi_gpu.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "core/units.hpp"
#include "scenarios/overlap/account.hpp"
#include "scenarios/overlap/parts.hpp"
#include "scenarios/overlap/pipelines.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

namespace {

/// Returns the case with the payload of all GPUs together.
OverlapCase whole_of(const OverlapCase& c) {
  OverlapCase whole = c;
  if (*c.split == Split::each) whole.work.bytes *= c.gpus;
  return whole;
}

/// Runs the case's pipeline on the first GPU alone, with the GPU's own payload or with the whole shared payload.
struct OneGpu {
  OneGpu(const OverlapCase& c, const RunContext& bench, const PartsOnGpus& parts)
      : is_each(*c.split == Split::each), own(bench.device, c.work.seeded(bench.seed), c.pipeline, payload(parts)) {
    if (!is_each && bench.needs_data()) own.work->prepare();
  }
  [[nodiscard]] std::shared_ptr<Payload> payload(const PartsOnGpus& parts) const {
    return is_each ? parts.first().own.work->payload() : nullptr;
  }
  [[nodiscard]] Region region() { return checked_region_of(*own.pipeline, *own.work, "one-gpu"); }

  bool is_each;
  CutPipeline own;
};

void add_gpu_bandwidths(const OverlapCase& c, const Series& pipelines, Result& result) {
  for (std::size_t place = 0; place < result.gpus.size(); ++place) {
    const int gpu = result.gpus[place];
    const ChunkedWork::Shape part = part_of(c, place, 0).work;
    const double time = pipelines.part(kGpuTime, gpu).median;
    result.add("gpu_bandwidth", gigabytes_per_second(2 * part.bytes * part.rounds, time), "GB/s", gpu);
  }
  result.add("skew", skew_of(pipelines), "s");
}

/// Returns the flag with which the user selected several GPUs. With --gpus, `split` may be a default value.
const char* multi_gpu_flag(const OverlapCase& c) { return c.gpus > 1 ? "--gpus" : "--split"; }

}  // namespace

MemoryNeeds multi_gpu_needs(const OverlapCase& c) {
  const MemoryNeeds needs = ChunkedWork::needs(c.work);
  // Host memory holds one payload per GPU. If the GPUs share one payload, it holds that payload in parts, and once more
  // as a whole for the first GPU alone.
  const std::uint64_t payloads = *c.split == Split::each ? c.gpus : 2;
  return {payloads * needs.host, *c.split == Split::each ? needs.device : 2 * needs.device};
}

std::optional<SkipReason> reason_against_search(const OverlapCase& c) {
  if (!c.uses_peer_relay() && !c.split) return std::nullopt;
  const std::string given = !c.uses_peer_relay() ? multi_gpu_flag(c)
                            : c.gpus > 1         ? "--gpus and --strategy multipath"
                                                 : "--strategy multipath";
  return SkipReason::impossible(fmt::format(
      "tune searches on one GPU; leave out {}, or sweep on several with xferbench --gpus all --strategy all --chunks "
      "4:128",
      given));
}

std::optional<SkipReason> reason_against_multi_gpu(const OverlapCase& c, const Capabilities* can) {
  if (c.pipeline.strategy == Strategy::serial) {
    return SkipReason::impossible(
        fmt::format("--strategy serial blocks its caller, so the GPUs would run one after the other; choose another "
                    "--strategy, such as streams, or leave out {}",
                    multi_gpu_flag(c)));
  }
  if (*c.split == Split::shared && c.work.own && c.work.own->halo_rows > 0) {
    return SkipReason::impossible(
        "--split shared and --halo-rows contradict each other: rows at the boundaries would belong to two GPUs; use "
        "--split each, or --strategy multipath");
  }
  if (*c.split == Split::shared && c.work.units() < c.gpus * c.work.chunks) {
    return SkipReason::impossible(fmt::format(
        "--size is too small for {} GPUs with --chunks {} each; choose fewer chunks", c.gpus, c.work.chunks));
  }
  if (c.balance) return SkipReason::impossible("--balance chooses the work for one GPU; give --work for several");
  if (can == nullptr || can->environment.gpu_count() >= 2) return std::nullopt;
  return SkipReason::unavailable(
      "--split needs several GPUs, but this run has one; give --gpus on a machine with more");
}

void measure_multi_gpu(const OverlapCase& c, const RunContext& bench, Result& result) {
  const PartsOnGpus parts(c, bench);
  if (bench.needs_data()) parts.prepare();
  if (bench.verify) parts.verify_stages();
  if (bench.verify) parts.verify(bench.machine, run_once);
  OneGpu one(c, bench, parts);
  Region pipelines = parts.pipelines();
  pipelines.same_batch = true;
  Region one_gpu = one.region();
  use_common_clock({&pipelines, &one_gpu});
  // one-gpu runs before the stages, not between them: the stages' D2H copies are checked against what the stages'
  // kernels have left on the device.
  std::vector<Region> regions{pipelines, wall_region(pipelines), one_gpu};
  std::ranges::move(parts.stages(), std::back_inserter(regions));
  const std::vector<Series> series = bench.sample(std::move(regions));
  add_measurements(series, result);
  result.measurements.push_back(series.front().submit);
  add_kernel(*parts.first().own.work, bench.verify, result);
  if (all_sampled(series)) {
    derive(whole_of(c), bench.device.capabilities().environment.gpu.copy_engines, result);
    add_gpu_bandwidths(c, series.front(), result);
    derive_versus_one_gpu(c, result);
    const OverlapCase part = part_of(c, 0, bench.seed);
    // The costs of operations are measured on one GPU while all GPUs are busy.
    if (modelled(part)) explain_makespan(part, measure_stage_costs(bench, parts.works()), result);
  }
  if (bench.verifies_again()) parts.verify(bench.machine, run_at_full_speed);
  if (all_sampled(series)) bench.trace_region(parts.pipelines(), result);
}

}  // namespace xferbench
