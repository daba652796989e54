// dynpar: kernels that launch kernels (CUDA Dynamic Parallelism). Measures the cost of a child kernel launched by the
// host, by a graph or by another kernel. Also measures a recursive sort whose decisions are made on the GPU instead of
// in round trips to the host.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "core/units.hpp"
#include "model/transfer.hpp"
#include "run/finding_text.hpp"
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

/// The parsed axes of a case.
struct DynparCase {
  bool sort = false;
  ChildrenSpec children{};  ///< unused if `sort`
  std::uint64_t bytes = 0;  ///< bytes of keys to sort
  SortKeys keys = SortKeys::random;

  [[nodiscard]] std::uint32_t key_count() const { return static_cast<std::uint32_t>(bytes / kKeyBytes); }
};

DynparCase dynpar_case(const Case& c) {
  if (c.word("task") == "sort") {
    return {.sort = true, .bytes = c.count("size"), .keys = c.one_of<SortKeys>("keys", kSortKeysNames)};
  }
  const auto number = [&c](const char* axis) { return static_cast<std::uint32_t>(c.count_or(axis, 1)); };
  return {.children = {.launch = c.one_of<ChildLaunch>("launch", kLaunchNames),
                       .tree = c.word("shape") == "tree",
                       .children = number("children"),
                       .levels = number("depth"),
                       .work = number("work"),
                       .launchers = number("launchers"),
                       .streams = number("streams"),
                       .pending = c.count_or("pending", 0)}};
}

void add_speedup(Result& result) {
  if (result.measurement(kByHost) == nullptr) return;
  result.add("speedup_over_host", result.median(kByHost) / result.median(kMakespan), "1");
}

// --- The two tasks ---------------------------------------------------------------------------------------------------

void run_children(ChildrenSpec spec, const RunContext& bench, Result& result) {
  spec.seed = bench.seed;
  ChildrenRun run(bench.device, spec);
  const Region all = run.all(kMakespan);
  std::vector<Region> regions{all, run.childless(kChildless)};
  if (spec.launch != ChildLaunch::host) regions.push_back(run.by_host(kByHost));
  if (bench.verify) {
    run.verify(all);
    if (spec.launch != ChildLaunch::host) run.verify(regions.back());
  }
  const auto series = bench.sample(regions);
  // Failed launches are checked even without --verify, because a pass with missing children would look fast.
  run.check_launches();
  add_measurements(series, result);
  if (bench.verifies_again()) run.verify(all);
  if (!all_sampled(series)) return;
  const double children = static_cast<double>(spec.children);
  const double per_child = (result.median(kMakespan) - result.median(kChildless)) / children;
  result.add("per_child", per_child, "s");
  if (per_child > 0) result.add("children_rate", 1 / per_child, "children/s");
  result.add("host_time", series.front().submit.median, "s");
  add_speedup(result);
  if (const auto room = run.room()) result.add("pending_limit", static_cast<double>(*room), "launches");
}

void run_sort(const DynparCase& c, const RunContext& bench, Result& result) {
  Sorter sorter(bench.device, c.key_count(), c.keys, bench.seed);
  const std::vector<Region> regions{sorter.by_device(kMakespan), sorter.by_host(kByHost)};
  if (bench.verify) std::ranges::for_each(regions, [&](const Region& r) { sorter.verify(r); });
  const auto series = bench.sample(regions);
  sorter.check_launches();
  // The counts are taken from the last timed pass. They vary a little, because pivots depend on the order of blocks.
  const std::size_t round_trips = sorter.round_trips();
  const std::size_t host_launches = sorter.host_launches();
  add_measurements(series, result);
  if (bench.verifies_again()) std::ranges::for_each(regions, [&](const Region& r) { sorter.verify(r); });
  if (!all_sampled(series)) return;
  result.add("keys_rate", c.key_count() / result.median(kMakespan), "keys/s");
  add_speedup(result);
  result.add("round_trips", static_cast<double>(round_trips), "round trips");
  result.add("host_launches", static_cast<double>(host_launches), "launches");
}

// --- Findings --------------------------------------------------------------------------------------------------------

std::vector<const Result*> of_task(std::span<const Result* const> results, bool sort) {
  return those_of(results,
                  [sort](const Result* r) { return dynpar_case(r->config).sort == sort && r->median(kMakespan) > 0; });
}

ChildrenSpec children_of(const Result& r) { return dynpar_case(r.config).children; }

std::string_view name_of(ChildLaunch launch) { return kLaunchNames[static_cast<std::size_t>(launch)]; }

/// Returns a short name for a path (a way to launch): the labels that differ between paths; if none, the name of `any`.
std::string name_of(const Path& path, std::span<const Path> all, ChildLaunch any) {
  std::vector<std::string> parts;
  for (const auto& label : path.labels) {
    const bool tells = std::ranges::any_of(all, [&](const Path& other) {
      return std::ranges::any_of(other.labels,
                                 [&](const auto& l) { return l.first == label.first && l.second != label.second; });
    });
    if (tells) parts.push_back(label.first == "launch" ? label.second : label.first + " " + label.second);
  }
  return parts.empty() ? std::string(name_of(any)) : fmt::format("{}", fmt::join(parts, ", "));
}

/// Adds a linear fit of makespan over number of children for each way to launch with at least three such numbers.
void conclude_costs(std::span<const Result* const> results, std::vector<Finding>& findings) {
  constexpr double kBadFit = 0.1;
  const std::vector<Path> all = paths(results, kMakespan, "children");
  for (const Path& path : all) {
    const auto fit = model::fit_transfer(path.points);
    if (!fit) continue;
    const double slope = 1 / fit->rate;
    const std::string residual = fit->worst_residual <= kBadFit ? ""
                                                                : fmt::format(" (a linear fit is off by up to {})",
                                                                              format_percent(fit->worst_residual));
    findings.push_back(
        {.kind = "per-child",
         .labels = path.labels,
         .metrics = {{"fixed", fit->latency, "s"}, {"slope", slope, "s"}, {"worst_residual", fit->worst_residual, "1"}},
         .text = fmt::format("{}: {} fixed and {} per child, for {:.0f} to {:.0f} children{}",
                             name_of(path, all, children_of(*results.front()).launch), format_seconds(fit->latency),
                             format_seconds(slope), fit->smallest, fit->largest, residual)});
  }
}

/// Returns the key of a result: only results with equal keys are compared with each other.
std::string comparison_key(const Result& r) {
  const ChildrenSpec c = children_of(r);
  return fmt::format("{}/{}/{}/{}", c.tree, c.levels, c.children, c.work);
}

/// Returns the way to launch and its settings other than the default, for example "fire-and-forget (32 launchers)".
std::string way_of(const ChildrenSpec& c) {
  std::vector<std::string> parts;
  if (c.launchers > 1) parts.push_back(fmt::format("{} launchers", c.launchers));
  if (c.streams > 1) parts.push_back(fmt::format("{} streams", c.streams));
  if (c.pending != 0 && c.pending != kernels::kDefaultPendingLaunches) {
    parts.push_back(fmt::format("at most {} pending", c.pending));
  }
  const std::string_view name = name_of(c.launch);
  return parts.empty() ? std::string(name) : fmt::format("{} ({})", name, fmt::join(parts, ", "));
}

/// Returns for example "256 children in a tree of 4 levels with 100 steps each".
std::string task_of(const ChildrenSpec& c) {
  std::string text = counted(c.children, "child", "children");
  if (c.tree) text += " in a tree of " + counted(c.levels, "level");
  if (c.work > 0) text += fmt::format(" with {} each", counted(c.work, "step"));
  return text;
}

/// Returns the fastest result of each way to launch, sorted by makespan.
std::vector<const Result*> best_of_each_way(std::vector<const Result*> best) {
  std::ranges::stable_sort(best, {}, [](const Result* r) { return r->median(kMakespan); });
  std::set<ChildLaunch> seen;
  std::erase_if(best, [&](const Result* r) { return !seen.insert(children_of(*r).launch).second; });
  return best;
}

/// Names the fastest of `ways`, at least two results sorted by makespan. If confidence intervals overlap, there is no
/// winner.
Finding winner_of(const std::vector<const Result*>& ways) {
  std::vector<model::Estimate> times;
  std::vector<std::string> names;
  std::vector<std::string> after;
  for (const Result* r : ways) {
    times.push_back(model::estimate_of(*r, kMakespan));
    names.push_back(way_of(children_of(*r)));
    after.push_back(fmt::format("{} takes {}", names.back(), format_seconds(times.back().value)));
  }
  const model::Leaders front = model::leaders_of(times);
  const bool won = front.decided();
  const Result& first = *ways.front();
  std::vector<std::string> axes{"shape", "depth", "children", "work"};
  if (won) axes.insert(axes.begin(), {"launch", "launchers", "streams"});
  Finding f{.kind = won ? "winner" : (front.equal ? "alike" : "undecided"),
            .labels = labels_of(first.config, axes),
            .metrics = {{kMakespan, first.median(kMakespan), "s"}}};
  f.text = fmt::format("{}: {}", task_of(children_of(first)), ranking_text(front, names, "is the fastest"));
  f.text += won ? fmt::format(", in {}; {}", format_seconds(times.front().value),
                              fmt::join(std::span(after).subspan(1), ", "))
                : fmt::format(": {}", fmt::join(after, ", "));
  return f;
}

void conclude_sorts(std::span<const Result* const> results, std::vector<Finding>& findings) {
  for (const Result* r : results) {
    const Metric* speedup = r->metric("speedup_over_host");
    const Metric* trips = r->metric("round_trips");
    if (speedup == nullptr || trips == nullptr) continue;
    const DynparCase c = dynpar_case(r->config);
    const std::string_view keys = kSortKeysNames[static_cast<std::size_t>(c.keys)];
    const std::string trips_text = fmt::format("{:.0f} round trip{}", trips->value, trips->value == 1 ? "" : "s");
    const std::string beside = ratio_text(model::estimate_of(*r, kMakespan), model::estimate_of(*r, kByHost));
    findings.push_back(
        {.kind = "sort",
         .labels = {{"keys", std::string(keys)}, {"size", format_size(c.bytes)}, {"beside_host", beside}},
         .metrics = {*speedup, *trips},
         .text = fmt::format("sorting {} of {} keys takes {} with launches from the device, {} with {} to the host: {}",
                             format_size(c.bytes), keys, format_seconds(r->median(kMakespan)),
                             format_seconds(r->median(kByHost)), trips_text, beside)});
  }
}

// --- The scenario ----------------------------------------------------------------------------------------------------

class Dynpar final : public ScenarioOf<dynpar_case> {
 public:
  using ScenarioOf::ScenarioOf;

  [[nodiscard]] DataPath data_path(const Case&) const override { return DataPath::gpu; }

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const DynparCase& c, const Capabilities* can) const override {
    if (c.bytes % kKeyBytes != 0) {
      return SkipReason::impossible(
          fmt::format("--size {} is not a multiple of the key size of {} bytes", c.bytes, kKeyBytes));
    }
    if (c.children.levels > c.children.children) {
      return SkipReason::meaningless(fmt::format("{} cannot make a tree of {}; choose a smaller --depth",
                                                 counted(c.children.children, "child", "children"),
                                                 counted(c.children.levels, "level")));
    }
    if (can == nullptr || !can->environment.simulated()) return std::nullopt;
    return SkipReason::unavailable("the simulator does not model launches from the device");
  }

  [[nodiscard]] MemoryNeeds memory_needs(const DynparCase& c) const override {
    if (!c.sort) {
      const std::uint64_t slots = c.children.children * kKeyBytes;
      return {.host = slots, .device = slots + (c.children.pending > 0 ? LaunchRoom::bytes(c.children.pending) : 0)};
    }
    constexpr std::uint64_t kForLists = 32;  // lists and counters need at most 1/32 of the keys' memory
    const std::uint64_t room = LaunchRoom::bytes(sort_launches(c.key_count()));
    return {.host = 2 * c.bytes, .device = 3 * c.bytes + c.bytes / kForLists + room};
  }

  void measure(const DynparCase& c, const RunContext& bench, Result& result) const override {
    c.sort ? run_sort(c, bench, result) : run_children(c.children, bench, result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    std::vector<Finding> findings;
    const auto children = of_task(results, false);
    conclude_costs(children, findings);
    for (const auto& rivals : grouped(children, comparison_key)) {
      const auto ways = best_of_each_way(rivals);
      if (ways.size() > 1) findings.push_back(winner_of(ways));
    }
    conclude_sorts(of_task(results, true), findings);
    constexpr std::size_t kMostSentences = 3;
    for (const char* kind : {"per-child", "sort"}) fold_into_rows(findings, kind, kMostSentences);
    return findings;
  }
};

std::vector<MetricDeclaration> dynpar_metrics() {
  using namespace declaring;
  return {
      measured(kMakespan, "time until all children have finished, or the sort has")
          .as_headline()
          .column("makespan", {interval}),
      derived_time("per_child", "makespan minus that of the same run without children, over the number of children")
          .column("per child"),
      derived_time("host_time", "host time in the calls that submit the work").column("submit time"),
      derived("speedup_over_host", "1", higher, "speedup over the same work launched by the host")
          .column("vs host", ratio),
      derived("round_trips", "round trips", lower, "sort: round trips to the host if the host drives the sort")
          .column("round trips"),
      derived("host_launches", "launches", lower, "sort: kernels that the host launches if it drives the sort")
          .column("host launches"),
      measured(kChildless, "time of the same run without children"),
      measured(kByHost, "time of the same children, or the same sort, launched by the host"),
      derived("children_rate", "children/s", higher, "children per second: the inverse of the time per child"),
      derived("pending_limit", "launches", neither, "limit of pending launches from the device"),
      derived("keys_rate", "keys/s", higher, "sort: keys per second of the makespan"),
  };
}

std::vector<Axis> dynpar_axes() {
  constexpr double kMostChildren = 1 << 20;
  const auto of_children = [](Axis axis) { return only_with("task", {"children"}, std::move(axis)); };
  const auto of_sort = [](Axis axis) { return only_with("task", {"sort"}, std::move(axis)); };
  return {
      choice_axis("task", {"children", "sort"},
                  {.defaults = "all", .help = "children: many small kernels; sort: a recursive quicksort"}),
      of_children(choice_axis(
          "launch", words(kLaunchNames),
          {.defaults = "all",
           .help = "how children are launched; tail: at the end of the parent, so that a flat shape becomes a chain"})),
      of_children(
          choice_axis("shape", {"flat", "tree"},
                      {.defaults = "flat", .help = "flat: one kernel launches all; tree: children launch children"})),
      only_with("shape", {"tree"},
                {.name = "depth",
                 .defaults = "4",
                 .help = "levels of a tree; the fan-out follows from --children",
                 .max = kernels::LaunchTree::kMaxLevels}),
      of_children({.name = "children",
                   .defaults = "1,16,256,2048",
                   .help = "total number of child kernels",
                   .max = kMostChildren}),
      of_children(
          {.name = "work", .defaults = "0", .help = "dependent arithmetic steps per child", .min = 0, .max = 1e9}),
      only_with("launch", {"fire-and-forget"},
                {.name = "launchers",
                 .defaults = "1,32",
                 .help = "threads of the parent kernel that launch children concurrently",
                 .max = 1024}),
      only_with("launch", {"host", "graph"},
                {.name = "streams",
                 .defaults = "1",
                 .help = "number of streams, or of branches of a graph; children are assigned round-robin",
                 .max = 1024}),
      only_with("launch", {"fire-and-forget", "tail"},
                {.name = "pending",
                 .defaults = std::to_string(kernels::kDefaultPendingLaunches),
                 .help = "limit of pending launches from the device",
                 .max = kMostChildren}),
      of_sort(size_axis("size", {.defaults = "4M,64M",
                                 .help = "sort: bytes of keys; a key has 4 bytes",
                                 .min = static_cast<double>(kKeyBytes),
                                 .max = static_cast<double>(GiB)})),
      of_sort(choice_axis("keys", words(kSortKeysNames),
                          {.defaults = "random", .help = "sort: order of the keys before the sort"})),
  };
}

}  // namespace

const Scenario& dynpar_scenario() {
  static const Dynpar scenario({
      .name = "dynpar",
      .summary = "kernels that launch kernels: cost per child, and a sort without round trips to the host",
      .axes = dynpar_axes(),
      .metrics = dynpar_metrics(),
      .charts = {{.x = "children", .y = kMakespan, .panels = {"task"}, .lines = {"launch"}},
                 {.x = "size", .y = kMakespan, .panels = {"task"}}},
      .answer = {.best = kMakespan,
                 .text = "{makespan}; {speedup_over_host} as fast as launched by the host",
                 .each = {"task"},
                 .largest = {"children", "size"}},
  });
  return scenario;
}

}  // namespace xferbench
