// Calibration figures from single copies and calls (scenarios memcpy and latency).
#include "scenarios/calibration/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/units.hpp"
#include "model/transfer.hpp"
#include "results/metric_names.hpp"

namespace xferbench {

namespace {

// --- Fits over sizes ------------------------------------------------------------------------------------------------

using Points = std::vector<model::TransferPoint>;
using Part = double model::TransferFit::*;

Points points_of(std::span<const Found> copies) {
  Points points;
  for (const Found& f : copies) {
    const Measurement* copy = f.result->measurement("copy");
    if (copy == nullptr || copy->samples.empty()) continue;
    points.push_back({static_cast<double>(f.result->config.count("size")), copy->median, copy->ci95,
                      static_cast<double>(copy->batch)});
  }
  return points;
}

/// Returns the confidence interval of a fitted parameter. Repeats the fit with each point moved to both ends of its own
/// interval, extended to the fitted line, and adds the squares of the changes, because the medians are independent.
/// Returns nothing if a point has no interval, or if the parameter was clamped to 0: then the lower end is unknown.
std::optional<Interval> interval_of(const Points& points, const model::TransferFit& line, Part part) {
  const double middle = line.*part;
  if (middle <= 0) return std::nullopt;
  double down = 0;
  double up = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].seconds_ci) return std::nullopt;
    double lowest = middle;
    double highest = middle;
    const double on_line = line.seconds(points[i].bytes, points[i].in_a_row);
    for (const double end :
         {std::min(points[i].seconds_ci->low, on_line), std::max(points[i].seconds_ci->high, on_line)}) {
      Points moved = points;
      moved[i].seconds = end;
      const auto fit = model::fit_transfer(moved);
      if (!fit) return std::nullopt;
      lowest = std::min(lowest, (*fit).*part);
      highest = std::max(highest, (*fit).*part);
    }
    down += (middle - lowest) * (middle - lowest);
    up += (highest - middle) * (highest - middle);
  }
  return Interval{middle - std::sqrt(down), middle + std::sqrt(up)};
}

/// A linear fit of copy time over size, with the fitted points and a description of their source.
struct Fit {
  Points points;
  std::optional<model::TransferFit> fit;
  std::string source;

  [[nodiscard]] double value(Part part) const { return (*fit).*part; }
  [[nodiscard]] std::optional<Interval> interval(Part part) const { return interval_of(points, *fit, part); }
};

/// Fits copies of at least 1 MiB; smaller ones are not on a straight line, because drivers handle them differently.
Fit fit_of(std::span<const NamedReport> runs, std::string_view direction, std::string_view memory,
           bool by_kernel = false) {
  constexpr std::uint64_t kLeast = 1 << 20;
  const auto copies = cases_of(runs, "memcpy", [&](const Case& c) {
    return c.is("dir", direction) && c.is("host", memory) && c.is("engine", "sm") == by_kernel &&
           !c.is("api", "sync") && c.count_or("size", 0) >= kLeast;
  });
  Fit fitted{.points = points_of(copies), .fit = {}, .source = {}};
  fitted.fit = model::fit_transfer(fitted.points);
  if (fitted.fit) {
    fitted.source = fmt::format("{}: memcpy dir={} host={}{}, fit over {} medians from {} to {}", files_of(copies),
                                direction, memory, by_kernel ? " engine=sm" : "", fitted.points.size(),
                                format_size(static_cast<std::uint64_t>(fitted.fit->smallest)),
                                format_size(static_cast<std::uint64_t>(fitted.fit->largest)));
  }
  return fitted;
}

// --- Single measurements -------------------------------------------------------------------------------------------

/// Returns only the results of the largest size.
std::vector<Found> longest(std::vector<Found> found) {
  const auto size = [](const Found& f) { return f.result->config.count_or("size", 0); };
  if (found.empty()) return found;
  const auto most = std::ranges::max(found, {}, size);
  std::erase_if(found, [&](const Found& f) { return size(f) < size(most); });
  return found;
}

}  // namespace

void add_pinned_copies(std::span<const NamedReport> runs, Figures& figures) {
  const Fit in = fit_of(runs, "h2d", "pinned");
  const Fit out = fit_of(runs, "d2h", "pinned");
  for (const auto& [fit, name] : {std::pair{&in, "h2d"}, std::pair{&out, "d2h"}}) {
    if (!fit->fit) {
      figures.miss(fmt::format("the cost of {} copies: memcpy --dir {} --host pinned --size 1M:1G:x4", name, name));
      continue;
    }
    using model::TransferFit;
    figures.add(fmt::format("{}_rate", name), fit->value(&TransferFit::rate), fit->interval(&TransferFit::rate),
                fit->source);
    figures.add(fmt::format("{}_overhead", name), fit->value(&TransferFit::latency),
                fit->interval(&TransferFit::latency), fit->source);
  }
  if (!in.fit || !out.fit) return;
  if (in.fit->pass <= 0 || out.fit->pass <= 0) {
    return figures.remark(
        "the fixed cost of a pass does not show in these results; measure memcpy --host pinned with four sizes, some "
        "below and some above 8 MiB");
  }
  // A region is timed until an event after its last copy has been recorded, so the cost of the event is subtracted.
  constexpr Part kPass = &model::TransferFit::pass;
  const auto low = in.interval(kPass);
  const auto high = out.interval(kPass);
  const auto mean = [&](double a, double b) { return std::max(0.0, (a + b) / 2 - figures.known("event_cost")); };
  figures.add(
      "gate_to_copy", mean(in.value(kPass), out.value(kPass)),
      low && high ? std::optional(Interval{mean(low->low, high->low), mean(low->high, high->high)}) : std::nullopt,
      in.source + ", and the same fit of d2h");
}

void add_pageable_copies(std::span<const NamedReport> runs, Figures& figures) {
  constexpr double kCrooked = 0.1;
  const double around = figures.known("wake_up") + figures.known("event_call") + figures.known("event_cost");
  for (const std::string_view name : {"h2d", "d2h"}) {
    const Fit fit = fit_of(runs, name, "pageable");
    if (!fit.fit) continue;
    if (fit.fit->worst_residual > kCrooked) {
      figures.remark(
          fmt::format("{} copies of pageable memory do not fit a straight line: the worst is off by {:.0f} %, and "
                      "predictions are no better",
                      name, 100 * fit.fit->worst_residual));
    }
    using model::TransferFit;
    figures.add(fmt::format("pageable_{}_rate", name), fit.value(&TransferFit::rate), fit.interval(&TransferFit::rate),
                fit.source);
    const auto of_copy = [around](double latency) { return std::max(0.0, latency - around); };
    figures.add("pageable_overhead", of_copy(fit.value(&TransferFit::latency)),
                changed(fit.interval(&TransferFit::latency), of_copy), fit.source);
  }
}

void add_kernels_on_link(std::span<const NamedReport> runs, Figures& figures) {
  const auto by_kernel = [&](std::string_view direction) {
    return longest(cases_of(runs, "memcpy", [&](const Case& c) {
      return c.is("dir", direction) && c.is("engine", "sm") && c.is("host", "pinned");
    }));
  };
  // The latency of the fit includes the kernel's own overhead, which is subtracted.
  const auto on_link = [&](double latency) { return std::max(0.0, latency - figures.known("kernel_overhead")); };
  for (const char* direction : {"h2d", "d2h"}) {
    const Fit fit = fit_of(runs, direction, "pinned", true);
    if (!fit.fit) continue;
    using model::TransferFit;
    figures.add(fmt::format("kernel_{}_rate", direction), fit.value(&TransferFit::rate),
                fit.interval(&TransferFit::rate), fit.source);
    figures.add("kernel_link_overhead", on_link(fit.value(&TransferFit::latency)),
                changed(fit.interval(&TransferFit::latency), on_link), fit.source);
  }
  figures.add(by_kernel("h2d"), "kernel_h2d_rate", by_median("copy", rate_of));
  figures.add(by_kernel("d2h"), "kernel_d2h_rate", by_median("copy", rate_of));
  if (!figures.has("kernel_h2d_rate") || !figures.has("kernel_d2h_rate")) return;
  // Model of both directions at once: time = longer + shorter * (1 / ratio - 1). This is solved for ratio.
  const double in_rate = figures.known("kernel_h2d_rate");
  const double out_rate = figures.known("kernel_d2h_rate");
  const auto ratio = [=](const Result& r, double seconds) {
    const auto [shorter, longer] = std::minmax({bytes_of(r) / in_rate, bytes_of(r) / out_rate});
    return std::clamp(1 / ((seconds - longer) / shorter + 1), 0.001, 1.0);
  };
  figures.add(by_kernel("bidirectional"), "kernel_duplex_ratio", by_median("copy", ratio));
}

void add_inside(std::span<const NamedReport> runs, Figures& figures) {
  const auto inside = longest(cases_of(runs, "memcpy", [](const Case& c) { return c.is("dir", "d2d"); }));
  const double around = figures.known("copy_overhead") + figures.known("event_cost");
  const auto rate = [around](const Result& r, double seconds) { return bytes_of(r) / std::max(seconds - around, 0.0); };
  figures.add(inside, "d2d_rate", by_median("copy", rate));
}

void add_calls(std::span<const NamedReport> runs, Figures& figures) {
  const auto as_it_is = [](const Result&, double seconds) { return seconds; };
  const auto latency = [&](std::string_view op, const std::function<bool(const Case&)>& wanted) {
    return cases_of(runs, "latency", [&](const Case& c) { return c.is("op", op) && wanted(c); });
  };
  const auto any = [](const Case&) { return true; };
  figures.add(latency("launch", any), "launch_call", by_median(kHostCall, as_it_is));
  figures.add(latency("wait", [](const Case& c) { return c.is("method", "stream") && c.is("schedule", "spin"); }),
              "wake_up", by_median(kLatency, as_it_is));
  const auto short_copies = cases_of(runs, "memcpy", [](const Case& c) {
    return c.is("dir", "h2d") && c.is("host", "pinned") && !c.is("engine", "sm") && c.count_or("size", 0) <= 1 << 20;
  });
  figures.add(longest(short_copies), "copy_call", by_median("copy-submit", as_it_is));
}

}  // namespace xferbench
