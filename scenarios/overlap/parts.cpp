#include "scenarios/overlap/parts.hpp"

#include <utility>

#include "model/partition.hpp"

namespace xferbench {

OverlapCase part_of(const OverlapCase& c, std::size_t gpu, std::uint64_t seed) {
  OverlapCase part = c;
  part.work.seed = seed + gpu;
  if (*c.split == Split::each) return part;
  const std::size_t units = c.work.units();
  const std::size_t alignment = std::min<std::size_t>(1024, std::max<std::size_t>(1, units / c.gpus));
  part.work.bytes = model::partition(units, c.gpus, alignment)[gpu].count * c.work.unit_bytes();
  return part;
}

std::shared_ptr<Payload> PartOnGpu::payload(Device& gpu, const OverlapCase& part, Device& near) {
  Payload::Shape shape = ChunkedWork::payload_of(part.work);
  if (&gpu != &near) shape.host = HostMemory::portable;
  return std::make_shared<Payload>(gpu, shape, near);
}

PartsOnGpus::PartsOnGpus(const OverlapCase& c, const RunContext& bench, Device* near) : machine_(bench.machine) {
  for (std::size_t i = 0; i < c.gpus; ++i) {
    Device& gpu = machine_.device(i);
    parts_.push_back(std::make_unique<PartOnGpu>(gpu, part_of(c, i, bench.seed), near == nullptr ? gpu : *near));
  }
}

std::vector<OnGpu> PartsOnGpus::works() const {
  return list_of(parts_, [](const auto& part) { return OnGpu{part->device, part->own.work.get()}; });
}

std::vector<Region> PartsOnGpus::stages() const {
  return concurrent_on_all_gpus(list_of(parts_, [](const auto& part) { return part->stages.all(); }));
}

Region PartsOnGpus::pipelines() const {
  std::vector<Region> regions = list_of(
      parts_, [](const auto& part) { return checked_region_of(*part->own.pipeline, *part->own.work, "pipeline"); });
  return at_once("pipeline", std::move(regions));
}

void PartsOnGpus::prepare() const {
  for (const auto& part : parts_) part->own.work->prepare();
}

void PartsOnGpus::verify_stages() const {
  for (const auto& part : parts_) part->stages.verify();
}

void PartsOnGpus::verify(Machine& machine, VerifiedRun run) const {
  run(machine, pipelines(), [this] {
    for (const auto& part : parts_) part->own.work->poison_all();
  });
  for (const auto& part : parts_) part->own.work->check_chunked("pipeline");
}

}  // namespace xferbench
