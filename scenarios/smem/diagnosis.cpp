// Findings of scenario smem: the best of each method, and how many stages are enough.
#include "scenarios/smem/case.hpp"

#include <fmt/format.h>

#include "core/units.hpp"
#include "model/in_flight.hpp"
#include "model/relation.hpp"
#include "run/finding_text.hpp"
#include "run/findings.hpp"

namespace xferbench {

namespace {

using Results = std::vector<const Result*>;

bool is_work(std::string_view axis) { return std::ranges::find(kSmemWorkAxes, axis) != kSmemWorkAxes.end(); }

double seconds(const Result* r) { return r->median("smem"); }

std::string method_of(const Result& r) { return r.config.word("method"); }

const Result* fastest(std::span<const Result* const> results) {
  return *std::ranges::min_element(results, {}, seconds);
}

/// Returns the values of the axes, each after the axis' name unless the value is self-explanatory, for example "tma,
/// tile 4 KiB, stages 3".
std::string description(const Case& c, std::span<const std::string> axes) {
  std::string text;
  for (const std::string& axis : axes) {
    const Case::Param* p = c.find(axis);
    if (p == nullptr) continue;
    const bool speaks = p->kind == AxisKind::choice && axis != "swizzle" && axis != "copy-bytes" && axis != "store";
    text += (text.empty() ? "" : ", ") + (speaks ? "" : axis + " ") + axis_text(*p);
  }
  return text;
}

/// Adds a finding about the best result of each method, if several methods were measured.
void add_best(const Results& work, const std::vector<std::string>& axes, std::vector<Finding>& findings) {
  const auto by_method = grouped(work, method_of);
  if (by_method.size() < 2) return;
  for (const Results& method : by_method) {
    const Result* best = fastest(method);
    findings.push_back({.kind = "best",
                        .labels = labels_of(best->config, axes),
                        .metrics = {best->needed_metric("bandwidth"), best->needed_metric("memory_traffic"),
                                    best->needed_metric("vs_d2d")}});
  }
  const ComparedResults called = compared_results(work, axes, description);
  const model::Leaders front = leaders_of(work, "smem");
  const Result& best = *work[front.places.front()];
  findings.push_back(
      {.kind = "winner",
       .labels = {{"case", best.config.key()}, {"outcome", outcome_label(front)}},
       .metrics = {best.needed_metric("memory_traffic")},
       .text = fmt::format("{}{}: {} GB/s of memory traffic, {} times a copy by cudaMemcpyAsync", called.common,
                           ranking_text(front, called.names, "is the fastest"),
                           format_significant(best.value("memory_traffic")), factor_text(best.value("vs_d2d")))});
}

/// Whether memory latency is the bottleneck of a result, rather than arithmetic, block launches or the tile counter.
bool waits_for_memory(const Result& r) {
  const kernels::SmemShape shape = smem_case(r.config).shape;
  if (shape.schedule == kernels::SmemSchedule::one_tile) return false;
  const bool counts = shape.schedule == kernels::SmemSchedule::dynamic;
  if (counts && seconds(&r) < 2 * kTileFromCounter * static_cast<double>(shape.tiles())) return false;
  const Metric* balance = r.metric("memory_to_compute");
  return balance == nullptr || balance->value > 1;
}

/// Estimates the time in seconds from the load of a byte to its arrival, from the results of one method that have too
/// few bytes in flight to reach the full bandwidth. Returns nothing if there are no such results.
std::optional<double> latency_of(const Results& results) {
  std::vector<model::Flight> flights;
  for (const Result* r : results) {
    if (waits_for_memory(*r)) flights.push_back({r->value("bandwidth"), r->value("time_in_flight")});
  }
  return model::latency(flights);
}

unsigned stages_of(const Result* r) { return smem_case(r->config).shape.stages; }

/// Adds the bytes in flight that result `enough` needs for its rate, by Little's law with a latency of `latency`
/// seconds. That is the rate times `latency`; the rate is the result's bytes in flight divided by its time in flight.
void add_littles_law(const Result& enough, double latency, Finding& f) {
  const double needed = enough.value("bytes_in_flight") * latency / enough.value("time_in_flight");
  f.metrics.push_back({"latency", latency, "s"});
  f.metrics.push_back({"needed_in_flight", needed, "B"});
  f.text += fmt::format(", {} needed by Little's law at a latency of {}", format_size(whole_bytes(needed)),
                        format_seconds(latency));
}

/// Returns a finding that names the smallest number of stages that is as fast as more stages. `alike`: results that
/// differ in their stages only.
std::optional<Finding> enough_stages(Results alike, std::optional<double> latency,
                                     const std::vector<std::string>& axes) {
  std::ranges::sort(alike, {}, stages_of);
  if (alike.size() < 3) return std::nullopt;  // two numbers of stages are too few to see where more stages stop helping
  const model::Leaders front = leaders_of(alike, "smem");
  const std::size_t fewest = std::ranges::min(front.places);  // fewest stages among the results tied for the fastest
  const Result& enough = *alike[fewest];
  const Result& best = *alike[front.places.front()];
  const bool sure = &enough == &best || model::relate(model::estimate_of(best, "smem"),
                                                      model::estimate_of(enough, "smem")) == model::Relation::equal;
  const std::string range = fmt::format("{} to {}", stages_of(alike.front()), stages_of(alike.back()));
  Finding f{.kind = "stages", .labels = {{"case", enough.config.key()}}};
  f.text = description(enough.config, axes) + ": ";
  if (!front.sampled) {
    f.text += fmt::format("not decided how many stages of {} are enough: {}", range, kTooFewSamples);
    return f;
  }
  const unsigned stages = stages_of(&enough);
  const std::string few = fmt::format("{} {}", stages, stages == 1 ? "stage" : "stages");
  f.metrics = {{"enough_stages", static_cast<double>(stages), "stages"}, enough.needed_metric("bytes_in_flight")};
  f.text +=
      sure ? fmt::format("{} {} enough, the best of {} is less than 1 % faster", few, stages == 1 ? "is" : "are", range)
           : fmt::format("{} may be enough, no difference from the best of {} was found", few, range);
  f.text +=
      fmt::format("; up to {} in flight per multiprocessor", format_size(whole_bytes(enough.value("bytes_in_flight"))));
  if (latency) add_littles_law(enough, *latency, f);
  return f;
}

void add_stages(const Results& work, std::vector<std::string> axes, std::vector<Finding>& findings) {
  std::erase(axes, "stages");
  for (const Results& method : grouped(work, method_of)) {
    const std::optional<double> latency = latency_of(method);
    const auto but_stages = [](const Result& r) {
      return key_of(r.config, [](std::string_view axis) { return axis != "stages"; });
    };
    for (const Results& alike : grouped(method, but_stages)) {
      if (auto finding = enough_stages(alike, latency, axes)) findings.push_back(std::move(*finding));
    }
  }
}

}  // namespace

std::vector<Finding> diagnose_smem(std::span<const Result* const> results) {
  const Results measured = with_metric(results, "bytes_in_flight");
  for (const Result* r : measured) {
    for (const char* name : {"bandwidth", "memory_traffic", "vs_d2d", "time_in_flight"}) r->needed_metric(name);
    r->needed_measurement("smem");
  }
  std::vector<std::string> axes = varying_axes(measured);
  if (std::ranges::find(axes, "method") == axes.end()) axes.insert(axes.begin(), "method");
  std::vector<Finding> findings;
  for (const Results& work : grouped(measured, [](const Result& r) { return key_of(r.config, is_work); })) {
    add_best(work, axes, findings);
    add_stages(work, axes, findings);
  }
  fold_into_rows(findings, "stages", 3);
  return findings;
}

}  // namespace xferbench
