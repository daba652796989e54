#include "scenarios/calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/metric_names.hpp"
#include "core/units.hpp"
#include "measure/statistics.hpp"
#include "model/transfer.hpp"

namespace xferbench {

namespace {

/// A result and the run that it is of.
struct Found {
  const NamedReport* run = nullptr;
  const Result* result = nullptr;

  [[nodiscard]] std::string source(std::string_view what) const {
    return fmt::format("{}: {} {}", run->name, result->config.key(), what);
  }
};

using Condition = std::function<bool(const Case&)>;

/// What runs have of one scenario.
std::vector<Found> cases_of(std::span<const NamedReport> runs, std::string_view scenario, const Condition& wanted) {
  std::vector<Found> found;
  for (const NamedReport& run : runs) {
    for (const Result& r : run.report.results) {
      const bool measured = r.status == Status::ok && r.config.scenario() == scenario && r.gpus.size() < 2;
      if (measured && wanted(r.config)) found.push_back({&run, &r});
    }
  }
  return found;
}

/// Collects figures, each once: what is added first stays.
class Figures {
 public:
  explicit Figures(Calibration& into) : into_(into) {}

  void add(std::string field, double value, std::optional<Interval> interval, std::string source) {
    if (has(field) || !std::isfinite(value)) return;
    if (interval) interval = Interval{std::min(interval->low, value), std::max(interval->high, value)};
    into_.figures.push_back({std::move(field), value, interval, std::move(source)});
  }
  [[nodiscard]] bool has(std::string_view field) const {
    return std::ranges::find(into_.figures, field, &Figure::field) != into_.figures.end();
  }

 private:
  Calibration& into_;
};

// --- Fits of copies -------------------------------------------------------------------------------------------------

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

/// How far a number moves if each time lies at the ends of its interval: medians are independent of each other, so what
/// each of them moves adds up as squares.
std::optional<Interval> interval_of(const Points& points, Part part) {
  const double middle = model::fit_transfer(points).value().*part;
  double down = 0;
  double up = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].seconds_ci) return std::nullopt;
    double lowest = middle;
    double highest = middle;
    for (const double end : {points[i].seconds_ci->low, points[i].seconds_ci->high}) {
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

/// A copy's cost by a fit over the sizes of all these results.
struct Fit {
  Points points;
  std::optional<model::TransferFit> fit;
  std::string source;

  [[nodiscard]] double value(Part part) const { return (*fit).*part; }
  [[nodiscard]] std::optional<Interval> interval(Part part) const { return interval_of(points, part); }
};

/// Of copies from 1 MiB on: shorter ones are no straight line any more, as drivers have other ways for them.
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
    fitted.source =
        fmt::format("{}: memcpy dir={} host={}, fit over {} sizes from {} to {}", copies.front().run->name, direction,
                    memory, fitted.points.size(), format_size(static_cast<std::uint64_t>(fitted.fit->smallest)),
                    format_size(static_cast<std::uint64_t>(fitted.fit->largest)));
  }
  return fitted;
}

void add_pinned_copies(std::span<const NamedReport> runs, const KnownOfProfile& known, Calibration& calibration) {
  Figures figures(calibration);
  const Fit in = fit_of(runs, "h2d", "pinned");
  const Fit out = fit_of(runs, "d2h", "pinned");
  for (const auto& [fit, name] : {std::pair{&in, "h2d"}, std::pair{&out, "d2h"}}) {
    if (!fit->fit) {
      calibration.missing.push_back(
          fmt::format("what a {} copy costs: memcpy --dir {} --host pinned --size 1M:1G:x4", name, name));
      continue;
    }
    using model::TransferFit;
    figures.add(fmt::format("{}_rate", name), fit->value(&TransferFit::rate), fit->interval(&TransferFit::rate),
                fit->source);
    figures.add(fmt::format("{}_overhead", name), fit->value(&TransferFit::latency),
                fit->interval(&TransferFit::latency), fit->source);
  }
  if (!in.fit || !out.fit || in.fit->pass <= 0 || out.fit->pass <= 0) return;
  // A region is timed from the gate to the event behind its last copy.
  constexpr Part kPass = &model::TransferFit::pass;
  const auto low = in.interval(kPass);
  const auto high = out.interval(kPass);
  const auto mean = [&](double a, double b) { return std::max(0.0, (a + b) / 2 - known.event_cost); };
  figures.add(
      "gate_to_copy", mean(in.value(kPass), out.value(kPass)),
      low && high ? std::optional(Interval{mean(low->low, high->low), mean(low->high, high->high)}) : std::nullopt,
      in.source + ", and the same of d2h");
}

void add_pageable_copies(std::span<const NamedReport> runs, Calibration& calibration) {
  Figures figures(calibration);
  for (const std::string_view name : {"h2d", "d2h"}) {
    const Fit fit = fit_of(runs, name, "pageable");
    if (!fit.fit) continue;
    using model::TransferFit;
    figures.add(fmt::format("pageable_{}_rate", name), fit.value(&TransferFit::rate), fit.interval(&TransferFit::rate),
                fit.source);
    figures.add("pageable_overhead", fit.value(&TransferFit::latency), fit.interval(&TransferFit::latency), fit.source);
  }
}

// --- Single measurements --------------------------------------------------------------------------------------------

/// A figure from the median of one measurement, by a function of it; its interval by the same function.
void add_measured(const std::vector<Found>& from, std::string_view measurement, std::string field,
                  const std::function<double(const Result&, double)>& figure, Calibration& calibration) {
  if (from.empty()) return;
  const Found& last = from.back();
  const Measurement* m = last.result->measurement(measurement);
  if (m == nullptr || m->samples.empty()) return;
  std::optional<Interval> interval;
  if (m->ci95) {
    const double a = figure(*last.result, m->ci95->low);
    const double b = figure(*last.result, m->ci95->high);
    interval = Interval{std::min(a, b), std::max(a, b)};
  }
  Figures(calibration).add(std::move(field), figure(*last.result, m->median), interval, last.source(measurement));
}

double bytes_of(const Result& r) { return static_cast<double>(r.config.count("size")); }

/// By the longest of the sizes that were measured.
std::vector<Found> longest(std::vector<Found> found) {
  std::ranges::stable_sort(found, {}, [](const Found& f) { return f.result->config.count_or("size", 0); });
  return found;
}

void add_kernels_on_link(std::span<const NamedReport> runs, const KnownOfProfile& known, Calibration& calibration) {
  const auto by_kernel = [&](std::string_view direction) {
    return longest(cases_of(runs, "memcpy", [&](const Case& c) {
      return c.is("dir", direction) && c.is("engine", "sm") && c.is("host", "pinned");
    }));
  };
  for (const char* direction : {"h2d", "d2h"}) {
    const Fit fit = fit_of(runs, direction, "pinned", true);
    if (!fit.fit) continue;
    using model::TransferFit;
    Figures(calibration)
        .add(fmt::format("kernel_{}_rate", direction), fit.value(&TransferFit::rate), fit.interval(&TransferFit::rate),
             fit.source + ", by kernels");
    // A fit's latency is all that a kernel takes beside its bytes.
    const auto on_link = [&known](double latency) { return std::max(0.0, latency - known.kernel_overhead); };
    auto interval = fit.interval(&TransferFit::latency);
    if (interval) interval = Interval{on_link(interval->low), on_link(interval->high)};
    Figures(calibration)
        .add("kernel_link_overhead", on_link(fit.value(&TransferFit::latency)), interval, fit.source + ", by kernels");
  }
  const auto rate = [](const Result& r, double seconds) { return bytes_of(r) / seconds; };
  add_measured(by_kernel("h2d"), "copy", "kernel_h2d_rate", rate, calibration);
  add_measured(by_kernel("d2h"), "copy", "kernel_d2h_rate", rate, calibration);
  const auto figure = [&](std::string_view name) {
    return std::ranges::find(calibration.figures, name, &Figure::field);
  };
  const auto in = figure("kernel_h2d_rate");
  const auto out = figure("kernel_d2h_rate");
  if (in == calibration.figures.end() || out == calibration.figures.end()) return;
  const double in_rate = in->value;
  const double out_rate = out->value;
  // Both take max + min (1 / ratio - 1).
  add_measured(
      by_kernel("bidirectional"), "copy", "kernel_duplex_ratio",
      [=](const Result& r, double seconds) {
        const auto [shorter, longer] = std::minmax({bytes_of(r) / in_rate, bytes_of(r) / out_rate});
        return std::clamp(1 / ((seconds - longer) / shorter + 1), 0.001, 1.0);
      },
      calibration);
}

void add_inside(std::span<const NamedReport> runs, Calibration& calibration) {
  const auto inside = longest(cases_of(runs, "memcpy", [](const Case& c) { return c.is("dir", "d2d"); }));
  add_measured(
      inside, "copy", "d2d_rate", [](const Result& r, double t) { return bytes_of(r) / t; }, calibration);
}

void add_calls(std::span<const NamedReport> runs, Calibration& calibration) {
  const auto as_it_is = [](const Result&, double seconds) { return seconds; };
  const auto latency = [&](std::string_view op, const Condition& wanted) {
    return cases_of(runs, "latency", [&](const Case& c) { return c.is("op", op) && wanted(c); });
  };
  const auto any = [](const Case&) { return true; };
  add_measured(latency("launch", any), kHostCall, "launch_call", as_it_is, calibration);
  add_measured(latency("wait", [](const Case& c) { return c.is("method", "stream") && c.is("schedule", "spin"); }),
               kLatency, "wake_up", as_it_is, calibration);
  const auto short_copies = cases_of(runs, "memcpy", [](const Case& c) {
    return c.is("dir", "h2d") && c.is("host", "pinned") && !c.is("engine", "sm") && c.count_or("size", 0) <= 1 << 20;
  });
  add_measured(short_copies, "copy-submit", "copy_call", as_it_is, calibration);
}

// --- What operations of pipelines cost ------------------------------------------------------------------------------

/// Pipelines whose payload is so large that noise is small beside what its pieces cost, and so small that it is quick.
std::vector<Found> pipelines(std::span<const NamedReport> runs) {
  constexpr std::uint64_t kSize = 64 << 20;
  auto found = cases_of(runs, "overlap", [](const Case& c) { return c.count_or("size", 0) == kSize; });
  if (found.empty())
    found = cases_of(runs, "overlap", [](const Case& c) { return c.count_or("size", 0) >= kSize / 4; });
  return found;
}

using Cost = std::function<std::optional<double>(const Result&)>;

/// The median of the different values that results have, between the least and the most of them. Results of one run
/// that do the same work share one measurement of their costs.
void add_cost(const std::vector<Found>& from, std::string field, std::string_view what, const Cost& cost,
              Calibration& calibration) {
  std::vector<double> values;
  const Found* first = nullptr;
  for (const Found& f : from) {
    const auto value = cost(*f.result);
    if (!value || std::ranges::find(values, *value) != values.end()) continue;
    values.push_back(*value);
    if (first == nullptr) first = &f;
  }
  if (values.empty()) return;
  const auto [least, most] = std::ranges::minmax(values);
  const std::string of = values.size() > 1 ? fmt::format("{}, median of {}", what, values.size()) : std::string(what);
  Figures(calibration)
      .add(std::move(field), statistics::median(values),
           values.size() > 1 ? std::optional(Interval{least, most}) : std::nullopt, first->source(of));
}

Cost metric(std::string name) {
  return [name = std::move(name)](const Result& r) {
    const Metric* found = r.metric(name);
    return found == nullptr ? std::nullopt : std::optional(found->value);
  };
}

/// Results from before the three hand-overs were told apart have their mean alone.
Cost handover(std::string name) {
  return [own = metric(std::move(name)), mean = metric("hand_over")](const Result& r) {
    const auto value = own(r);
    return value ? value : mean(r);
  };
}

/// Floating-point operations, or bytes of traffic, in each second of the kernel's work. A kernel is as long as the
/// slower of the two: little work shows the memory, and much the arithmetic.
Cost kernel_rate(bool arithmetic) {
  return [=](const Result& r) -> std::optional<double> {
    constexpr double kMuch = 32;
    const Metric* work = r.metric("work");
    const Metric* overhead = r.metric("kernel_per_operation");
    if (work == nullptr || overhead == nullptr || !r.config.is("kernel", "fma")) return std::nullopt;
    if (arithmetic ? work->value < kMuch : work->value > 2) return std::nullopt;
    const double seconds = r.median("kernel") - overhead->value;
    const double elements = bytes_of(r) / sizeof(float);
    return (arithmetic ? elements * work->value : 2 * bytes_of(r)) / seconds;
  };
}

void add_pipelines(std::span<const NamedReport> runs, Calibration& calibration) {
  const std::vector<Found> from = pipelines(runs);
  const auto add = [&](const char* field, const char* what, const Cost& cost) {
    add_cost(from, field, what, cost, calibration);
  };
  for (const char* name :
       {"h2d_duplex_rate", "d2h_duplex_rate", "h2d_duplex_overhead", "d2h_duplex_overhead", "stream_switch"}) {
    add(name, name, metric(name));
  }
  add("kernel_overhead", "kernel_per_operation", metric("kernel_per_operation"));
  for (const char* field : {"copy_to_kernel", "kernel_to_copy"}) {
    add(field, "hand_over_at_kernel", handover("hand_over_at_kernel"));
  }
  add("copy_to_copy", "hand_over_between_copies", handover("hand_over_between_copies"));
  add("order_cost", "event_hand_over - hand_over", [](const Result& r) -> std::optional<double> {
    if (r.metric("hand_over") == nullptr || r.metric("event_hand_over") == nullptr) return std::nullopt;
    return std::max(0.0, r.value("event_hand_over") - r.value("hand_over"));
  });
  add("fma_rate", "kernel, work", kernel_rate(true));
  add("kernel_traffic_rate", "kernel", kernel_rate(false));
  const auto has = [&](std::string_view field) { return Figures(calibration).has(field); };
  if (!has("h2d_duplex_rate") || !has("copy_to_kernel")) {
    calibration.missing.emplace_back("what operations of a pipeline cost: overlap --strategy engines --size 64M");
  }
}

// --- The machine itself ---------------------------------------------------------------------------------------------

void add_environment(const NamedReport& run, Calibration& calibration) {
  const Environment::Gpu& gpu = run.report.environment.gpu;
  Figures figures(calibration);
  const auto add = [&](const char* field, double value) {
    if (value > 0) figures.add(field, value, std::nullopt, run.name + ": environment");
  };
  add("multiprocessors", gpu.multiprocessors);
  add("memory_bytes", static_cast<double>(gpu.memory_bytes));
  add("sm_clock_hz", gpu.max_sm_clock_hz);
  add("memory_bandwidth", gpu.memory_bandwidth);
  // The simulated device knows one or two; a third does what the second does.
  add("copy_engines", std::min(2U, gpu.copy_engines));
  if (!gpu.pcie) return;
  add("pcie_generation", gpu.pcie->generation);
  add("pcie_width", gpu.pcie->width);
}

void require_one_machine(std::span<const NamedReport> runs, bool simulated_too) {
  for (const NamedReport& run : runs) {
    const Environment& e = run.report.environment;
    if (e.simulated() && !simulated_too) {
      throw UsageError(
          fmt::format("{} was simulated, and a profile of it would say nothing of any machine; "
                      "--allow-simulated takes it all the same",
                      run.name));
    }
    if (e.gpu.name != runs.front().report.environment.gpu.name) {
      throw UsageError(fmt::format("{} is of {}, and {} of {}: a profile is of one kind of GPU", runs.front().name,
                                   runs.front().report.environment.gpu.name, run.name, e.gpu.name));
    }
  }
}

}  // namespace

Calibration calibrate(std::span<const NamedReport> runs, const KnownOfProfile& known, bool simulated_too) {
  require_one_machine(runs, simulated_too);
  Calibration calibration{.gpu = runs.front().report.environment.gpu.name};
  calibration.simulated =
      std::ranges::any_of(runs, [](const NamedReport& r) { return r.report.environment.simulated(); });
  // Of a pipeline's pieces a copy's own cost is better known than from copies of all sizes.
  for (const auto& [field, name] :
       {std::pair{"h2d_overhead", "h2d_per_operation"}, {"d2h_overhead", "d2h_per_operation"}}) {
    add_cost(pipelines(runs), field, name, metric(name), calibration);
  }
  add_pinned_copies(runs, known, calibration);
  add_pageable_copies(runs, calibration);
  add_kernels_on_link(runs, known, calibration);
  add_inside(runs, calibration);
  add_calls(runs, calibration);
  add_pipelines(runs, calibration);
  add_environment(runs.front(), calibration);
  return calibration;
}

}  // namespace xferbench
