// Calibration figures from pipelines (scenario overlap).
#include "scenarios/calibration/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace xferbench {

namespace {

/// Returns results of pipelines, if possible with a payload of 64 MiB, which is large enough that noise is small
/// compared to the costs of the chunks.
std::vector<Found> pipelines(std::span<const NamedReport> runs) {
  constexpr std::uint64_t kSize = 64 << 20;
  auto found = cases_of(runs, "overlap", [](const Case& c) { return c.count_or("size", 0) == kSize; });
  if (found.empty())
    found = cases_of(runs, "overlap", [](const Case& c) { return c.count_or("size", 0) >= kSize / 4; });
  return found;
}

FigureReader metric(std::string name) {
  return [name = std::move(name)](const Result& r) -> std::optional<FigureValue> {
    const Metric* found = r.metric(name);
    return found == nullptr ? std::nullopt : std::optional(FigureValue{found->value, name});
  };
}

/// Returns a reader of the factor by which a copy's rate or overhead (`of`) changes while the other direction is busy.
/// Results without this metric count as factor 1.
FigureReader factor(const std::string& direction, std::string_view of) {
  return [there = metric(direction + "_per_operation"),
          own = metric(fmt::format("{}_duplex_{}", direction, of))](const Result& r) -> std::optional<FigureValue> {
    const auto cost = there(r);
    if (!cost) return std::nullopt;
    return own(r).value_or(FigureValue{1, cost->what + " without a duplex factor"});
  };
}

/// Returns a reader of the hand-over time with the given name. Older results contain only the mean of the three
/// hand-over times; for these results the reader returns that mean.
FigureReader handover(std::string name) {
  return [own = metric(std::move(name)), mean = metric("hand_over")](const Result& r) {
    const auto reading = own(r);
    return reading ? reading : mean(r);
  };
}

/// Keeps one of the results of a run that have the same operation costs, because they share one measurement of costs.
std::vector<Found> each_measured_once(const std::vector<Found>& all) {
  constexpr std::array kTelling{"h2d_per_operation", "kernel_per_operation", "d2h_per_operation", "hand_over"};
  const auto same = [&](const Found& a, const Found& b) {
    return a.run == b.run && std::ranges::all_of(kTelling, [&](const char* name) {
             return a.result->value(name) == b.result->value(name);
           });
  };
  std::vector<Found> once;
  for (const Found& f : all) {
    if (std::ranges::none_of(once, [&](const Found& known) { return same(known, f); })) once.push_back(f);
  }
  return once;
}

/// Returns the kernel time without its launch overhead, in seconds.
std::optional<double> seconds_of_work(const Result& r) {
  const Metric* overhead = r.metric("kernel_per_operation");
  if (overhead == nullptr || r.metric("work") == nullptr || !r.config.is("kernel", "fma")) return std::nullopt;
  return r.median("kernel") - overhead->value;
}

/// Returns the kernel's memory traffic in bytes per second; nothing if its arithmetic may be the bottleneck.
std::optional<FigureValue> traffic_rate(const Result& r) {
  const auto seconds = seconds_of_work(r);
  if (!seconds || r.value("work") > 2) return std::nullopt;
  return FigureValue{2 * bytes_of(r) / *seconds, "kernel"};
}

/// Returns the arithmetic operations per second; nothing if the time of the memory traffic explains the kernel time.
std::optional<FigureValue> arithmetic_rate(const Result& r, double memory_rate) {
  constexpr double kClearly = 1.3;
  const auto seconds = seconds_of_work(r);
  if (!seconds || *seconds * memory_rate < kClearly * 2 * bytes_of(r)) return std::nullopt;
  return FigureValue{bytes_of(r) / sizeof(float) * r.value("work") / *seconds, "kernel, work"};
}

/// Keeps results with at most kAlike times the arithmetic of the result with the least. Kernels with much more
/// arithmetic hide the latency of operands better than the kernels of usual pipelines.
std::vector<Found> with_least_work(std::vector<Found> found) {
  constexpr double kAlike = 2;
  if (found.empty()) return found;
  const auto work = [](const Found& f) { return f.result->value("work"); };
  const double least = work(std::ranges::min(found, {}, work));
  std::erase_if(found, [&](const Found& f) { return work(f) > kAlike * least; });
  return found;
}

void add_kernels(const std::vector<Found>& from, Figures& figures) {
  figures.add(from, "kernel_traffic_rate", traffic_rate);
  const double specified = from.empty() ? 0 : from.front().run->report.environment.gpu.memory_bandwidth;
  const double memory_rate = figures.has("kernel_traffic_rate") ? figures.known("kernel_traffic_rate") : specified;
  std::vector<Found> arithmetic = from;
  std::erase_if(arithmetic, [&](const Found& f) { return !arithmetic_rate(*f.result, memory_rate); });
  figures.add(with_least_work(arithmetic), "fma_rate",
              [=](const Result& r) { return arithmetic_rate(r, memory_rate); });
  if (!figures.has("fma_rate") && !from.empty()) {
    figures.remark(
        "the kernel's arithmetic rate is unknown, because the kernel is memory-bound in these results; measure overlap "
        "--size 64M --work 1024");
  }
}

}  // namespace

void add_pipelines(std::span<const NamedReport> runs, Figures& figures) {
  const std::vector<Found> all = pipelines(runs);
  const std::vector<Found> from = each_measured_once(all);
  for (const char* direction : {"h2d", "d2h"}) {
    const std::string name = direction;
    // Pipelines give a more accurate cost per copy than fits over copy sizes.
    figures.add(from, name + "_overhead", metric(name + "_per_operation"));
    figures.add(from, name + "_duplex_rate", factor(name, "rate"));
    figures.add(from, name + "_duplex_overhead", factor(name, "overhead"));
  }
  figures.add(from, "stream_switch", metric("stream_switch"));
  figures.add(from, "kernel_overhead", metric("kernel_per_operation"));
  figures.add(from, "copy_to_kernel", handover("hand_over_at_kernel"));
  figures.add(from, "kernel_to_copy", handover("hand_over_at_kernel"));
  figures.add(from, "copy_to_copy", handover("hand_over_between_copies"));
  figures.add(from, "order_cost", [](const Result& r) -> std::optional<FigureValue> {
    if (r.metric("hand_over") == nullptr || r.metric("event_hand_over") == nullptr) return std::nullopt;
    return FigureValue{std::max(0.0, r.value("event_hand_over") - r.value("hand_over")), "event_hand_over - hand_over"};
  });
  add_kernels(all, figures);
  if (!figures.has("h2d_duplex_rate") || !figures.has("copy_to_kernel")) {
    figures.miss("the cost of a pipeline's operations: overlap --strategy engines --size 64M");
  }
}

}  // namespace xferbench
