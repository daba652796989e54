// overlap: a pipeline of chunks that are copied to the GPU, processed and copied back, arranged by one of several
// strategies. The scenario compares the pipeline with its limits (each stage alone, both copies at once) and with the
// same work without overlap, all sampled interleaved in one run. A model of the pipeline explains where the time went.
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <tuple>

#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "kernels/elementwise.hpp"
#include "measure/statistics.hpp"
#include "model/balance.hpp"
#include "model/bounds.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/chunked_work.hpp"
#include "scenarios/overlap/account.hpp"
#include "scenarios/overlap/case.hpp"
#include "scenarios/overlap/gpu_begin.hpp"
#include "scenarios/overlap/multi_gpu.hpp"
#include "scenarios/overlap/peer_relay.hpp"
#include "scenarios/overlap/pipelines.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

namespace {

/// Returns the minimum of a few samples, because noise only makes samples longer. That is enough to choose the amount
/// of work, but too few samples to report.
double quick_time(RunContext bench, Region region) {
  bench.policy = {.budget = 0.2};
  return sample_few(bench, {std::move(region)}, 6).front().elapsed.min;
}

/// The amount of work for which the kernel takes about as long as requested with --balance.
struct BalancedWork {
  model::TimedWork found;
  double target = 0;  ///< desired kernel time in seconds
};

BalancedWork find_balanced_work(ChunkedWork& work, const RunContext& bench, double balance) {
  Stages stages(bench.device, work);
  const double target = balance * quick_time(bench, stages.h2d());
  const model::TimedWork found = model::find_work(target, kernels::kMaxWork, [&](std::uint64_t tried) {
    if (interrupted() != 0) return target;  // makes the search stop at once
    work.set_work(tried);
    return quick_time(bench, stages.kernel());
  });
  return {found, target};
}

void choose_work(ChunkedWork& work, const RunContext& bench, double balance, Result& result) {
  // The amount of work is stored for the whole run, so that all passes over the same case use the same amount.
  const auto& [found, target] = bench.memo->remember<BalancedWork>(
      "work of " + result.config.key(), [&] { return find_balanced_work(work, bench, balance); });
  work.set_work(found.work);
  if (std::abs(found.seconds - target) > 0.05 * target) {
    result.warnings.push_back("balance: with work " + std::to_string(found.work) + " the kernel takes " +
                              format_seconds(found.seconds) + ", not the " + format_seconds(target) +
                              " asked for; no other amount of work comes closer");
  }
}

/// Forks and joins the pipeline's streams around one tiny kernel per stream. Without a kernel the driver omits the
/// waits, and the time would be too short.
Region fork_join(ChunkedWork& work, const Pipeline& pipeline) {
  const std::vector<StreamView> streams = pipeline.streams();
  return {.name = "fork-join", .clock = Clock::event_gated, .streams = streams, .submit = [&work, streams] {
            for (const StreamView stream : streams) work.launch_empty(stream);
          }};
}

/// A region that runs all kernels of the pipeline without copies, in their own streams, to see how many run at once.
Region kernels_at_once(const ChunkedWork& work, Pipeline& pipeline) {
  Region r = region_of(pipeline, "kernels");
  const std::size_t streams = r.streams.size();
  r.operations = (work.chunks().size() + streams - 1) / streams * work.shape().kernels_per_chunk;
  r.submit = [&pipeline] { pipeline.submit_kernels(); };
  return r;
}

/// A region that runs all kernels of the pipeline in turn in one stream, for comparison with kernels_at_once().
Region kernels_in_turn(ChunkedWork& work, StreamView stream) {
  const auto submit = [&work, stream] {
    for (std::size_t i = 0; i < work.chunks().size(); ++i) work.launch(i, stream);
  };
  return {.name = "kernels-in-turn",
          .clock = Clock::event_gated,
          .streams = {stream},
          .submit = submit,
          .operations = work.chunks().size() * work.shape().kernels_per_chunk};
}

constexpr std::size_t kCalibrating = 10;  // number of samples

/// Returns the costs of operations on this payload, measured once per run.
StageCosts stage_costs(const RunContext& bench, ChunkedWork& work) {
  const ChunkedWork::Shape& s = work.shape();
  const std::string key = fmt::format("overlap stage costs {} {} {} {} {} {}", s.bytes, static_cast<int>(s.op), s.work,
                                      s.in_place, work.payload()->shape().device_bytes, s.own ? s.own->id() : "");
  return bench.memo->remember<StageCosts>(key, [&] {
    return measure_stage_costs(bench, std::array{OnGpu{&bench.device, &work}});
  });
}

/// Adds metric kernels_at_once: how many kernels of different streams run concurrently. Used for small kernels.
void count_kernels_at_once(const RunContext& bench, ChunkedWork& work, Pipeline& pipeline, Result& result) {
  const Stream one = bench.device.make_stream(StreamKind::nonblocking);
  Region at_once = kernels_at_once(work, pipeline);
  Region in_turn = kernels_in_turn(work, one);
  use_common_clock({&at_once, &in_turn});
  const auto [side_by_side, one_by_one] = sample_few(bench, std::array{at_once, in_turn}, kCalibrating);
  for (const Series* each : {&side_by_side, &one_by_one}) {
    result.measurements.push_back(each->elapsed);
    result.measurements.back().auxiliary = true;
  }
  const double seconds = side_by_side.elapsed.median;
  if (seconds > 0) result.add("kernels_at_once", one_by_one.elapsed.median / seconds, "1");
}

/// Adds the metrics derived from the samples, and takes the additional measurements that some of these metrics need.
void account_for(const OverlapCase& c, const RunContext& bench, ChunkedWork& work, Pipeline& pipeline, Result& result) {
  derive(c, bench.device.capabilities().environment.gpu.copy_engines, result);
  // The costs are measured now, while the GPU is warm and clocks and link are in the same state as for the pipeline.
  if (modelled(c)) explain_makespan(c, stage_costs(bench, work), result);
  GpuBegin begin(bench.device, work, c.pipeline);
  add_gpu_begin(begin, bench, result);
  if (c.kernels_may_share_gpu()) count_kernels_at_once(bench, work, pipeline, result);
}

class Overlap final : public ScenarioOf<overlap_case, overlap_space> {
 public:
  using ScenarioOf::ScenarioOf;

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const OverlapCase& c, const Capabilities* can) const override {
    constexpr std::size_t kMostChunks = 1'000'000;
    const auto& [work, pipeline] = std::tie(c.work, c.pipeline);
    if (pipeline.strategy == Strategy::batch && work.slots != 0 && work.slots < pipeline.batch) {
      return SkipReason::impossible(
          fmt::format("--slots {} cannot hold a batch of {} chunks; choose as many slots as --batch, or more",
                      work.slots, pipeline.batch));
    }
    if (pipeline.graph && pipeline.stream_kind == StreamKind::legacy_default) {
      return SkipReason::impossible("CUDA cannot capture the default stream in a graph; choose another --stream-kind");
    }
    if (work.rounds * work.chunks > kMostChunks) {
      return SkipReason::impossible(
          fmt::format("--rounds {} of --chunks {} are more than {} chunks in all; choose fewer", work.rounds,
                      work.chunks, kMostChunks));
    }
    if (auto reason = ChunkedWork::skip_reason(work, can)) return reason;
    if (c.uses_peer_relay()) {
      if (auto reason = reason_against_peer_relay(c, can)) return reason;
    } else if (c.split) {
      if (auto reason = reason_against_multi_gpu(c, can)) return reason;
    }
    if (can == nullptr || can->batch_copies || pipeline.strategy != Strategy::batch) return std::nullopt;
    return SkipReason::unavailable("cudaMemcpyBatchAsync needs a toolkit and a driver of CUDA 12.8 or newer");
  }

  [[nodiscard]] MemoryNeeds memory_needs(const OverlapCase& c) const override {
    if (c.uses_peer_relay()) return peer_relay_needs(c);
    return c.split ? multi_gpu_needs(c) : ChunkedWork::needs(c.work);
  }

  [[nodiscard]] std::vector<Case> expand(const Case& c, const GpusOfRun& gpus) const override {
    return expand_overlap(c, gpus);
  }
  [[nodiscard]] std::optional<SkipReason> reason_against_tuning(const Case& c) const override {
    return reason_against_search(overlap_case(c));
  }
  [[nodiscard]] std::vector<std::size_t> takes_part(const Case& c, const Environment& environment) const override {
    std::vector<std::size_t> places(std::min(overlap_case(c).gpus, environment.gpu_count()));
    std::iota(places.begin(), places.end(), std::size_t{0});
    return places;
  }

  void measure(const OverlapCase& c, const RunContext& bench, Result& result) const override {
    if (c.uses_peer_relay()) return measure_peer_relay(c, bench, result);
    if (c.split) return measure_multi_gpu(c, bench, result);
    OverlapCase o = c;
    o.work.seed = bench.seed;
    ChunkedWork work(bench.device, o.work);
    Stages stages(bench.device, work);
    if (bench.needs_data()) work.prepare();
    if (c.balance) choose_work(work, bench, *c.balance, result);
    o.work.work = work.work();
    if (bench.verify) stages.verify();
    if (bench.verify) stages.verify_serial();
    const std::unique_ptr<Pipeline> pipeline = make_pipeline(bench.device, work, o.pipeline);
    if (bench.verify) verify(bench.machine, work, *pipeline, run_once);
    const Series joined = sample_few(bench, {fork_join(work, *pipeline)}, kCalibrating).front();

    Region gated = checked_region_of(*pipeline, work, "pipeline");
    gated.same_batch = true;
    std::vector<Region> regions{gated,        wall_region(gated), stages.h2d(),          stages.kernel(),
                                stages.d2h(), stages.both(),      stages.both_chunked(), stages.serial()};
    // The last three regions need no warm-up, because the regions before them warm up the same copies and kernels.
    for (std::size_t i = regions.size() - 3; i < regions.size(); ++i) regions[i].warmed_by_another = true;
    std::optional<CutPipeline> one_round;
    if (o.work.rounds > 1) {
      ChunkedWork::Shape shape = work.shape();
      shape.rounds = 1;
      shape.slots = o.work.slots;
      one_round.emplace(bench.device, shape, o.pipeline, work.payload());
      regions.push_back(checked_region_of(*one_round->pipeline, *one_round->work, "one-round"));
      regions.back().same_batch = true;
      use_common_clock({&regions.front(), &regions.back()});
    }
    const std::vector<Series> series = bench.sample(std::move(regions));
    for (const Series& s : series) {
      s.elapsed.name == kWall ? add_wall(s, result) : result.measurements.push_back(s.elapsed);
    }
    if (all_sampled(series)) {
      if (auto rates = at_both_rates(series)) result.measurements.push_back(*std::move(rates));
    }
    result.measurements.push_back(series.front().submit);
    result.measurements.push_back(joined.elapsed);
    result.measurements.back().auxiliary = true;
    add_kernel(work, bench.verify, result);
    if (all_sampled(series)) account_for(o, bench, work, *pipeline, result);
    if (o.work.blocks != 0) {
      result.warnings.emplace_back(
          "the limit and serial are measured with all the blocks that a kernel needs, the pipeline with --blocks");
    }
    if (bench.verifies_again()) verify(bench.machine, work, *pipeline, run_at_full_speed);
    if (all_sampled(series)) bench.trace_region(region_of(*pipeline, "pipeline"), result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    return diagnose(results);
  }
};

std::vector<MetricDeclaration> overlap_metrics() {
  using namespace declaring;
  std::vector<MetricDeclaration> metrics{
      measured("pipeline", "GPU time from the first copy's start to the last copy's end, over all rounds")
          .as_headline()
          .column("makespan", {interval, clock}),
      time_to_result(),
      derived("bandwidth", "GB/s", higher, "payload of both directions over the makespan").column("GB/s"),
      derived("gpu_bandwidth", "GB/s", higher, "several GPUs: each GPU's payload of both directions over its own time")
          .column("GB/s per GPU"),
      derived("one_gpu_bandwidth", "GB/s", higher, "several GPUs: bandwidth of one GPU alone, through its own link")
          .column("one GPU GB/s"),
      derived("of_one_gpu", "1", higher, "bandwidth of all GPUs, or over all links, over that of one GPU")
          .column("vs one GPU", ratio),
      measured("serial", "time of the same work without overlap").column("serial"),
      derived("speedup", "1", higher, "time of serial over the makespan").column("speedup", ratio),
      derived_time("bound",
                   "limit of every pipeline here: the longer of the kernel alone and both copies alone, in the fastest "
                   "measured arrangement")
          .column("limit"),
      label("limited_by", "what sets the limit: the kernel or the link").column("bottleneck"),
      label("limit_set_by",
            "measurement that gave the limit; kernel: the kernel alone; both copies: in-turn (one after the other), "
            "whole (one piece each), chunked, or rates (their rates while both run); fastest: this pipeline, or the "
            "fastest of tune, beat all of these"),
      derived("efficiency", "1", higher, "limit over makespan; the rest is chunking, fill and drain, and submission")
          .column("% of limit", percent, {interval}),
      derived("efficiency_low", "1", higher,
              "lower end of the efficiency's 95 % confidence interval, from ratios within each round, so that common "
              "drift cancels"),
      derived("efficiency_high", "1", higher, "upper end of the efficiency's 95 % confidence interval"),
      derived("hidden_fraction", "1", higher,
              "share of the possible saving by overlap that is achieved: 0 % is serial, 100 % is the limit")
          .column("overlap", percent),
      derived_time("modelled",
                   "makespan predicted by a model of the pipeline; empty if the model does not cover the case")
          .column("model"),
      derived("kernels_at_once", "1", higher,
              "with --blocks or --kernels-per-chunk: time of all kernels in one stream over their time in the "
              "pipeline's streams")
          .column("kernel concurrency"),
      derived("steady_bandwidth", "GB/s", higher,
              "with --rounds: bandwidth of each round after the first, without fill and drain")
          .column("steady GB/s"),
      derived_time("host_blocked", "host time in the calls that submit the work").column("submit time"),
      measured("h2d", "H2D copy of the whole payload, alone"),
      measured("kernel", "kernel over the whole payload, alone"),
      measured("d2h", "D2H copy of the whole payload, alone"),
      measured("both", "both copies at once, from the start of both to the end of the later one"),
      measured(kBothChunked, "both copies at once, each in 8 chunks"),
      measured(kAtBothRates, "both copies at once, computed from their rates while both run"),
      measured("one-gpu", "several GPUs: the first GPU alone, with its own payload or with all of a shared one"),
      derived("helper_memory", "MiB", lower, "multipath: buffer memory of each helper"),
      derived_time("skew", "several GPUs: time from the first GPU's end to the last GPU's end"),
      measured("one-round", "with --rounds: the same pipeline over the first round alone"),
      measured("pipeline-submit", "host time in the calls that submit the pipeline"),
      measured("fork-join", "fork and join of the streams with almost no work in between"),
      measured("kernels", "all kernels of the pipeline in their streams, without copies"),
      measured("kernels-in-turn", "all kernels of the pipeline in one stream, without copies"),
      derived_time("makespan", "median time of the pipeline"),
      derived_time("round_time", "with --rounds: makespan over the number of rounds"),
      derived_time("steady_round_time", "with --rounds: time of each round after the first"),
      derived("h2d_bandwidth", "GB/s", higher, "bandwidth of the H2D copy alone"),
      derived("d2h_bandwidth", "GB/s", higher, "bandwidth of the D2H copy alone"),
      derived("both_bandwidth", "GB/s", higher, "payload of both directions over the time of both copies at once"),
      derived("duplex_ratio", "1", higher, "rate of each direction while both run, over its rate alone"),
      derived("kernel_to_h2d", "1", neither, "kernel time over the time of the H2D copy"),
      derived("work", "operations/element", neither, "operations per element, from --work or chosen for --balance"),
      derived_time("hand_over",
                   "time from the end of one operation to the start of the next one on another engine, in one stream"),
      derived_time("event_hand_over",
                   "time from the end of one operation to the start of the next one in another stream, by an event"),
      derived_time("hand_over_at_kernel", "hand-over in one stream from a copy to a kernel or from a kernel to a copy"),
      derived_time("hand_over_between_copies", "hand-over in one stream from a copy to a copy in the other direction"),
      derived_time("stream_switch", "time that a copy engine needs to switch to another stream"),
      derived_time("pass_overhead", "fixed time of a pass behind a gate, in addition to its operations"),
      derived("residual", "1", neither, "makespan over predicted makespan, minus 1"),
      derived_time("time_contention", "part of the limit: time by which the two directions slow each other"),
      derived_time("time_fill_drain", "part of the makespan: fill and drain"),
      derived_time("time_overhead", "part of the makespan: per-operation overhead"),
      derived_time("time_slots", "part of the makespan: waiting for slots or streams"),
      derived_time("time_submission", "part of the makespan: waiting for the host"),
      derived_time("time_unexplained", "part of the makespan: unexplained"),
      derived("best_chunks", "chunks", neither,
              "smallest number of chunks for which the model predicts a makespan within 1 % of the best"),
      label("suggestion", "flags that should make the pipeline faster, by the model"),
      derived("suggestion_gain", "1", neither, "share of the predicted makespan that these flags should save"),
  };
  std::ranges::copy(alike_metrics(), std::back_inserter(metrics));
  for (const std::string stage : {"h2d", "kernel", "d2h"}) {
    metrics.push_back(derived_time(stage + "_per_operation", "overhead of one operation"));
  }
  for (const std::string direction : {"h2d", "d2h"}) {
    metrics.push_back(derived(direction + "_duplex_rate", "1", higher,
                              "rate while the other direction is busy, over the rate alone; absent if it is 1"));
    metrics.push_back(
        derived(direction + "_duplex_overhead", "1", lower,
                "overhead of one operation while the other direction is busy, over that alone; absent if it is 1"));
  }
  return with_shared(std::move(metrics), wall_metrics(), gpu_begin_metrics(), own_kernel_metrics(),
                     several_gpus_metrics(), timeline_metrics());
}

std::vector<Axis> overlap_axes() {
  const std::vector<std::string> chunked{"streams", "engines",       "double-buffer",       "batch",
                                         "graph",   "graph-streams", "graph-double-buffer", "multipath"};
  const auto with = [](std::vector<std::string> strategies, Axis axis) {
    return only_with("strategy", std::move(strategies), std::move(axis));
  };
  const auto with_kernel = [](std::vector<std::string> kernels, Axis axis) {
    return only_with("kernel", std::move(kernels), std::move(axis));
  };
  const auto of_chunks = [&](Axis axis) { return with(chunked, std::move(axis)); };
  const auto by_stream = [&](Axis axis) { return with({"streams", "graph-streams"}, std::move(axis)); };
  // A user's kernel defines its own work and grid, so some axes exist for built-in kernels only.
  const auto of_built_in = [&](Axis axis) { return with_kernel(words(kernels::kElementwiseNames), std::move(axis)); };
  std::vector<std::string> on_device = chunked;
  on_device.insert(on_device.begin(), "serial");
  const auto strategies = list_of(kStrategyWords, [](const StrategyWord& s) { return std::string(s.word); });
  std::vector<Axis> axes{
      size_axis("size", {.defaults = "256M", .help = "bytes per direction", .min = ChunkedWork::kElement}),
      choice_axis("strategy", strategies,
                  {.defaults = "streams",
                   .tuning = "streams,engines,double-buffer,graph,graph-double-buffer,zero-copy",
                   .help = "how the chunks are arranged; graph: engines as a CUDA graph; graph-X: X as a CUDA graph; "
                           "multipath: also uses the links of other GPUs (--gpus)"}),
      by_stream({.name = "streams",
                 .defaults = "4",
                 .tuning = "2,3,4,8,16",
                 .help = "number of streams; chunks are assigned round-robin",
                 .max = 1024}),
      with({"engines", "double-buffer", "batch", "graph", "graph-double-buffer", "multipath"},
           {.name = "slots",
            .help = "chunks that the device holds at once; default: 2 for double-buffer, else all; multipath: chunks "
                    "that each helper holds per direction; default: 4",
            .max = 65536}),
      with({"batch"},
           {.name = "batch", .defaults = "4", .help = "chunks whose copies are submitted in one call", .max = 65536}),
      of_chunks({.name = "chunks",
                 .defaults = "32",
                 .tuning = "4,8,12,16,24,32,40,48,64,96,128",
                 .help = "number of chunks of the payload",
                 .max = 65536}),
      of_chunks({.name = "growth",
                 .kind = AxisKind::real,
                 .tuning = "1,1.03,1.04,1.05,1.06",
                 .help = "size of each chunk over that of the one before; default: 1, all equal",
                 .min = 0.5,
                 .max = 2}),
      with(on_device,
           choice_axis("in-place", {"no", "yes"},
                       {.implicit_value = "yes",
                        .help = "use one device buffer as input and output; without a value: yes; default: no"})),
      {.name = "rounds", .help = "number of payloads of this size, one after the other; default: 1", .max = 100000},
      choice_axis("kernel", words(kernels::kElementwiseNames),
                  {.defaults = "fma", .help = "kernel between the copies"}),
      of_built_in({.name = "work",
                   .defaults = "64",
                   .help = "operations per element",
                   .max = static_cast<double>(kernels::kMaxWork)}),
      of_built_in({.name = "balance",
                   .kind = AxisKind::real,
                   .help = "choose the work so that the kernel takes this many times as long as the H2D copy",
                   .min = 0.001,
                   .max = 1000,
                   .alternative_to = "work"}),
      of_chunks({.name = "kernels-per-chunk",
                 .help = "kernels per chunk, which run one after the other and share its work; default: 1",
                 .max = 1024}),
      of_built_in(
          {.name = "blocks",
           .help = "thread blocks per kernel; few blocks leave room for other kernels; default: as many as needed",
           .max = 65535}),
      by_stream(choice_axis(
          "issue", {"depth", "breadth"},
          {.defaults = "depth", .help = "order of submission: chunk by chunk (depth) or stage by stage (breadth)"})),
      by_stream(choice_axis(
          "stream-kind", words(kStreamKindNames),
          {.defaults = "nonblocking",
           .help = "how the streams relate to the default stream; with the word default, all chunks use that stream"})),
      choice_axis(
          "split", words(kSplits),
          {.help = "several GPUs (--gpus): a payload for each, or one payload split; default with --gpus: each"}),
  };
  return with_shared(std::move(axes), own_kernel_axes("kernel"));
}

}  // namespace

const Scenario& overlap_scenario() {
  static const Overlap scenario({
      .name = "overlap",
      .summary = "chunked copy-kernel-copy pipeline, arranged in several ways, compared with its limit and with serial",
      .axes = overlap_axes(),
      .metrics = overlap_metrics(),
      .heat_maps = {{.rows = "streams", .columns = "chunks", .metric = "efficiency"}},
      .charts = {{.x = "chunks", .y = "efficiency", .panels = {"size"}, .lines = {"strategy"}},
                 {.x = "size", .y = "bandwidth", .lines = {"strategy"}}},
      .answer = {.best = "bandwidth",
                 .text =
                     "{bandwidth}, {efficiency} of the limit; {speedup} as fast as serial; bottleneck: {limited_by}"},
      .work_axes = overlap_work_axes(),
      .has_timeline = true,
      .gpus = UsesGpus::one_or_several,
  });
  return scenario;
}

}  // namespace xferbench
