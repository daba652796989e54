#include "scenarios/overlap/account.hpp"

#include <fmt/format.h>

#include "core/interrupt.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "model/bounds.hpp"

namespace xferbench {

namespace {

/// Returns measurement `name` for comparison with the pipeline. Returns the series with as many passes per sample as
/// the pipeline if there is such a series, else the series with the plain name.
const Measurement& alike(const Result& result, const std::string& name) {
  const Measurement* repeated = result.measurement(name + kAlikeSuffix);
  return repeated != nullptr ? *repeated : result.needed_measurement(name);
}

/// Names of the stages' measurements, in the order of model::Stages. The last one is missing with several GPUs, or if
/// times are too short for the clock.
constexpr std::array<const char*, 6> kStages{"h2d", "kernel", "d2h", "both", kBothChunked, kAtBothRates};

/// Returns time_of(measurement) of each stage; 0 for stages that were not measured.
template <class TimeOf>
model::Stages stage_times(const Result& result, const TimeOf& time_of) {
  const auto time = [&](std::size_t stage) {
    return result.measurement(kStages[stage]) == nullptr ? 0 : time_of(alike(result, kStages[stage]));
  };
  return {time(0), time(1), time(2), time(3), time(4), time(5)};
}

/// Adds a bootstrap confidence interval of the efficiency. Resamples whole sampling rounds: in a round the pipeline and
/// the stages are sampled one after another, so noise that affects all of them alike cancels.
void add_interval_of_efficiency(unsigned copy_engines, Result& result) {
  const Measurement& pipeline = result.needed_measurement("pipeline");
  std::size_t rounds = pipeline.samples.size();
  for (const char* stage : kStages) {
    if (result.measurement(stage) != nullptr) rounds = std::min(rounds, alike(result, stage).samples.size());
  }
  std::vector<double> drawn;
  const auto stopped = [] { return interrupted() != 0; };
  const auto interval = statistics::interval_over_rounds(rounds, stopped, [&](std::span<const std::size_t> places) {
    const auto median = [&](const Measurement& m) {
      drawn.clear();
      for (const std::size_t place : places) drawn.push_back(m.samples[place]);
      return statistics::median(drawn);
    };
    return model::lower_bound(stage_times(result, median), copy_engines).seconds / median(pipeline);
  });
  if (!interval) return;
  if (interval->low > 1) {
    result.warnings.emplace_back(
        fmt::format("this pipeline is {} faster than the limit from its kernel alone and both copies alone, so the "
                    "pipeline is taken as the limit",
                    format_percent(interval->low - 1)));
  }
  result.add("efficiency_low", std::min(interval->low, 1.0), "1");
  result.add("efficiency_high", std::min(interval->high, 1.0), "1");
}

void warn(const OverlapCase& o, Result& result) {
  const Measurement& pipeline = result.needed_measurement("pipeline");
  if (o.pipeline.strategy == Strategy::serial) return;  // the calls of strategy serial block by design
  if (pipeline.clock == Clock::event) {
    result.warnings.emplace_back(
        "too many operations to queue behind a gate: the makespan includes the host's submit time, as in a real "
        "program");
  }
  const double submit = result.median("pipeline-submit");
  if (submit > 0.9 * pipeline.median) {
    result.warnings.emplace_back("the host submits no faster than the GPU works (submit time " +
                                 format_seconds(submit) + "): choose fewer chunks");
  }
}

void add_costs(const StageCosts& costs, Result& result) {
  const model::StageCosts& c = costs.in_stream;
  const auto add = [&result](const std::string& stage, const model::Cost& cost) {
    result.add(stage + "_per_operation", cost.per_operation, "s");
    if (cost.duplex_rate != 1) result.add(stage + "_duplex_rate", cost.duplex_rate, "1");
    if (cost.duplex_overhead != 1) result.add(stage + "_duplex_overhead", cost.duplex_overhead, "1");
  };
  add("h2d", c.h2d), add("kernel", c.kernel), add("d2h", c.d2h);
  // Mean of the three kinds of hand-over between engines; older versions reported only this mean.
  const auto mean = [](const model::Handoff& h) { return (h.copy_to_kernel + h.kernel_to_copy + h.copy_to_copy) / 3; };
  result.add("hand_over", mean(c.handoff), "s");
  result.add("event_hand_over", mean(costs.across_streams.handoff), "s");
  result.add("hand_over_at_kernel", c.handoff.copy_to_kernel, "s");
  result.add("hand_over_between_copies", c.handoff.copy_to_copy, "s");
  result.add("stream_switch", c.stream_switch, "s");
  result.add("pass_overhead", c.start, "s");
}

}  // namespace

std::span<const MetricDeclaration> alike_metrics() {
  constexpr const char* kMeaning =
      "the same measurement with as many repetitions per sample as the pipeline; absent if it has as many anyway";
  static const auto metrics =
      list_of(std::array<std::string, 6>{"h2d", "kernel", "d2h", "both", kBothChunked, "one-round"},
              [](const std::string& name) { return measured(name + kAlikeSuffix, kMeaning); });
  return metrics;
}

void add_kernel(const ChunkedWork& work, bool verified, Result& result) {
  if (!work.shape().own) return result.add("work", work.work(), "operations/element");
  add_own_kernel(*work.shape().own, *work.payload()->own_kernel(), verified, result);
}

void derive(const OverlapCase& o, unsigned copy_engines, Result& result) {
  const double makespan = result.median("pipeline");
  const auto gigabytes = static_cast<double>(o.work.bytes * o.work.rounds) / 1e9;
  add_efficiency(o, model::lower_bound(stage_times(result, std::mem_fn(&Measurement::median)), copy_engines, makespan),
                 makespan, result);
  add_interval_of_efficiency(copy_engines, result);
  result.add("makespan", makespan, "s");
  if (const Measurement* serial = result.measurement("serial")) {  // absent with several GPUs
    result.add("speedup", serial->median / makespan, "1");
    result.add("hidden_fraction", model::hidden_fraction(serial->median, makespan, result.value("bound")), "1");
  }
  result.add("host_blocked", result.median("pipeline-submit"), "s");
  const model::Stages s{result.median("h2d"), result.median("kernel"), result.median("d2h"), result.median("both")};
  result.add("h2d_bandwidth", gigabytes / s.h2d, "GB/s");
  result.add("d2h_bandwidth", gigabytes / s.d2h, "GB/s");
  result.add("both_bandwidth", 2 * gigabytes / s.both, "GB/s");
  result.add("duplex_ratio", model::duplex_ratio(s), "1");
  result.add("kernel_to_h2d", s.kernel / s.h2d, "1");
  if (result.measurement("one-round") != nullptr) {
    // Time of each further round of the payload after the first: filling and draining the pipeline occur only once.
    const double round = (makespan - alike(result, "one-round").median) / static_cast<double>(o.work.rounds - 1);
    result.add("steady_round_time", round, "s");
    if (round > 0) result.add("steady_bandwidth", 2e-9 * static_cast<double>(o.work.bytes) / round, "GB/s");
  }
  warn(o, result);
}

void derive_versus_one_gpu(const OverlapCase& o, Result& result) {
  const double one = 2e-9 * static_cast<double>(o.work.bytes * o.work.rounds) / result.median("one-gpu");
  result.add("one_gpu_bandwidth", one, "GB/s");
  result.add("of_one_gpu", result.value("bandwidth") / one, "1");
}

void explain_makespan(const OverlapCase& o, const StageCosts& of_single_passes, Result& result) {
  if (interrupted() != 0) return;  // after Ctrl-C there may be no samples of the costs
  const StageCosts costs = of_passes_in_a_row(of_single_passes, result.needed_measurement("pipeline").batch);
  const bool gated = result.needed_measurement("pipeline").clock == Clock::event_gated;
  const double makespan = result.value("makespan");
  const double bound = result.value("bound");
  add_costs(costs, result);
  const double expected = *predicted(costs, o, gated);
  result.add("modelled", expected, "s");
  result.add("residual", makespan / expected - 1, "1");
  if (const auto l = losses(costs, o, gated, makespan, bound)) {
    result.add("time_contention", l->contention, "s");
    result.add("time_fill_drain", l->fill_drain, "s");
    result.add("time_overhead", l->overhead, "s");
    result.add("time_slots", l->slots, "s");
    result.add("time_submission", l->submission, "s");
    result.add("time_unexplained", l->unexplained, "s");
  }
  if (const auto chunks = best_chunks(costs, o, gated)) {
    result.add("best_chunks", static_cast<double>(*chunks), "chunks");
  }
  if (const auto better = suggestion(costs, o, gated)) {
    result.labels.emplace_back("suggestion", better->flags);
    result.add("suggestion_gain", better->gain, "1");
  }
}

}  // namespace xferbench
