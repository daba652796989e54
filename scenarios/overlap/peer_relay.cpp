#include "scenarios/overlap/peer_relay.hpp"

#include <fmt/format.h>

#include <iterator>
#include <stdexcept>

#include "core/units.hpp"
#include "scenarios/common/peer_access.hpp"
#include "scenarios/overlap/account.hpp"
#include "scenarios/overlap/parts.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

namespace {

/// Returns the bytes of one slot of a helper GPU: the longest chunk with its halo rows, rounded up for alignment.
std::uint64_t helper_slot_bytes(const ChunkedWork::Shape& shape) {
  constexpr std::uint64_t kAlignment = RelaySlots::kAlignment;
  const std::vector<model::Chunk> chunks = cut(shape);
  const std::uint64_t halo = shape.own ? 2 * shape.own->halo_bytes() : 0;
  const std::uint64_t longest = std::ranges::max(chunks, {}, &model::Chunk::count).count * shape.element_bytes() + halo;
  return (longest + kAlignment - 1) / kAlignment * kAlignment;
}

/// Returns the number of chunks that go through helper `helper` (from 1), if chunks rotate over `ways` paths in all.
std::size_t turns_of(std::size_t helper, std::size_t ways, std::size_t chunks) {
  return chunks > helper ? (chunks - helper - 1) / ways + 1 : 0;
}

/// Returns the slot memory of the first helper, which has the most chunks.
std::size_t helper_bytes(const OverlapCase& c) {
  const std::size_t turns = turns_of(1, c.gpus, c.work.chunks * c.work.rounds);
  return 2 * std::min(c.pipeline.helper_slots, turns) * helper_slot_bytes(c.work);
}

}  // namespace

// --- The pipeline ---------------------------------------------------------------------------------------------------

PeerRelay::PeerRelay(Device& device, ChunkedWork& work, const PipelineShape& shape, std::span<Device* const> helpers)
    : Pipeline(operations_of(work.shape(), shape)),
      tracer_(device.machine().tracer()),
      work_(work),
      h2d_(device.make_stream(StreamKind::nonblocking)),
      kernel_(device.make_stream(StreamKind::nonblocking)),
      d2h_(device.make_stream(StreamKind::nonblocking)),
      hand_over_(device.make_event(EventKind::ordering)) {
  if (work.shape().slots != 0) throw std::logic_error("multipath with fewer places on the working GPU than chunks");
  const std::uint64_t slot_bytes = helper_slot_bytes(work.shape());
  for (std::size_t i = 0; i < helpers.size(); ++i) {
    const std::size_t turns = turns_of(i + 1, helpers.size() + 1, work.chunks().size());
    if (turns == 0) break;  // this helper and all further ones have no chunks
    const std::vector<std::uint64_t> slots(std::min(shape.helper_slots, turns), slot_bytes);
    helpers_.push_back({RelaySlots(*helpers[i], slots), RelaySlots(*helpers[i], slots)});
  }
}

void PeerRelay::submit_directly(std::size_t chunk) {
  work_.copy_in(chunk, h2d_);
  h2d_.record(hand_over_);
  kernel_.wait(hand_over_);
  work_.launch(chunk, kernel_);
  kernel_.record(hand_over_);
  d2h_.wait(hand_over_);
  work_.copy_out(chunk, d2h_);
}

void PeerRelay::submit_by_helper(Helper& helper, std::size_t chunk, std::size_t turn) {
  helper.in.pass_on(work_.input(chunk), turn);
  kernel_.wait(helper.in.arrived(turn));
  work_.launch(chunk, kernel_);
  kernel_.record(hand_over_);
  helper.out.fill().wait(hand_over_);
  helper.out.pass_on(work_.output(chunk), turn);
}

void PeerRelay::submit() {
  const std::size_t ways = helpers_.size() + 1;
  for (std::size_t i = 0; i < work_.chunks().size(); ++i) {
    const NvtxRange mark(tracer_, work_.name(i));
    if (i % ways == 0) {
      submit_directly(i);
    } else {
      submit_by_helper(helpers_[i % ways - 1], i, i / ways);
    }
  }
}

std::vector<StreamView> PeerRelay::streams() const {
  std::vector<StreamView> all{h2d_, kernel_, d2h_};
  for (const Helper& h : helpers_) all.insert(all.end(), {h.in.fill(), h.in.drain(), h.out.fill(), h.out.drain()});
  return all;
}

void PeerRelay::poison() {
  for (Helper& h : helpers_) {
    h.in.poison();
    h.out.poison();
  }
}

// --- The case -------------------------------------------------------------------------------------------------------

namespace {

/// Returns the case with its payload in equal parts, each copied to its own GPU and back over that GPU's link. The time
/// of the returned case is the limit of all links together.
OverlapCase over_own_links(const OverlapCase& c) {
  OverlapCase parts = c;
  parts.split = Split::shared;
  parts.pipeline = {.strategy = Strategy::engines};
  parts.work.chunks = 1;
  parts.work.growth = 1;
  parts.work.kernels_per_chunk = 1;
  parts.work.blocks = 0;
  return parts;
}

/// The payload on the GPU that computes, with two pipelines: one over all links, and one over that GPU's link alone.
struct WorkOfOne {
  WorkOfOne(const OverlapCase& c, const RunContext& bench, std::span<Device* const> gpus)
      : work(bench.device, c.work.seeded(bench.seed), payload(c, bench)),
        pipeline(make_pipeline(bench.device, work, c.pipeline, gpus.subspan(1))),
        alone(make_pipeline(bench.device, work, {.strategy = Strategy::engines})),
        stages(bench.device, work) {}

  static std::shared_ptr<Payload> payload(const OverlapCase& c, const RunContext& bench) {
    Payload::Shape s = ChunkedWork::payload_of(c.work.seeded(bench.seed));
    s.host = HostMemory::portable;  // helper GPUs copy from and to this host memory, too
    return std::make_shared<Payload>(bench.device, s);
  }

  void verify_all(Machine& machine) {
    stages.verify();
    verify(machine, work, *alone, run_once);
    verify(machine, work, *pipeline, run_once);
  }
  /// A region that runs the kernel over the whole payload. Not checked if the kernel works in place: each pass
  /// overwrites its input, and the copies timed before it write to other buffers.
  [[nodiscard]] Region kernel() {
    Region r = stages.kernel();
    if (work.shape().in_place) r.check = nullptr;
    return r;
  }

  ChunkedWork work;
  std::unique_ptr<Pipeline> pipeline;
  std::unique_ptr<Pipeline> alone;
  Stages stages;
};

}  // namespace

MemoryNeeds peer_relay_needs(const OverlapCase& c) {
  const MemoryNeeds whole = ChunkedWork::needs(c.work);
  const MemoryNeeds part = ChunkedWork::needs(part_of(over_own_links(c), 0, 0).work);
  return {2 * whole.host, std::max(whole.device, helper_bytes(c)) + part.device};
}

std::optional<SkipReason> reason_against_peer_relay(const OverlapCase& c, const Capabilities* can) {
  if (c.split) {
    return SkipReason::impossible(
        "--split is for kernels on all GPUs; with --strategy multipath only the first one runs kernels, and the others "
        "relay its chunks: leave out --split");
  }
  if (c.balance) {
    return SkipReason::impossible(
        "--balance compares the kernel with one link; with --strategy multipath, give --work");
  }
  if (c.work.units() < c.gpus) {
    return SkipReason::impossible(fmt::format("--size is too small for {} GPUs; choose a larger one", c.gpus));
  }
  if (can == nullptr) return std::nullopt;
  if (can->environment.gpu_count() < 2) {
    return SkipReason::unavailable(
        "--strategy multipath needs a second GPU as helper, but this run has one; give --gpus on a machine with more");
  }
  const std::vector<int> all = can->environment.gpu_numbers();
  const std::span helpers = std::span(all).subspan(1);
  if (auto reason = missing_access(helpers, std::span(all).first(1), can->environment)) return reason;
  return std::nullopt;
}

void measure_peer_relay(const OverlapCase& c, const RunContext& bench, Result& result) {
  const std::span gpus = bench.machine.devices();
  const PeerAccess access(gpus.subspan(1), gpus.first(1));
  WorkOfOne one(c, bench, gpus);
  const PartsOnGpus parts(over_own_links(c), bench, &bench.device);
  if (bench.needs_data()) one.work.prepare();
  if (bench.needs_data()) parts.prepare();
  if (bench.verify) one.verify_all(bench.machine);
  if (bench.verify) parts.verify_stages();

  Region pipeline = checked_region_of(*one.pipeline, one.work, "pipeline");
  pipeline.same_batch = true;
  Region alone = checked_region_of(*one.alone, one.work, "one-gpu");
  use_common_clock({&pipeline, &alone});
  std::vector<Region> regions{pipeline, wall_region(pipeline), alone};
  std::ranges::move(parts.stages(), std::back_inserter(regions));
  // Only one GPU computes, so its kernel replaces the region of the kernels on all GPUs.
  *std::ranges::find(regions, "kernel", &Region::name) = one.kernel();
  const std::vector<Series> series = bench.sample(std::move(regions));
  add_measurements(series, result);
  result.measurements.push_back(series.front().submit);
  add_kernel(one.work, bench.verify, result);
  result.add("helper_memory", static_cast<double>(helper_bytes(c)) / MiB, "MiB");
  if (all_sampled(series)) {
    derive(c, bench.device.capabilities().environment.gpu.copy_engines, result);
    derive_versus_one_gpu(c, result);
  }
  if (bench.verifies_again()) verify(bench.machine, one.work, *one.pipeline, run_at_full_speed);
  if (all_sampled(series)) bench.trace_region(region_of(*one.pipeline, "pipeline"), result);
}

}  // namespace xferbench
