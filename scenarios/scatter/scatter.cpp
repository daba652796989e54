// scatter: moves data in many separate pieces between host and GPU. Finds the fastest way for each size and number of
// pieces, compares it with one whole copy, and measures what it costs the host, the multiprocessors and a concurrent
// kernel.
#include <fmt/format.h>

#include <iterator>
#include <set>

#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "model/bounds.hpp"
#include "results/metric_names.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "scenarios/scatter/movement.hpp"

namespace xferbench {

namespace {

constexpr double kMargin = 1.3;  // minimum duration of the busy kernel, as a multiple of the passes' time alone

constexpr std::string_view kScatterLimit =
    "% of copy: share of one contiguous copy of as many bytes in each direction; staged needs pieces that fill host "
    "memory, with gaps (--pitch) kernel and packed remain";

std::vector<MetricDeclaration> scatter_metrics() {
  using namespace declaring;
  return {
      measured("scatter", "time from the first call until all pieces have arrived, by the host's clock")
          .as_headline()
          .column("time to result", {interval}),
      derived("bandwidth", "GB/s", higher, "bytes of all pieces over that time").column("GB/s"),
      derived("limit", "GB/s", higher, "bandwidth of one contiguous copy of as many bytes, sampled interleaved")
          .column("copy GB/s"),
      derived("of_limit", "1", higher, "bandwidth over that of the contiguous copy").column("% of copy", percent),
      measured(kSubmit, "host time in the calls of a pass").column("submit time"),
      derived_time("submit_per_piece", "host time in the calls, for each piece").column("submit per piece"),
      derived("pieces_moved", "copies", lower, "pieces of one direction after merging").column("pieces"),
      derived("occupied_multiprocessors", "multiprocessors", lower, "multiprocessors that the way's kernels occupy")
          .column("SMs used"),
      derived("multiprocessor_share", "1", lower,
              "share of the time of all multiprocessors that the way's kernels take in a pass")
          .column("SM time", percent),
      measured("kernels", "time of the way's kernels alone, one after another"),
      measured("cpu", "CPU time of all threads until the last call of a pass has returned"),
      measured("on-gpu",
               "time on the GPU from the first to the last operation; without a gate where the calls do not "
               "fit behind one, and the calls then are part of it"),
      derived("kernel_loss", "1", lower, "with --beside: by how much longer the kernel takes beside the pieces")
          .column("kernel loss", percent),
      derived("beside_bandwidth", "GB/s", higher, "with --beside: bandwidth of the pieces while the kernel runs")
          .column("beside GB/s"),
      label("pieces_begin", "with --beside: whether the pieces moved while the kernel ran, or waited for its end")
          .column("pieces move"),
      measured("whole-copy", "time of the contiguous copy"),
      measured("call", "tune: time of one cudaMemcpyAsync of a piece among many, until it has arrived"),
      measured("batched", "tune: the same of one piece of a batch"),
      measured("kernel-alone", "with --beside: time of the kernel alone"),
      measured("kernel-and-pieces", "with --beside: time until the kernel and four passes beside it have ended"),
      measured("kernel-beside", "with --beside: time of the kernel beside the pieces"),
      measured("pieces-beside", "with --beside: host time until the last of four passes has ended"),
  };
}

class Scatter final : public ScenarioOf<scatter_case, scatter_space> {
 public:
  Scatter()
      : ScenarioOf({.name = "scatter",
                    .summary = "data in many separate pieces: calls, batches, kernels and staging against one copy",
                    .axes = scatter_axes(),
                    .metrics = scatter_metrics(),
                    .heat_maps = {{.rows = "piece", .columns = "pieces", .metric = "of_limit"}},
                    .charts = {{.x = "piece", .y = "bandwidth", .panels = {"dir"}, .lines = {"way"}, .limit = "limit"}},
                    .answer = {.best = "bandwidth",
                               .text = "{bandwidth}, {of_limit} of contiguous copies",
                               .each = {"dir", "piece"},
                               .ranks_ways = true},
                    .work_axes = {"dir", "host", "size", "piece", "piece-to", "piece-sizes", "kv", "pieces", "layout",
                                  "host-layout", "gpu-layout", "pitch", "align", "beside"},
                    .note = ScenarioDescriptor::Note{"of_limit", kScatterLimit}}) {}

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const ScatterCase& c, const Capabilities* can) const override {
    return reason_against(c, can);
  }
  [[nodiscard]] MemoryNeeds memory_needs(const ScatterCase& c) const override { return needs_of(c); }
  [[nodiscard]] DataPath data_path(const Case& c) const override {
    return scatter_case(c).inside_gpu() ? DataPath::gpu : DataPath::link;
  }

  void measure(const ScatterCase& c, const RunContext& bench, Result& result) const override {
    ScatterMovement movement(c, bench);
    if (bench.needs_data()) movement.prepare();
    std::vector<Region> regions{movement.pieces(), movement.whole(), movement.on_gpu()};
    if (movement.multiprocessors() > 0) regions.push_back(movement.kernels());
    if (bench.verify) movement.verify(regions.front());
    if (c.beside != Beside::none) {
      const double alone = sample_few(bench, {regions.front()}, 3).front().elapsed.median;
      movement.make_busy(bench, kMargin * kPassesBeside * alone);
      regions.push_back(movement.busy());
      regions.push_back(movement.beside());
    }
    const std::vector<Series> series = bench.sample(regions);
    add_measurements(series, result);
    if (all_sampled(series)) {
      derive(c, movement, result);
      if (c.beside != Beside::none) derive_beside(c, series.back(), result);
    }
    if (bench.verifies_again()) movement.verify(regions.front());
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override;

  [[nodiscard]] std::optional<SkipReason> reason_against_tuning(const Case& c) const override {
    if (scatter_case(c).beside == Beside::none) return std::nullopt;
    return SkipReason::impossible("tune searches the fastest way alone; leave --beside out");
  }

 private:
  static void derive(const ScatterCase& c, const ScatterMovement& movement, Result& result) {
    const double time = result.median("scatter");
    const double whole = result.median("whole-copy");
    result.add("bandwidth", gigabytes_per_second(c.bytes(), time), "GB/s");
    result.add("limit", gigabytes_per_second(c.bytes(), whole), "GB/s");
    result.add("of_limit", model::share_of_limit(whole, time), "1");
    const auto pieces = static_cast<double>(c.directions.size() * movement.copies());
    result.add("submit_per_piece", result.median(kSubmit) / pieces, "s");
    result.add("pieces_moved", static_cast<double>(movement.copies()), "copies");
    result.add("occupied_multiprocessors", movement.multiprocessors(), "multiprocessors");
    const double kernels = movement.multiprocessors() == 0 ? 0 : result.median("kernels");
    result.add("multiprocessor_share", movement.share_of_multiprocessors() * kernels / time, "1");
  }

  static void derive_beside(const ScatterCase& c, const Series& beside, Result& result) {
    result.measurements.insert(result.measurements.end(), beside.parts.begin(), beside.parts.end());
    const double kernel = result.median("kernel-beside");
    const double pieces = result.median("pieces-beside");
    result.add("kernel_loss", kernel / result.median("kernel-alone") - 1, "1");
    result.add("beside_bandwidth", gigabytes_per_second(kPassesBeside * c.bytes(), pieces), "GB/s");
    const bool waited = pieces - kernel > (kPassesBeside - 1) * result.median("scatter");
    result.labels.push_back({"pieces_begin", waited ? "after it" : pieces < kernel ? "beside it" : "partly after it"});
  }
};

bool is_single_calls(const Result& result) {
  const ScatterCase c = scatter_case(result.config);
  return c.way == ScatterWay::calls && c.streams == 1;
}

std::string sizes_text(const ScatterCase& c) {
  if (!c.piece_sizes.empty()) return "the sizes in " + c.piece_sizes;
  std::string text = format_size_exact(c.piece, " ");
  if (c.piece_to != 0) text += " to " + format_size_exact(c.piece_to, " ");
  return c.kv.empty() ? text : fmt::format("{} ({})", text, c.kv);
}

/// Returns a finding that names the fastest of these results of equal work and, if calls were measured, its speed-up
/// over calls. `varied`: further axes in which works differ.
Finding fastest_of(const std::vector<const Result*>& those, const ComparedResults& compared,
                   const std::vector<std::string>& varied) {
  const model::Leaders front = leaders_of(those, "scatter");
  const Result& best = *those[front.places.front()];
  const ScatterCase c = scatter_case(best.config);
  std::string piece = sizes_text(c);
  if (c.beside != Beside::none) piece += fmt::format(" beside {}", kBeside[static_cast<std::size_t>(c.beside)]);
  const std::string work = varied.empty() ? "" : ", " + name_of(best.config, varied);
  std::string text = fmt::format("{}, pieces of {}{}: {}: {} GB/s, {} of contiguous copies", c.dir, piece, work,
                                 ranking_text(front, compared.names, "is the fastest"),
                                 format_significant(best.value("bandwidth")), format_percent(best.value("of_limit")));
  const auto calls = std::ranges::find_if(those, [](const Result* r) { return is_single_calls(*r); });
  if (calls != those.end() && *calls != &best) {
    const double factor = (*calls)->median("scatter") / best.median("scatter");
    text += fmt::format(", {} times as fast as calls", factor_text(factor));
  }
  Labels labels{{"dir", c.dir}, {"piece", piece}};
  std::ranges::move(labels_of(best.config, varied), std::back_inserter(labels));
  labels.emplace_back("fastest", leaders_text(front, compared.names));
  labels.emplace_back("outcome", outcome_label(front));
  return {.kind = "winner",
          .labels = std::move(labels),
          .metrics = {best.needed_metric("bandwidth"), best.needed_metric("of_limit")},
          .text = std::move(text)};
}

/// Returns, for each way and direction, the time over the piece size. Leaves out ways with several cases of one size.
std::vector<Path> ways_over_pieces(std::span<const Result* const> results) {
  std::map<Labels, Path> all;
  for (const Result* r : results) {
    const ScatterCase c = scatter_case(r->config);
    if (!c.equal_pieces()) continue;
    const Measurement& time = r->needed_measurement("scatter");
    const Labels labels{{"dir", c.dir}, {"way", std::string(kScatterWays[static_cast<std::size_t>(c.way)])}};
    Path& path = all.try_emplace(labels, Path{labels, {}}).first->second;
    path.points.push_back({static_cast<double>(c.piece), time.median, time.ci95});
  }
  std::vector<Path> paths;
  for (auto& [labels, path] : all) {
    std::set<double> sizes;
    for (const model::TransferPoint& point : path.points) sizes.insert(point.bytes);
    if (sizes.size() > 1 && sizes.size() == path.points.size()) paths.push_back(std::move(path));
  }
  return paths;
}

/// Names the fastest way for each work and, with several piece sizes, the sizes at which the fastest way changes.
std::vector<Finding> Scatter::conclude(std::span<const Result* const> results) const {
  const std::vector<const Result*> measured = with_metric(results, "of_limit");
  for (const Result* r : measured) r->needed_measurement("scatter");
  const std::vector<std::string_view>& work = descriptor().work_axes;
  const auto is_work = [&work](std::string_view axis) { return std::ranges::find(work, axis) != work.end(); };
  std::vector<std::string> varied = varying_axes(measured);
  std::erase_if(varied, [&is_work](const std::string& axis) {
    return !is_work(axis) || axis == "dir" || axis == "piece" || axis == "kv" || axis == "beside";
  });
  std::vector<Finding> findings;
  for (const auto& those : grouped(measured, [&](const Result& r) { return key_of(r.config, is_work); })) {
    if (those.size() < 2) continue;
    std::vector<std::string> axes = varying_axes(those);
    std::erase_if(axes, is_work);
    findings.push_back(fastest_of(those, compared_results(those, axes), varied));
  }
  constexpr std::size_t kMostSentences = 2;
  fold_into_rows(findings, "winner", kMostSentences);
  std::ranges::move(comparisons(ways_over_pieces(measured), "way"), std::back_inserter(findings));
  return findings;
}

}  // namespace

const Scenario& scatter_scenario() { return the_only<Scatter>(); }

}  // namespace xferbench
