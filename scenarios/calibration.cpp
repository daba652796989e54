#include "scenarios/calibration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
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
  Figures(Calibration& into, const BaseNumber& base) : into_(into), base_(base) {}

  void add(std::string field, double value, std::optional<Interval> interval, std::string source) {
    if (has(field) || !std::isfinite(value)) return;
    if (interval) interval = Interval{std::min(interval->low, value), std::max(interval->high, value)};
    into_.figures.push_back({std::move(field), value, interval, std::move(source)});
  }
  [[nodiscard]] bool has(std::string_view field) const { return find(field) != nullptr; }
  /// What the profile will have: what is found so far, else what the base has.
  [[nodiscard]] double known(std::string_view field) const {
    const Figure* figure = find(field);
    return figure == nullptr ? base_(field) : figure->value;
  }
  [[nodiscard]] std::string source(std::string_view field) const { return find(field)->source; }
  /// Without which no pipeline can be predicted.
  void miss(std::string what) { into_.missing.push_back(std::move(what)); }
  void remark(std::string sentence) { into_.remarks.push_back(std::move(sentence)); }

 private:
  [[nodiscard]] const Figure* find(std::string_view field) const {
    const auto found = std::ranges::find(into_.figures, field, &Figure::field);
    return found == into_.figures.end() ? nullptr : &*found;
  }

  Calibration& into_;
  const BaseNumber& base_;
};

/// All files that results are of, in their order.
std::string files_of(std::span<const Found> found) {
  std::vector<std::string_view> names;
  for (const Found& f : found) {
    if (std::ranges::find(names, f.run->name) == names.end()) names.emplace_back(f.run->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// --- Fits of copies -------------------------------------------------------------------------------------------------

/// Both ends by the same function, which rises or falls throughout.
std::optional<Interval> changed(const std::optional<Interval>& interval, const std::function<double(double)>& by) {
  if (!interval) return std::nullopt;
  const double a = by(interval->low);
  const double b = by(interval->high);
  return Interval{std::min(a, b), std::max(a, b)};
}

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

/// How far a number moves if each time lies at the ends of its interval, or on the line where that is further away, as
/// a line knows no more than what lies on it: medians are independent of each other, so what each of them moves adds up
/// as squares. Nothing where the number was held at 0: how far below that the truth would lie is not to be told.
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

/// A copy's cost by a fit over the sizes of all these results.
struct Fit {
  Points points;
  std::optional<model::TransferFit> fit;
  std::string source;

  [[nodiscard]] double value(Part part) const { return (*fit).*part; }
  [[nodiscard]] std::optional<Interval> interval(Part part) const { return interval_of(points, *fit, part); }
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
    fitted.source = fmt::format("{}: memcpy dir={} host={}{}, fit over {} medians from {} to {}", files_of(copies),
                                direction, memory, by_kernel ? " engine=sm" : "", fitted.points.size(),
                                format_size(static_cast<std::uint64_t>(fitted.fit->smallest)),
                                format_size(static_cast<std::uint64_t>(fitted.fit->largest)));
  }
  return fitted;
}

void add_pinned_copies(std::span<const NamedReport> runs, Figures& figures) {
  const Fit in = fit_of(runs, "h2d", "pinned");
  const Fit out = fit_of(runs, "d2h", "pinned");
  for (const auto& [fit, name] : {std::pair{&in, "h2d"}, std::pair{&out, "d2h"}}) {
    if (!fit->fit) {
      figures.miss(fmt::format("what a {} copy costs: memcpy --dir {} --host pinned --size 1M:1G:x4", name, name));
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
        "what a pass takes beside its copies does not show in these results, as it does in those of memcpy --host "
        "pinned with four sizes, some below 8 MiB and some above");
  }
  // A region is timed from the gate to the event behind its last copy.
  constexpr Part kPass = &model::TransferFit::pass;
  const auto low = in.interval(kPass);
  const auto high = out.interval(kPass);
  const auto mean = [&](double a, double b) { return std::max(0.0, (a + b) / 2 - figures.known("event_cost")); };
  figures.add(
      "gate_to_copy", mean(in.value(kPass), out.value(kPass)),
      low && high ? std::optional(Interval{mean(low->low, high->low), mean(low->high, high->high)}) : std::nullopt,
      in.source + ", and the same of d2h");
}

/// A copy of pageable memory returns when it has ended, so that its time by events has what the host does then: it
/// wakes up and records the event that ends the region.
void add_pageable_copies(std::span<const NamedReport> runs, Figures& figures) {
  constexpr double kCrooked = 0.1;
  const double around = figures.known("wake_up") + figures.known("event_call") + figures.known("event_cost");
  for (const std::string_view name : {"h2d", "d2h"}) {
    const Fit fit = fit_of(runs, name, "pageable");
    if (!fit.fit) continue;
    if (fit.fit->worst_residual > kCrooked) {
      figures.remark(
          fmt::format("{} copies of pageable memory follow no straight line: {:.0f} % off it at worst, and "
                      "predicted no better",
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

// --- Single measurements --------------------------------------------------------------------------------------------

/// A figure from the medians of a measurement, by a function of each: the median of all results that have it. Its
/// interval is that of one, or from the lowest end of all to the highest.
void add_measured(const std::vector<Found>& from, std::string_view measurement, std::string field,
                  const std::function<double(const Result&, double)>& figure, Figures& figures) {
  std::vector<double> values;
  std::optional<Interval> interval;
  std::vector<Found> used;
  for (const Found& f : from) {
    const Measurement* m = f.result->measurement(measurement);
    if (m == nullptr || m->samples.empty()) continue;
    const auto by = [&](double seconds) { return figure(*f.result, seconds); };
    values.push_back(by(m->median));
    used.push_back(f);
    const auto own = changed(m->ci95, by).value_or(Interval{values.back(), values.back()});
    interval = interval ? Interval{std::min(interval->low, own.low), std::max(interval->high, own.high)} : own;
  }
  if (values.empty()) return;
  if (interval->low >= interval->high) interval.reset();
  std::string what(measurement);
  if (used.size() > 1) what += fmt::format(", median of {} in {}", used.size(), files_of(used));
  figures.add(std::move(field), statistics::median(values), interval, used.front().source(what));
}

double bytes_of(const Result& r) { return static_cast<double>(r.config.count("size")); }

/// Those of the largest size that was measured.
std::vector<Found> longest(std::vector<Found> found) {
  const auto size = [](const Found& f) { return f.result->config.count_or("size", 0); };
  if (found.empty()) return found;
  const auto most = std::ranges::max(found, {}, size);
  std::erase_if(found, [&](const Found& f) { return size(f) < size(most); });
  return found;
}

void add_kernels_on_link(std::span<const NamedReport> runs, Figures& figures) {
  const auto by_kernel = [&](std::string_view direction) {
    return longest(cases_of(runs, "memcpy", [&](const Case& c) {
      return c.is("dir", direction) && c.is("engine", "sm") && c.is("host", "pinned");
    }));
  };
  // A fit's latency is all that a kernel takes beside its bytes.
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
  const auto rate = [](const Result& r, double seconds) { return bytes_of(r) / seconds; };
  add_measured(by_kernel("h2d"), "copy", "kernel_h2d_rate", rate, figures);
  add_measured(by_kernel("d2h"), "copy", "kernel_d2h_rate", rate, figures);
  if (!figures.has("kernel_h2d_rate") || !figures.has("kernel_d2h_rate")) return;
  // Both take max + min (1 / ratio - 1).
  const double in_rate = figures.known("kernel_h2d_rate");
  const double out_rate = figures.known("kernel_d2h_rate");
  add_measured(
      by_kernel("bidirectional"), "copy", "kernel_duplex_ratio",
      [=](const Result& r, double seconds) {
        const auto [shorter, longer] = std::minmax({bytes_of(r) / in_rate, bytes_of(r) / out_rate});
        return std::clamp(1 / ((seconds - longer) / shorter + 1), 0.001, 1.0);
      },
      figures);
}

void add_inside(std::span<const NamedReport> runs, Figures& figures) {
  const auto inside = longest(cases_of(runs, "memcpy", [](const Case& c) { return c.is("dir", "d2d"); }));
  const double around = figures.known("copy_overhead") + figures.known("event_cost");
  const auto rate = [around](const Result& r, double seconds) { return bytes_of(r) / std::max(seconds - around, 0.0); };
  add_measured(inside, "copy", "d2d_rate", rate, figures);
}

void add_calls(std::span<const NamedReport> runs, Figures& figures) {
  const auto as_it_is = [](const Result&, double seconds) { return seconds; };
  const auto latency = [&](std::string_view op, const Condition& wanted) {
    return cases_of(runs, "latency", [&](const Case& c) { return c.is("op", op) && wanted(c); });
  };
  const auto any = [](const Case&) { return true; };
  add_measured(latency("launch", any), kHostCall, "launch_call", as_it_is, figures);
  add_measured(latency("wait", [](const Case& c) { return c.is("method", "stream") && c.is("schedule", "spin"); }),
               kLatency, "wake_up", as_it_is, figures);
  const auto short_copies = cases_of(runs, "memcpy", [](const Case& c) {
    return c.is("dir", "h2d") && c.is("host", "pinned") && !c.is("engine", "sm") && c.count_or("size", 0) <= 1 << 20;
  });
  add_measured(longest(short_copies), "copy-submit", "copy_call", as_it_is, figures);
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

/// A number that a result tells, and what of it that is.
struct Told {
  double value = 0;
  std::string what;
};
using Cost = std::function<std::optional<Told>(const Result&)>;

/// The median of what results tell, between the least and the most of it.
void add_cost(const std::vector<Found>& from, std::string field, const Cost& cost, Figures& figures) {
  std::vector<double> values;
  std::vector<Found> used;
  std::string what;
  for (const Found& f : from) {
    const auto told = cost(*f.result);
    if (!told) continue;
    values.push_back(told->value);
    if (used.empty()) what = told->what;
    used.push_back(f);
  }
  if (values.empty()) return;
  const auto [least, most] = std::ranges::minmax(values);
  if (values.size() > 1) what += fmt::format(", median of {} in {}", values.size(), files_of(used));
  figures.add(std::move(field), statistics::median(values),
              least < most ? std::optional(Interval{least, most}) : std::nullopt, used.front().source(what));
}

Cost metric(std::string name) {
  return [name = std::move(name)](const Result& r) -> std::optional<Told> {
    const Metric* found = r.metric(name);
    return found == nullptr ? std::nullopt : std::optional(Told{found->value, name});
  };
}

/// What the other direction does to a copy: overlap leaves it out where that is nothing.
Cost factor(const std::string& direction, std::string_view of) {
  return [there = metric(direction + "_per_operation"),
          own = metric(fmt::format("{}_duplex_{}", direction, of))](const Result& r) -> std::optional<Told> {
    const auto cost = there(r);
    if (!cost) return std::nullopt;
    return own(r).value_or(Told{1, cost->what + " with no factor beside it"});
  };
}

/// Results from before the three hand-overs were told apart have their mean alone.
Cost handover(std::string name) {
  return [own = metric(std::move(name)), mean = metric("hand_over")](const Result& r) {
    const auto told = own(r);
    return told ? told : mean(r);
  };
}

/// Results of one run that do the same work share one measurement of what operations cost.
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

/// The kernel's work without what a launch takes, in seconds.
std::optional<double> seconds_of_work(const Result& r) {
  const Metric* overhead = r.metric("kernel_per_operation");
  if (overhead == nullptr || r.metric("work") == nullptr || !r.config.is("kernel", "fma")) return std::nullopt;
  return r.median("kernel") - overhead->value;
}

/// Bytes of traffic in each second of it, where there is so little work that only the memory can be what it waits for.
std::optional<Told> traffic_rate(const Result& r) {
  const auto seconds = seconds_of_work(r);
  if (!seconds || r.value("work") > 2) return std::nullopt;
  return Told{2 * bytes_of(r) / *seconds, "kernel"};
}

/// Arithmetic operations in each second of it, where that takes clearly longer than memory of that rate.
std::optional<Told> arithmetic_rate(const Result& r, double memory_rate) {
  constexpr double kClearly = 1.3;
  const auto seconds = seconds_of_work(r);
  if (!seconds || *seconds * memory_rate < kClearly * 2 * bytes_of(r)) return std::nullopt;
  return Told{bytes_of(r) / sizeof(float) * r.value("work") / *seconds, "kernel, work"};
}

/// With much more work than it takes, a kernel waits less for its operands: what pipelines have is rather the least.
std::vector<Found> with_least_work(std::vector<Found> found) {
  constexpr double kAlike = 2;
  if (found.empty()) return found;
  const auto work = [](const Found& f) { return f.result->value("work"); };
  const double least = work(std::ranges::min(found, {}, work));
  std::erase_if(found, [&](const Found& f) { return work(f) > kAlike * least; });
  return found;
}

void add_kernels(const std::vector<Found>& from, Figures& figures) {
  add_cost(from, "kernel_traffic_rate", traffic_rate, figures);
  const double specified = from.empty() ? 0 : from.front().run->report.environment.gpu.memory_bandwidth;
  const double memory_rate = figures.has("kernel_traffic_rate") ? figures.known("kernel_traffic_rate") : specified;
  std::vector<Found> arithmetic = from;
  std::erase_if(arithmetic, [&](const Found& f) { return !arithmetic_rate(*f.result, memory_rate); });
  add_cost(
      with_least_work(arithmetic), "fma_rate", [=](const Result& r) { return arithmetic_rate(r, memory_rate); },
      figures);
  if (!figures.has("fma_rate") && !from.empty()) {
    figures.remark(
        "how fast the kernel computes does not show, as its work takes no longer than its memory: overlap --size 64M "
        "--work 1024");
  }
}

void add_pipelines(std::span<const NamedReport> runs, Figures& figures) {
  const std::vector<Found> all = pipelines(runs);
  const std::vector<Found> from = each_measured_once(all);
  for (const char* direction : {"h2d", "d2h"}) {
    const std::string name = direction;
    // A copy's own cost is better known from the pieces of a pipeline than from copies of all sizes.
    add_cost(from, name + "_overhead", metric(name + "_per_operation"), figures);
    add_cost(from, name + "_duplex_rate", factor(name, "rate"), figures);
    add_cost(from, name + "_duplex_overhead", factor(name, "overhead"), figures);
  }
  add_cost(from, "stream_switch", metric("stream_switch"), figures);
  add_cost(from, "kernel_overhead", metric("kernel_per_operation"), figures);
  add_cost(from, "copy_to_kernel", handover("hand_over_at_kernel"), figures);
  add_cost(from, "kernel_to_copy", handover("hand_over_at_kernel"), figures);
  add_cost(from, "copy_to_copy", handover("hand_over_between_copies"), figures);
  add_cost(
      from, "order_cost",
      [](const Result& r) -> std::optional<Told> {
        if (r.metric("hand_over") == nullptr || r.metric("event_hand_over") == nullptr) return std::nullopt;
        return Told{std::max(0.0, r.value("event_hand_over") - r.value("hand_over")), "event_hand_over - hand_over"};
      },
      figures);
  add_kernels(all, figures);
  if (!figures.has("h2d_duplex_rate") || !figures.has("copy_to_kernel")) {
    figures.miss("what operations of a pipeline cost: overlap --strategy engines --size 64M");
  }
}

/// A GPU that moves more than the base's host memory gives shows that this machine's gives more.
void add_host_memory(Figures& figures) {
  struct Share {
    const char* memory;
    const char* rate;
    const char* of_rate;  ///< that is left beside the other direction
  };
  for (const auto& [memory, rate, of_rate] : {Share{"socket_memory.in", "h2d_rate", nullptr},
                                              {"socket_memory.out", "d2h_rate", nullptr},
                                              {"socket_memory.duplex_in", "h2d_rate", "h2d_duplex_rate"},
                                              {"socket_memory.duplex_out", "d2h_rate", "d2h_duplex_rate"}}) {
    if (!figures.has(rate)) continue;
    const double moved = figures.known(rate) * (of_rate == nullptr ? 1 : figures.known(of_rate));
    if (moved > figures.known(memory)) figures.add(memory, moved, std::nullopt, "no less than " + figures.source(rate));
  }
}

// --- The machine itself ---------------------------------------------------------------------------------------------

void add_environment(const NamedReport& run, Figures& figures) {
  const Environment::Gpu& gpu = run.report.environment.gpu;
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

Calibration calibrate(std::span<const NamedReport> runs, const BaseNumber& base, bool simulated_too) {
  require_one_machine(runs, simulated_too);
  Calibration calibration{.gpu = runs.front().report.environment.gpu.name};
  calibration.simulated =
      std::ranges::any_of(runs, [](const NamedReport& r) { return r.report.environment.simulated(); });
  Figures figures(calibration, base);
  // What follows takes out of its times what is known by then.
  add_pipelines(runs, figures);
  add_pinned_copies(runs, figures);
  add_calls(runs, figures);
  add_pageable_copies(runs, figures);
  add_kernels_on_link(runs, figures);
  add_inside(runs, figures);
  add_host_memory(figures);
  add_environment(runs.front(), figures);
  return calibration;
}

}  // namespace xferbench
