// dynpar: kernels that launch kernels. What a child costs that is launched by the host, as a node of a graph, or by
// another kernel; and a recursive sort whose decisions are made on the GPU instead of in round trips to the host.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "model/transfer.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "scenarios/dynpar/children.hpp"
#include "scenarios/dynpar/sort.hpp"

namespace xferbench {

namespace {

constexpr std::array<std::string_view, 4> kLaunchNames{"host", "graph", "fire-and-forget", "tail"};
constexpr const char* kMakespan = "makespan";
constexpr const char* kChildless = "childless";
constexpr const char* kByHost = "by-host";
constexpr std::size_t kKeyBytes = sizeof(std::uint32_t);

bool is_sort(const Case& c) { return c.word("task") == "sort"; }

std::uint64_t count_or(const Case& c, std::string_view axis, std::uint64_t otherwise) {
  return c.has(axis) ? c.count(axis) : otherwise;
}

ChildrenSpec children_of(const Case& c, std::uint64_t seed) {
  const auto launch = std::ranges::find(kLaunchNames, c.word("launch")) - kLaunchNames.begin();
  return {.launch = static_cast<ChildLaunch>(launch),
          .tree = c.word("shape") == "tree",
          .children = static_cast<std::uint32_t>(c.count("children")),
          .levels = static_cast<std::uint32_t>(count_or(c, "depth", 1)),
          .work = static_cast<std::uint32_t>(c.count("work")),
          .launchers = static_cast<unsigned>(count_or(c, "launchers", 1)),
          .streams = count_or(c, "streams", 1),
          .pending = count_or(c, "pending", 0),
          .seed = seed};
}

std::uint32_t keys_of(const Case& c) { return static_cast<std::uint32_t>(c.count("size") / kKeyBytes); }

/// Adds all elapsed times, the first as the one that the case is about. False if there are no samples.
bool add_times(const std::vector<Series>& all, Result& result) {
  for (const Series& s : all) {
    result.measurements.push_back(s.elapsed);
    result.measurements.back().auxiliary = s.elapsed.name != kMakespan;
  }
  return std::ranges::none_of(all, [](const Series& s) { return s.elapsed.samples.empty(); });
}

double median_of(const Result& r, std::string_view measurement) {
  const Measurement* m = r.measurement(measurement);
  return m == nullptr ? 0 : m->median;
}

void add_speedup(Result& result) {
  if (result.measurement(kByHost) == nullptr) return;
  result.add("speedup_over_host", median_of(result, kByHost) / median_of(result, kMakespan), "1");
}

// --- The two tasks ---------------------------------------------------------------------------------------------------

void run_children(const Case& c, const RunContext& bench, Result& result) {
  const ChildrenSpec spec = children_of(c, bench.seed);
  ChildrenRun run(bench.device, spec);
  const Region all = run.all(kMakespan);
  std::vector<Region> regions{all, run.childless(kChildless)};
  if (spec.launch != ChildLaunch::host) regions.push_back(run.by_host(kByHost));
  if (bench.verify) {
    run.verify(all);
    if (spec.launch != ChildLaunch::host) run.verify(regions.back());
  }
  const auto series = bench.sample(regions);
  // Also without verification: a pass with children missing would be a fast one.
  run.check_launches();
  const bool sampled = add_times(series, result);
  if (bench.verify) run.verify(all);
  if (!sampled) return;
  const double children = static_cast<double>(spec.children);
  const double per_child = (median_of(result, kMakespan) - median_of(result, kChildless)) / children;
  result.add("per_child", per_child, "s");
  if (per_child > 0) result.add("children_rate", 1 / per_child, "children/s");
  result.add("host_time", series.front().submit.median, "s");
  add_speedup(result);
  if (const auto room = run.room()) result.add("pending_limit", static_cast<double>(*room), "launches");
}

void run_sort(const Case& c, const RunContext& bench, Result& result) {
  const auto kind = std::ranges::find(kSortKeysNames, c.word("keys")) - kSortKeysNames.begin();
  Sorter sorter(bench.device, keys_of(c), static_cast<SortKeys>(kind), bench.seed);
  const std::vector<Region> regions{sorter.by_device(kMakespan), sorter.by_host(kByHost)};
  if (bench.verify) std::ranges::for_each(regions, [&](const Region& r) { sorter.verify(r); });
  const auto series = bench.sample(regions);
  sorter.check_launches();
  // Of the last pass that was timed: the order of blocks decides on pivots, so passes differ a little.
  const std::size_t round_trips = sorter.round_trips();
  const std::size_t host_launches = sorter.host_launches();
  const bool sampled = add_times(series, result);
  if (bench.verify) std::ranges::for_each(regions, [&](const Region& r) { sorter.verify(r); });
  if (!sampled) return;
  result.add("keys_rate", keys_of(c) / median_of(result, kMakespan), "keys/s");
  add_speedup(result);
  result.add("round_trips", static_cast<double>(round_trips), "round trips");
  result.add("host_launches", static_cast<double>(host_launches), "launches");
}

// --- Findings --------------------------------------------------------------------------------------------------------

std::vector<const Result*> of_task(std::span<const Result* const> results, bool sort) {
  std::vector<const Result*> chosen;
  std::ranges::copy_if(results, std::back_inserter(chosen), [sort](const Result* r) {
    return is_sort(r->config) == sort && r->measurement(kMakespan) != nullptr && median_of(*r, kMakespan) > 0;
  });
  return chosen;
}

/// What tells a path from the others: its labels without those that all paths that have them agree on, as which flags a
/// way of launching has.
std::string name_of(const Path& path, std::span<const Path> all, const Case& any) {
  std::vector<std::string> parts;
  for (const auto& label : path.labels) {
    const bool tells = std::ranges::any_of(all, [&](const Path& other) {
      return std::ranges::any_of(other.labels,
                                 [&](const auto& l) { return l.first == label.first && l.second != label.second; });
    });
    if (tells) parts.push_back(label.first == "launch" ? label.second : label.first + " " + label.second);
  }
  return parts.empty() ? any.word("launch") : fmt::format("{}", fmt::join(parts, ", "));
}

/// A line through the makespans over the number of children, for each way that was run with three numbers or more.
void conclude_costs(std::span<const Result* const> results, std::vector<Finding>& findings) {
  constexpr double kBadFit = 0.1;
  const std::vector<Path> all = paths(results, kMakespan, "children");
  for (const Path& path : all) {
    const auto fit = model::fit_transfer(path.points);
    if (!fit) continue;
    const double slope = 1 / fit->rate;
    const std::string residual = fit->worst_residual <= kBadFit
                                     ? ""
                                     : fmt::format(" (a line is off by up to {})", format_percent(fit->worst_residual));
    findings.push_back(
        {.kind = "per-child",
         .labels = path.labels,
         .metrics = {{"fixed", fit->latency, "s"}, {"slope", slope, "s"}, {"worst_residual", fit->worst_residual, "1"}},
         .text = fmt::format("{}: {} and {} for each child, for {:.0f} to {:.0f} children{}",
                             name_of(path, all, results.front()->config), format_seconds(fit->latency),
                             format_seconds(slope), fit->smallest, fit->largest, residual)});
  }
}

/// What cases must share for their ways of launching to be rivals.
std::string comparison_key(const Case& c) {
  std::string key = c.word("shape");
  for (const char* axis : {"depth", "children", "work"}) key += fmt::format("/{}", count_or(c, axis, 0));
  return key;
}

/// A way with what is not as it usually is: "fire-and-forget (32 launchers)".
std::string way_of(const Case& c) {
  std::vector<std::string> parts;
  for (const char* axis : {"launchers", "streams"}) {
    if (count_or(c, axis, 1) > 1) parts.push_back(fmt::format("{} {}", c.count(axis), axis));
  }
  if (const auto pending = count_or(c, "pending", kernels::kDefaultPendingLaunches);
      pending != kernels::kDefaultPendingLaunches) {
    parts.push_back(fmt::format("room for {}", pending));
  }
  return parts.empty() ? c.word("launch") : fmt::format("{} ({})", c.word("launch"), fmt::join(parts, ", "));
}

std::string how_many(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

/// "256 children in a tree of 4 levels with 100 steps each"
std::string task_of(const Case& c) {
  std::string text = how_many(c.count("children"), "child", "children");
  if (c.has("depth")) text += " in a tree of " + how_many(c.count("depth"), "level", "levels");
  if (c.count("work") > 0) text += fmt::format(" with {} each", how_many(c.count("work"), "step", "steps"));
  return text;
}

/// The best of each way, the first to finish first.
std::vector<const Result*> best_of_each_way(std::span<const Result* const> rivals) {
  const auto makespan = [](const Result* r) { return median_of(*r, kMakespan); };
  std::vector<const Result*> best(rivals.begin(), rivals.end());
  std::ranges::stable_sort(best, {}, makespan);
  std::set<std::string> seen;
  std::erase_if(best, [&](const Result* r) { return !seen.insert(r->config.word("launch")).second; });
  return best;
}

/// Whether the difference is more than noise, as for copies.
bool differ(const Result& a, const Result& b) {
  const auto point = [](const Result& r) {
    const Measurement* m = r.measurement(kMakespan);
    return std::array{model::TransferPoint{.bytes = 1, .seconds = m->median, .seconds_ci = m->ci95}};
  };
  return model::compare(point(a), point(b)).decided > 0;
}

/// Of `ways`, the first to finish first, two at least. Where the first two are alike, neither has won.
Finding winner_of(const std::vector<const Result*>& ways) {
  const Case& c = ways.front()->config;
  const bool won = differ(*ways[0], *ways[1]);
  std::vector<std::string> after;
  for (const Result* r : std::span(ways).subspan(won ? 1 : 0)) {
    after.push_back(fmt::format("{} after {}", way_of(r->config), format_seconds(median_of(*r, kMakespan))));
  }
  Finding finding{.scenario = {}, .kind = won ? "winner" : "alike", .labels = {}, .metrics = {}, .text = {}};
  std::vector<const char*> axes{"shape", "depth", "children", "work"};
  if (won) axes.insert(axes.begin(), {"launch", "launchers", "streams"});
  for (const char* axis : axes) {
    if (const Case::Param* param = c.find(axis)) finding.labels.emplace_back(axis, axis_text(*param));
  }
  finding.metrics = {{kMakespan, median_of(*ways.front(), kMakespan), "s"}};
  finding.text = won ? fmt::format("{}: {} is done first, after {}; {}", task_of(c), way_of(c),
                                   format_seconds(median_of(*ways.front(), kMakespan)), fmt::join(after, ", "))
                     : fmt::format("{}: the first two are alike: {}", task_of(c), fmt::join(after, ", "));
  return finding;
}

/// Who is done first, for each number of children, shape and amount of work.
void conclude_winners(std::span<const Result* const> results, std::vector<Finding>& findings) {
  std::map<std::string, std::vector<const Result*>> groups;
  std::vector<std::string> order;
  for (const Result* r : results) {
    auto& group = groups[comparison_key(r->config)];
    if (group.empty()) order.push_back(comparison_key(r->config));
    group.push_back(r);
  }
  for (const std::string& key : order) {
    const auto ways = best_of_each_way(groups[key]);
    if (ways.size() > 1) findings.push_back(winner_of(ways));
  }
}

void conclude_sorts(std::span<const Result* const> results, std::vector<Finding>& findings) {
  for (const Result* r : results) {
    const Metric* speedup = r->metric("speedup_over_host");
    const Metric* trips = r->metric("round_trips");
    if (speedup == nullptr || trips == nullptr) continue;
    const std::string& keys = r->config.word("keys");
    findings.push_back(
        {.kind = "sort",
         .labels = {{"keys", keys}, {"size", format_size(r->config.count("size"))}},
         .metrics = {*speedup, *trips},
         .text = fmt::format("sorting {} of {} keys takes {} when the GPU launches what comes next, {} with {:.0f} "
                             "round trips to the host: {:.2f} times as fast",
                             format_size(r->config.count("size")), keys, format_seconds(median_of(*r, kMakespan)),
                             format_seconds(median_of(*r, kByHost)), trips->value, speedup->value)});
  }
}

// --- The scenario ----------------------------------------------------------------------------------------------------

class Dynpar final : public Scenario {
 public:
  [[nodiscard]] const ScenarioDescriptor& descriptor() const override {
    static const ScenarioDescriptor scenario{
        .name = "dynpar",
        .summary = "kernels that launch kernels: what a child costs, and a sort without round trips to the host",
        .axes = all_axes(),
        .metrics = make_metrics()};
    return scenario;
  }

  [[nodiscard]] std::optional<SkipReason> skip_reason(const Case& c, const Capabilities* can) const override {
    if (is_sort(c) && c.count("size") % kKeyBytes != 0) {
      return SkipReason::impossible(
          fmt::format("--size {} is not a whole number of keys of {} bytes", c.count("size"), kKeyBytes));
    }
    if (c.has("depth") && c.count("depth") > c.count("children")) {
      return SkipReason::meaningless(fmt::format("{} cannot make a tree of {}; choose a smaller --depth",
                                                 how_many(c.count("children"), "child", "children"),
                                                 how_many(c.count("depth"), "level", "levels")));
    }
    if (can == nullptr || !can->environment.simulated()) return std::nullopt;
    return SkipReason::unavailable("the simulated device does not know what a launch from the device costs");
  }

  [[nodiscard]] MemoryNeeds needs(const Case& c) const override {
    if (!is_sort(c)) {
      const std::uint64_t slots = c.count("children") * kKeyBytes;
      return {.host = slots, .device = slots + (c.has("pending") ? LaunchRoom::bytes(c.count("pending")) : 0)};
    }
    constexpr std::uint64_t kForLists = 32;  // a share of the keys: less than they and the counters take
    const std::uint64_t size = c.count("size");
    const std::uint64_t room = LaunchRoom::bytes(sort_launches(static_cast<std::uint32_t>(size / kKeyBytes)));
    return {.host = 2 * size, .device = 3 * size + size / kForLists + room};
  }

  void run(const Case& c, const RunContext& bench, Result& result) const override {
    is_sort(c) ? run_sort(c, bench, result) : run_children(c, bench, result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    std::vector<Finding> findings;
    const auto children = of_task(results, false);
    conclude_costs(children, findings);
    conclude_winners(children, findings);
    conclude_sorts(of_task(results, true), findings);
    return findings;
  }

 private:
  static std::vector<MetricDeclaration> make_metrics() {
    using enum Better;
    using enum MetricDeclaration::Format;
    using enum MetricDeclaration::Beside;
    return {
        measured(kMakespan, "until all children, or the sort, have ended").as_headline().column("makespan", {interval}),
        derived_time("per_child", "makespan, less that of the same without children, over the number of children")
            .column("per child"),
        derived_time("host_time", "how long submitting keeps the host").column("host busy"),
        derived("speedup_over_host", "1", higher, "how many times as fast as the same driven by the host")
            .column("vs host", ratio),
        derived("round_trips", "round trips", lower, "sort: of the one driven by the host").column("round trips"),
        derived("host_launches", "launches", lower, "sort: kernels that the host launches where it drives the sort")
            .column("host launches"),
        measured(kChildless, "the same without children"),
        measured(kByHost, "the same children, or the same sort, launched by the host"),
        derived("children_rate", "children/s", higher, "the inverse of the time per child"),
        derived("pending_limit", "launches", neither, "launches from the device that may be pending at once"),
        derived("keys_rate", "keys/s", higher, "sort: keys over the makespan"),
    };
  }

  static std::vector<Axis> all_axes() {
    std::vector<Axis> axes{{.name = "task",
                            .kind = AxisKind::choice,
                            .defaults = "all",
                            .help = "children: many small kernels; sort: a recursive quicksort",
                            .choices = {"children", "sort"}}};
    std::ranges::move(children_axes(), std::back_inserter(axes));
    axes.push_back(only_with("task", {"sort"},
                             {.name = "size",
                              .kind = AxisKind::size,
                              .defaults = "4M,64M",
                              .help = "sort: bytes of keys of 4 bytes each",
                              .min = static_cast<double>(kKeyBytes),
                              .max = static_cast<double>(GiB)}));
    axes.push_back(only_with("task", {"sort"},
                             {.name = "keys",
                              .kind = AxisKind::choice,
                              .defaults = "random",
                              .help = "sort: what the keys are like before",
                              .choices = {kSortKeysNames.begin(), kSortKeysNames.end()}}));
    return axes;
  }

  static std::vector<Axis> children_axes() {
    constexpr double kMostChildren = 1 << 20;
    return {
        only_with("task", {"children"},
                  {.name = "launch",
                   .kind = AxisKind::choice,
                   .defaults = "all",
                   .help = "who launches children; tail: a kernel at its end, which in a flat shape makes a chain",
                   .choices = {kLaunchNames.begin(), kLaunchNames.end()}}),
        only_with("task", {"children"},
                  {.name = "shape",
                   .kind = AxisKind::choice,
                   .defaults = "flat",
                   .help = "flat: one kernel launches all; tree: children launch children",
                   .choices = {"flat", "tree"}}),
        only_with("shape", {"tree"},
                  {.name = "depth",
                   .defaults = "4",
                   .help = "levels of a tree; the fan-out follows from --children",
                   .max = kernels::LaunchTree::kMaxLevels}),
        only_with("task", {"children"},
                  {.name = "children",
                   .defaults = "1,16,256,2048",
                   .help = "kernels launched in all, whatever the shape",
                   .max = kMostChildren}),
        only_with("task", {"children"},
                  {.name = "work",
                   .defaults = "0",
                   .help = "dependent steps of arithmetic of each child",
                   .min = 0,
                   .max = 1e9}),
        only_with("launch", {"fire-and-forget"},
                  {.name = "launchers",
                   .defaults = "1,32",
                   .help = "threads of the first kernel that launch at the same time",
                   .max = 1024}),
        only_with("launch", {"host", "graph"},
                  {.name = "streams",
                   .defaults = "1",
                   .help = "streams that children take turns on; of a graph, its branches",
                   .max = 1024}),
        only_with("launch", {"fire-and-forget", "tail"},
                  {.name = "pending",
                   .defaults = std::to_string(kernels::kDefaultPendingLaunches),
                   .help = "launches from the device that may be pending at once",
                   .max = kMostChildren}),
    };
  }
};

}  // namespace

const Scenario& dynpar_scenario() {
  static const Dynpar scenario;
  return scenario;
}

}  // namespace xferbench
