#include "scenarios/overlap/wall_costs.hpp"

#include "core/units.hpp"
#include "scenarios/overlap/gpu_begin.hpp"

namespace xferbench {

WallCosts measure_wall_costs(const RunContext& bench, ChunkedWork& work, const StageCosts& costs) {
  constexpr std::size_t kFew = 4;  // number of chunks
  constexpr std::size_t kMany = 32;
  constexpr std::size_t kChunkBytes = 4 * KiB;
  constexpr std::size_t kSamples = 20;
  const PipelineShape graph{.strategy = Strategy::engines, .graph = true};
  const std::size_t bytes = work.shape().in_units(kChunkBytes);
  ChunkedWork few = recut(bench.device, work, kFew * bytes, kFew);
  ChunkedWork many = recut(bench.device, work, kMany * bytes, kMany);
  GpuBegin begin_of_few(bench.device, few, graph);
  GpuBegin begin_of_many(bench.device, many, graph);
  const Stream stream = bench.device.make_stream(StreamKind::nonblocking);
  const Region launch{.name = "launch", .streams = {stream}, .submit = [&] { work.launch_empty(stream); }};
  const std::array sampled =
      sample_few(bench, std::array{wall_region(launch), begin_of_few.region(), begin_of_many.region()}, kSamples);
  if (!all_sampled(sampled)) return {};
  const auto& [wall, of_few, of_many] = sampled;
  const double kernel = costs.in_stream.kernel.per_operation;
  const double at_few = of_few.part(kGpuBegins).median;
  const double per_chunk =
      std::max(0.0, (of_many.part(kGpuBegins).median - at_few) / static_cast<double>(kMany - kFew));
  return {.around = std::max(0.0, wall.elapsed.median - wall.part(kWallCalls).median - kernel),
          .graph_begin = std::max(0.0, at_few - per_chunk * static_cast<double>(kFew)),
          .graph_begin_per_chunk = per_chunk};
}

std::optional<double> predicted_wall(const StageCosts& costs, const WallCosts& wall, const OverlapCase& c) {
  constexpr bool kGated = false;
  const auto on_device = predicted(costs, c, kGated);
  if (!on_device) return std::nullopt;
  const auto chunks = static_cast<double>(c.work.chunks * c.work.rounds);
  const double begin = c.pipeline.graph ? wall.graph_begin + wall.graph_begin_per_chunk * chunks : 0;
  return *on_device + begin + wall.around;
}

}  // namespace xferbench
