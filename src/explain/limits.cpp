#include "explain/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "results/metric_names.hpp"

namespace xferbench::explain {

std::optional<double> seconds_on(const LimitCurve& curve, std::uint64_t bytes) {
  const std::vector<LimitPoint>& points = curve.points;
  if (points.empty()) return std::nullopt;
  const auto above = std::ranges::lower_bound(points, bytes, {}, &LimitPoint::bytes);
  if (above == points.begin()) {
    const bool is_latency = points.front().bytes <= kSmallCopy || points.front().bytes == bytes;
    return is_latency ? std::optional(points.front().seconds) : std::nullopt;
  }
  const LimitPoint& low = *(above - 1);
  const auto size = static_cast<double>(bytes);
  if (above == points.end()) return low.seconds * size / static_cast<double>(low.bytes);
  const double below = std::log(static_cast<double>(low.bytes));
  const double part = (std::log(size) - below) / (std::log(static_cast<double>(above->bytes)) - below);
  // The time is latency plus size / rate, linear in the size. A power law gives too long times between distant sizes.
  const double line = low.seconds + (above->seconds - low.seconds) * (size - static_cast<double>(low.bytes)) /
                                        static_cast<double>(above->bytes - low.bytes);
  const double power = std::exp(std::log(low.seconds) + part * std::log(above->seconds / low.seconds));
  return std::min(line, power);
}

namespace {

/// Returns the median of the case's main metric in seconds; nothing if the case failed or has no such metric.
std::optional<double> seconds_of(const Report& report, const Result& result) {
  if (result.status != Status::ok) return std::nullopt;
  const Measurement* headline = headline_of(result, declared_for(report.metrics_declared, result.config.scenario()));
  if (headline == nullptr || headline->median <= 0) return std::nullopt;
  return headline->median;
}

struct Direction {
  std::string_view dir;
  CopyKind kind;
};
constexpr Direction kDirections[]{{"h2d", CopyKind::h2d}, {"d2h", CopyKind::d2h}};
struct HostKind {
  std::string_view host;
  Memory memory;
};
constexpr HostKind kHostKinds[]{{"pinned", Memory::pinned}, {"pageable", Memory::pageable}};

/// Whether the axis of the case has this value. False if the case lacks the axis, as in files from other programs.
bool is(const Result& r, std::string_view axis, std::string_view word) {
  return r.config.has(axis) && r.config.word(axis) == word;
}

bool is_copy(const Result& r, std::string_view dir, std::string_view host) {
  return r.config.scenario() == "memcpy" && is(r, "dir", dir) && is(r, "host", host) && r.config.has("size");
}

void sort_by_size(LimitCurve& curve) {
  std::ranges::stable_sort(curve.points, {}, &LimitPoint::bytes);
  const auto same = [](const LimitPoint& a, const LimitPoint& b) { return a.bytes == b.bytes; };
  curve.points.erase(std::unique(curve.points.begin(), curve.points.end(), same), curve.points.end());
}

LimitCurve curve_of(const Report& report, const Direction& direction, const HostKind& host) {
  LimitCurve curve{.kind = direction.kind, .host = host.memory};
  for (const Result& r : report.results) {
    if (!is_copy(r, direction.dir, host.host)) continue;
    if (const auto seconds = seconds_of(report, r)) curve.points.push_back({r.config.count("size"), *seconds});
  }
  sort_by_size(curve);
  return curve;
}

/// Costs of the pieces of one direction and way, by their size.
struct PieceCurves {
  CopyKind kind = CopyKind::other;
  PieceWay way = PieceWay::batch;
  LimitCurve result{};
  LimitCurve calls{};
};

PieceCurves piece_curves_of(const Report& report, const Direction& direction, PieceWay way) {
  PieceCurves curves{.kind = direction.kind, .way = way};
  for (const Result& r : report.results) {
    const bool fits = r.config.scenario() == "scatter" && is(r, "dir", direction.dir) && is(r, "way", to_text(way)) &&
                      is(r, "host", "pinned") && r.config.has("piece") && !r.config.has("piece-to") &&
                      r.config.has("size");
    // On an idle stream, the driver copies small H2D pieces itself. Programs mostly do not wait before a batch.
    const bool idle = direction.kind == CopyKind::h2d && way == PieceWay::batch && !r.config.has("behind-kernel");
    if (!fits || idle) continue;
    const auto result = seconds_of(report, r);
    const double calls = r.median(kSubmit);
    if (!result || calls <= 0) continue;
    const std::uint64_t piece = r.config.count("piece");
    const double pieces = static_cast<double>(r.config.count("size")) / static_cast<double>(piece);
    curves.result.points.push_back({piece, *result / pieces});
    curves.calls.points.push_back({piece, calls / pieces});
  }
  sort_by_size(curves.result);
  sort_by_size(curves.calls);
  return curves;
}

/// Returns Costs::piece from the results of scenario scatter.
auto piece_costs_of(const Report& report) {
  const auto all = flat_list_of(kDirections, [&](const Direction& direction) {
    return list_of(kPieceWays, [&](PieceWay way) { return piece_curves_of(report, direction, way); });
  });
  return [all](CopyKind kind, PieceWay way, std::uint64_t bytes) -> std::optional<PieceCost> {
    const auto found = std::ranges::find_if(all, [&](const PieceCurves& c) { return c.kind == kind && c.way == way; });
    if (found == all.end()) return std::nullopt;
    const auto result = seconds_on(found->result, bytes);
    const auto calls = seconds_on(found->calls, bytes);
    return result && calls ? std::optional(PieceCost{*result, *calls}) : std::nullopt;
  };
}

const LimitCurve* curve_for(const std::vector<LimitCurve>& curves, CopyKind kind, Memory host) {
  return found_in(curves, std::pair(kind, host), [](const LimitCurve& c) { return std::pair(c.kind, c.host); });
}

/// Returns the speed of each direction while both run, relative to its speed alone, at the largest measured size.
Duplex duplex_of(const Report& report, const std::vector<LimitCurve>& curves) {
  Duplex duplex;
  std::uint64_t largest = 0;
  for (const Result& r : report.results) {
    if (!is_copy(r, "bidirectional", "pinned") || r.config.count("size") <= largest) continue;
    const auto both = seconds_of(report, r);
    const LimitCurve* in = curve_for(curves, CopyKind::h2d, Memory::pinned);
    const LimitCurve* out = curve_for(curves, CopyKind::d2h, Memory::pinned);
    if (!both || in == nullptr || out == nullptr) continue;
    largest = r.config.count("size");
    const auto kept = [&](const LimitCurve& curve) {
      return std::clamp(seconds_on(curve, largest).value_or(*both) / *both, 0.1, 1.);
    };
    duplex = {kept(*in), kept(*out)};
  }
  return duplex;
}

/// Returns the seconds per additional node, from the times of the two largest graphs of empty kernels.
std::optional<double> graph_node_of(const Report& report) {
  std::vector<LimitPoint> graphs;  // `bytes` holds the number of nodes
  for (const Result& r : report.results) {
    if (r.config.scenario() != "latency" || !is(r, "op", "graph") || !r.config.has("nodes")) continue;
    if (const auto seconds = seconds_of(report, r)) graphs.push_back({r.config.count("nodes"), *seconds});
  }
  std::ranges::sort(graphs, {}, &LimitPoint::bytes);
  if (graphs.size() < 2) return std::nullopt;
  const LimitPoint& most = graphs.back();
  const LimitPoint& fewer = graphs[graphs.size() - 2];
  if (most.bytes == fewer.bytes || most.seconds <= fewer.seconds) return std::nullopt;
  return (most.seconds - fewer.seconds) / static_cast<double>(most.bytes - fewer.bytes);
}

/// Returns the median of this measurement in seconds, from the first successful latency case of this operation.
std::optional<double> latency_of(const Report& report, std::string_view operation, std::string_view measurement) {
  for (const Result& r : report.results) {
    if (r.config.scenario() != "latency" || !is(r, "op", operation) || r.status != Status::ok) continue;
    const double seconds = r.median(measurement);
    if (seconds > 0) return seconds;
  }
  return std::nullopt;
}

/// Returns the seconds per byte to get this kind of memory and to give it back, at its largest measured size.
std::optional<double> cycle_of(const Report& report, std::string_view memory) {
  std::optional<double> found;
  std::uint64_t largest = 0;
  for (const Result& r : report.results) {
    const bool fits = r.config.scenario() == "alloc" && is(r, "memory", memory) && r.config.has("size");
    if (!fits || r.status != Status::ok || r.config.count("size") <= largest) continue;
    const double seconds = r.median(kCycle);
    if (seconds <= 0) continue;
    largest = r.config.count("size");
    found = seconds / static_cast<double>(largest);
  }
  return found;
}

/// Replaces the typical values in `costs` by measured times. Costs that were not measured keep their typical values.
void use(const LimitTimes& times, Costs& costs) {
  costs.asynchronous_copy = times.copy_call.value_or(costs.asynchronous_copy);
  costs.launch = times.launch_call.value_or(costs.launch);
  costs.start = times.kernel_start.value_or(costs.start);
  costs.wake = times.wake.value_or(costs.wake);
  costs.handover = times.handover.value_or(costs.handover);
  costs.graph_launch = times.graph_call.value_or(costs.graph_launch);
  costs.graph_node = times.graph_node.value_or(costs.graph_node);
  costs.pin = times.pin_per_byte;
  costs.touch = times.touch_per_byte.value_or(costs.touch);
}

std::string description_of(const Report& report) {
  const Environment& e = report.environment;
  const std::string when = report.started_at.substr(0, report.started_at.find('T'));
  if (e.simulated()) return fmt::format("{}, simulated by profile {}", e.gpu.name, e.profile_text());
  return fmt::format("{}{}, measured {}", e.gpu.name, e.driver.empty() ? "" : ", driver " + e.driver, when);
}

}  // namespace

MachineLimits limits_of(const Report& report) {
  MachineLimits limits{
      .of = description_of(report), .simulated = report.environment.simulated(), .uuid = report.environment.gpu.uuid};
  for (const Direction& direction : kDirections) {
    for (const HostKind& host : kHostKinds) {
      LimitCurve curve = curve_of(report, direction, host);
      if (!curve.points.empty()) limits.curves.push_back(std::move(curve));
    }
  }
  Costs& costs = limits.costs;
  costs.copy = [curves = limits.curves](CopyKind kind, Memory host, std::uint64_t bytes) -> std::optional<double> {
    const LimitCurve* curve = curve_for(curves, kind, host);
    return curve == nullptr ? std::nullopt : seconds_on(*curve, bytes);
  };
  costs.piece = piece_costs_of(report);
  costs.duplex = duplex_of(report, limits.curves);
  limits.times = {.copy_call = latency_of(report, "copy", kHostCall),
                  .launch_call = latency_of(report, "launch", kHostCall),
                  .kernel_start = latency_of(report, "launch", kKernelStart),
                  .wake = latency_of(report, "wait", kLatency),
                  .handover = latency_of(report, "event-wait", kLatency),
                  .graph_call = latency_of(report, "graph", kHostCall),
                  .graph_node = graph_node_of(report),
                  .pin_per_byte = cycle_of(report, "register"),
                  .touch_per_byte = cycle_of(report, "malloc")};
  use(limits.times, costs);
  return limits;
}

}  // namespace xferbench::explain
