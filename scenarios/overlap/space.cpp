// The search space of `tune` for scenario overlap.
#include "scenarios/overlap/case.hpp"

#include <iterator>

#include "core/error.hpp"
#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "scenarios/overlap/account.hpp"
#include "scenarios/overlap/gpu_begin.hpp"
#include "scenarios/overlap/stages.hpp"

namespace xferbench {

namespace {

/// Relative error of the pipeline model for one configuration, after removal of the mean error of the configuration's
/// strategy. On an H200, half of the errors are below 0.3 %.
constexpr double kModelError = 0.01;

/// Costs of a pass in addition to its makespan, in seconds.
struct WallCosts {
  double around = 0;                 ///< from a launch call's return to the end of the wait, less the kernel time
  double graph_begin = 0;            ///< from the graph launch call to the GPU's start, for a graph without chunks
  double graph_begin_per_chunk = 0;  ///< increase of graph_begin with each chunk of the graph
};

/// Launches a kernel, and graphs of Strategy::engines with few and with many tiny chunks. Overwrites the buffers of
/// `work`.
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

/// Returns the predicted seconds from the first call to the result; nothing if the model does not cover the case.
std::optional<double> predicted_wall(const StageCosts& costs, const WallCosts& wall, const OverlapCase& c) {
  constexpr bool kGated = false;
  const auto on_device = predicted(costs, c, kGated);
  if (!on_device) return std::nullopt;
  const auto chunks = static_cast<double>(c.work.chunks * c.work.rounds);
  const double begin = c.pipeline.graph ? wall.graph_begin + wall.graph_begin_per_chunk * chunks : 0;
  return *on_device + begin + wall.around;
}

class OverlapSpace final : public Tunable {
 public:
  OverlapSpace(std::span<const Case> cases, const RunContext& bench)
      : bench_(bench),
        payload_(std::make_shared<Payload>(bench.device, payload_of(cases))),
        whole_(bench.device, whole_of(cases.front()), payload_) {
    if (bench.needs_data()) whole_.prepare();
    Stages stages(bench.device, whole_);
    if (bench.verify) stages.verify();
    bench_.policy.budget /= 2;  // halved, because each measurement below spends a share of the budget on warm-up
    measure_stages();
    if (has_costs(whole_.shape())) costs_ = measure_stage_costs(bench_, std::array{OnGpu{&bench.device, &whole_}}, 3);
    if (bench.objective == Objective::wall && has_costs(whole_.shape())) {
      wall_costs_ = measure_wall_costs(bench_, whole_, costs_);
    }
    costs_.in_stream.copy_engines = bench.device.capabilities().environment.gpu.copy_engines;
    for (const Case& c : cases) {
      const OverlapCase o = parsed(c);
      if (o.pipeline.strategy == Strategy::zero_copy) unmodelled_.try_emplace(o.pipeline.blocks, Unmodelled{o});
    }
    measure_unmodelled();
  }

  [[nodiscard]] unsigned most_behind_gate(const Case& c) const override {
    const OverlapCase o = parsed(c);
    return xferbench::most_behind_gate(o.work, o.pipeline);
  }

  void repeat_passes(unsigned passes) override {
    passes_ = passes;
    stages_.clear();
    measure_stages();
    measure_unmodelled();
  }
  void measure_again() override { measure_stages(); }

  [[nodiscard]] double predict(const Case& c) const override {
    const OverlapCase o = parsed(c);
    if (o.pipeline.strategy == Strategy::zero_copy) return unmodelled_.at(o.pipeline.blocks).seconds;
    // The model does not cover grids of few blocks, so it predicts as if kernels ran one at a time on the whole GPU.
    OverlapCase modelled = o;
    modelled.work.blocks = 0;
    if (bench_.objective == Objective::wall) {
      return predicted_wall(costs_, wall_costs_, modelled).value_or(serial_bound());
    }
    const bool gated = fits_gate(o.work, o.pipeline);
    return predicted(of_passes_in_a_row(costs_, passes_), modelled, gated).value_or(serial_bound());
  }

  /// Returns the number of chunks, plus small amounts for streams, a graph and a growth. `tune` prefers the least
  /// complex of equally fast configurations.
  [[nodiscard]] double complexity(const Case& c) const override {
    const OverlapCase o = parsed(c);
    constexpr double kLittle = 0.01;  // per stream, graph or growth: decides only between equal chunk counts
    return static_cast<double>(o.work.chunks) + kLittle * static_cast<double>(o.pipeline.streams) +
           (o.pipeline.graph ? kLittle : 0) + (o.work.growth != 1 ? kLittle : 0);
  }

  [[nodiscard]] std::string family(const Case& c) const override { return c.word("strategy"); }
  [[nodiscard]] double model_error() const override { return kModelError; }

  [[nodiscard]] Candidate prepare(const Case& c) override {
    const OverlapCase o = parsed(c);
    const auto own = std::make_shared<CutPipeline>(bench_.device, o.work, o.pipeline, payload_);
    return {.region = [own] { return checked_region_of(*own->pipeline, *own->work, "pipeline"); },
            .verify = [own, this] { verify(bench_.machine, *own->work, *own->pipeline, run_at_full_speed); }};
  }

  void describe(const Case& c, double seconds, double fastest, Result& result) const override {
    const auto median = [this](std::size_t i) { return i < stages_.size() ? stages_[i].median : 0; };
    const model::Stages stages{median(0), median(1), median(2), median(3), median(4), median(5)};
    const double least = std::min(seconds, fastest);
    add_efficiency(parsed(c), model::lower_bound(stages, costs_.in_stream.copy_engines, least), seconds, result);
    if (whole_.shape().own) add_kernel(whole_, bench_.verify, result);
  }

 private:
  struct Unmodelled {
    OverlapCase config;
    double seconds = 0;
  };

  [[nodiscard]] OverlapCase parsed(const Case& c) const {
    OverlapCase o = overlap_case(c);
    o.work.seed = bench_.seed;
    return o;
  }

  /// Returns the payload shape whose device buffers are large enough for every case.
  [[nodiscard]] Payload::Shape payload_of(std::span<const Case> cases) const {
    Payload::Shape all = ChunkedWork::payload_of(parsed(cases.front()).work);
    all.device_bytes =
        most_of(cases, [&](const Case& c) { return ChunkedWork::payload_of(parsed(c).work).device_bytes; });
    return all;
  }

  [[nodiscard]] ChunkedWork::Shape whole_of(const Case& c) const {
    ChunkedWork::Shape shape = parsed(c).work;
    shape.chunks = 1;
    shape.growth = 1;
    shape.blocks = 0;
    shape.kernels_per_chunk = 1;
    return shape;
  }

  [[nodiscard]] double serial_bound() const { return total_of(std::span(stages_).first(3), &Measurement::median); }

  /// Measures the stages, which define the limit of all configurations, in the order of model::Stages. Keeps each
  /// stage's fastest result of all calls.
  void measure_stages() {
    constexpr std::size_t kSamples = 10;
    Stages stages(bench_.device, whole_);
    std::vector<Region> regions = stages.all();
    for (Region& r : regions) {
      r.warmed_by_another = bench_.verify;  // verification has already run this region
      r.batch = passes_;
      r.same_batch = false;  // `batch` already gives all regions the same number of passes
    }
    const std::vector<Series> series = sample_few(bench_, std::move(regions), kSamples);
    if (!stages_.empty() && !all_sampled(series)) return;  // Ctrl-C: keep the earlier measurements
    auto measured = list_of(series, &Series::elapsed);
    if (auto rates = at_both_rates(series)) measured.push_back(*std::move(rates));
    stages_.resize(measured.size());
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const bool first = stages_[i].samples.empty();
      if (first || measured[i].median < stages_[i].median) stages_[i] = std::move(measured[i]);
    }
  }

  /// Measures the configurations that the model does not cover: zero-copy kernels, once per grid size.
  void measure_unmodelled() {
    for (auto& [blocks, zero_copy] : unmodelled_) {
      if (interrupted() != 0) return;
      const CutPipeline own(bench_.device, zero_copy.config.work, zero_copy.config.pipeline, payload_);
      Region region = region_for(bench_.objective, region_of(*own.pipeline, "zero-copy"));
      region.warmed_by_another = true;
      region.batch = passes_;
      const auto series = sample_few(bench_, {region}, 4);
      zero_copy.seconds = series.front().elapsed.median;
    }
  }

  RunContext bench_;
  std::shared_ptr<Payload> payload_;
  ChunkedWork whole_;
  StageCosts costs_;
  WallCosts wall_costs_;
  std::map<unsigned, Unmodelled> unmodelled_;  // zero-copy configurations by grid size
  unsigned passes_ = 1;                        // number of passes per sample
};

void require_what_the_model_covers(std::span<const Case> cases) {
  for (const Case& c : cases) {
    const OverlapCase o = overlap_case(c);
    if (o.pipeline.blocks != 0 && o.pipeline.strategy != Strategy::zero_copy) {
      throw UsageError(
          "tune relies on a model that does not cover --blocks: leave out --blocks, or give --strategy zero-copy");
    }
    if (!o.balance) continue;
    throw UsageError(
        "tune needs a fixed amount of work: give --work instead of --balance (a run with --balance prints the work "
        "that it has chosen)");
  }
}

}  // namespace

std::vector<std::string_view> overlap_work_axes() {
  std::vector<std::string_view> axes{"size", "rounds", "kernel", "work", "balance", "in-place", "split", "gpus"};
  std::ranges::copy(own_kernel_work_axes(), std::back_inserter(axes));
  return axes;
}

std::unique_ptr<Tunable> overlap_space(std::span<const Case> cases, const RunContext& bench) {
  require_what_the_model_covers(cases);
  return std::make_unique<OverlapSpace>(cases, bench);
}

}  // namespace xferbench
