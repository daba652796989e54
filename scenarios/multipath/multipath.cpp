// multipath: a payload to one GPU, or back, through its own link and through those of its neighbours at once. Beside it
// the same through the GPU's own link alone, and as many bytes through all links to wherever they lead, which is the
// most that any way of sharing them out could reach.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "model/relation.hpp"
#include "run/findings.hpp"
#include "run/scenario.hpp"
#include "run/wording.hpp"
#include "scenarios/common/transfer.hpp"
#include "scenarios/multipath/case.hpp"
#include "scenarios/multipath/costs.hpp"
#include "scenarios/multipath/payload.hpp"
#include "scenarios/multipath/space.hpp"

namespace xferbench {

namespace {

/// How the payload is cut, and what of it goes where.
struct Cut {
  model::RelayShape shape;
  model::RelaySplit split;
};

/// As the case says; where it leaves something open, as the model chooses from what is measured once per run.
Cut cut(const MultipathCase& c, const RunContext& bench) {
  Cut cut{c.shape, {}};
  const auto paths = [&]() -> const model::RelayPaths& {
    const std::string key = fmt::format("multipath paths {} {}", static_cast<int>(c.direction), gpus_text(c.gpus()));
    return bench.memo->remember<model::RelayPaths>(key, [&] { return measure_paths(bench, c); });
  };
  if (c.shape.chunk == 0) cut.shape.chunk = model::best_relay_chunk(paths(), c.shape, c.bytes, kPartAlignment);
  cut.split = split_of(c, cut.shape, paths);
  return cut;
}

/// One run of a way on poisoned memory.
template <class Way>
void verify_way(Way& way, const Region& region, const std::function<void(const Region&)>& run) {
  way.poison();
  run(region);
  region.check();
}

void report(const MultipathCase& c, const Cut& cut, std::span<const Series> series, Result& result) {
  const double seconds = series[0].elapsed.median;
  const double own_links = series[2].elapsed.median;
  add_rates(c, cut.shape, cut.split, seconds, series[1].elapsed.median, result);
  result.add("own_links_bandwidth", gigabytes_per_second(c.bytes, own_links), "GB/s");
  result.add("of_own_links", own_links / seconds, "1");
  if (series[0].elapsed.clock == Clock::event) {
    result.warnings.emplace_back(
        "so many chunks do not fit behind a gate: all times include what the host takes to submit; choose a larger "
        "--chunk");
  }
}

class Multipath final : public ScenarioOf<multipath_case> {
 public:
  using ScenarioOf::ScenarioOf;

  [[nodiscard]] std::vector<Case> expand(const Case& c, const GpusOfRun& gpus) const override {
    return expand_multipath(c, gpus);
  }
  [[nodiscard]] std::vector<std::size_t> takes_part(const Case& c, const Environment& environment) const override {
    const MultipathCase m = multipath_case(c);
    return m.is_explicit() ? places_of(m.gpus(), environment) : std::vector<std::size_t>{0};
  }

  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const MultipathCase& c,
                                                         const Capabilities* can) const override {
    if (c.target.size() > 1) return SkipReason::impossible("--target is one GPU; write its number");
    if (std::ranges::find_first_of(c.via, c.target) != c.via.end()) {
      return SkipReason::impossible(
          fmt::format("--via {} names the target: a GPU cannot help itself; choose others", gpus_text(c.via)));
    }
    if (can == nullptr) return std::nullopt;
    const Environment& environment = can->environment;
    if (environment.gpu_count() < 2) {
      return SkipReason::unavailable("needs a second GPU to help, and this run has one");
    }
    if (!c.is_explicit()) return std::nullopt;
    if (auto reason = missing_gpus(c.gpus(), environment)) return reason;
    return missing_access(c.via, c.target, environment);
  }

  [[nodiscard]] MemoryNeeds memory_needs(const MultipathCase& c) const override {
    // A helper: its slots, what stays on it when all links are measured, and its leg's memory.
    return {std::max(c.bytes, kMeasuredBytes), std::max(c.bytes + helper_memory(c), 2 * kMeasuredBytes)};
  }

  void measure(const MultipathCase& c, const RunContext& bench, Result& result) const override {
    const Cut chosen = cut(c, bench);
    MultipathPayload payload(bench.machine, c, bench.seed);
    if (bench.needs_data()) payload.prepare();
    Relay relay(payload, chosen.shape, chosen.split);
    DirectPath direct(payload);
    const double evenly = static_cast<double>(c.via.size()) / static_cast<double>(c.via.size() + 1);
    OwnLinks links(payload, model::even_relay_split(c.via.size(), evenly, c.bytes, kPartAlignment));
    if (bench.needs_data()) links.prepare();
    Region relayed = relay.region();
    Region directly = direct.region();
    Region own_links = links.region();
    use_common_clock({&relayed, &directly, &own_links});
    if (bench.verify) {
      const auto once = [&](const Region& region) { run_once(bench.machine, region); };
      verify_way(relay, relayed, once);
      verify_way(direct, directly, once);
      verify_way(links, own_links, once);
    }
    const std::vector<Series> series = bench.sample({relayed, directly, own_links});
    add_measurements(series, result);
    if (!all_sampled(series)) return;
    report(c, chosen, series, result);
    if (bench.verifies_again()) {
      verify_way(relay, relayed, [&](const Region& region) { run_at_full_speed(bench.machine, region); });
    }
    bench.trace_region(relayed, result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override;

  [[nodiscard]] std::unique_ptr<Tunable> tunable(std::span<const Case> cases, const RunContext& bench) const override {
    return multipath_space(cases, bench);
  }
};

/// "GPU 1", "GPUs 1,2".
std::string gpus_named(std::span<const int> numbers) {
  return fmt::format("GPU{} {}", numbers.size() > 1 ? "s" : "", gpus_text(numbers, ','));
}

/// What it gains, and what that costs.
Finding gained(const Result& r, const std::string& prefix) {
  const MultipathCase c = multipath_case(r.config);
  const bool in = c.direction == Direction::h2d;
  const std::string moves = fmt::format("data {} GPU {}", in ? "reaches" : "leaves", c.target.front());
  const double rate = r.value("bandwidth");
  const double relayed = r.value("relayed");
  std::string text = prefix;
  if (relayed <= 0) {
    text += fmt::format("all of it went over the own link of GPU {}, at {} GB/s: {}", c.target.front(),
                        format_significant(rate),
                        c.share ? "nothing was to be relayed" : "relaying some would not gain a tenth");
  } else {
    const bool one = c.via.size() == 1;
    const std::string links = relayed < 1 ? fmt::format("its own link and {} of", one ? "that" : "those")
                                          : fmt::format("the link{} of", one ? "" : "s");
    text += fmt::format("through {} {} {} at {} GB/s, through its own alone at {} GB/s: {}", links, gpus_named(c.via),
                        moves, format_significant(rate), format_significant(r.value("direct_bandwidth")),
                        beside_text(model::estimate_of(r, "multipath"), model::estimate_of(r, "direct")));
    text += fmt::format("; meanwhile {} {} busy, with {} MiB of memory{}", gpus_named(c.via),
                        c.via.size() > 1 ? "are" : "is", format_significant(r.value("helper_memory")),
                        c.via.size() > 1 ? " each" : "");
  }
  return {
      .kind = "multipath",
      .labels = {{"case", r.config.key()}},
      .metrics = {r.needed_metric("bandwidth"), r.needed_metric("direct_bandwidth"), r.needed_metric("times_direct")},
      .text = std::move(text)};
}

std::vector<Finding> Multipath::conclude(std::span<const Result* const> results) const {
  std::vector<const Result*> measured;
  std::vector<const Case*> cases;
  for (const Result* r : results) {
    r->needed_measurement("multipath");
    if (r->metric("bandwidth") == nullptr) continue;  // interrupted
    measured.push_back(r);
    cases.push_back(&r->config);
  }
  const std::vector<std::string> axes = varying_axes(cases);
  std::vector<Finding> findings;
  for (const Result* r : measured) {
    findings.push_back(gained(*r, measured.size() == 1 ? "" : name_of(r->config, axes) + ": "));
  }
  // The table says the same of each case; of many, only the fastest is worth a sentence.
  constexpr std::size_t kFew = 4;
  if (findings.size() > kFew) {
    const auto rate = [](const Finding& f) { return f.metrics.front().value; };
    const auto fastest = std::ranges::max_element(findings, {}, rate);
    for (Finding& f : findings) f.detail = &f != &*fastest;
  }
  return findings;
}

std::vector<Axis> multipath_axes() {
  return {
      choice_axis("dir", {"h2d", "d2h"}, {.defaults = "all", .tuning = "h2d", .help = "to the target, or from it"}),
      gpus_axis(
          "target", {kFirst},
          {.defaults = kFirst, .help = "the GPU that the payload is for; first: of the run's", .joined_by = '\0'}),
      gpus_axis("via", {kAllOthers, kGrowing},
                {.defaults = kAllOthers,
                 .tuning = kGrowing,
                 .help = "GPUs that help: all others, growing: one, two, ... of them, or these (1+3)"}),
      {.name = "share",
       .kind = AxisKind::real,
       .tuning = "30:90:+2",
       .help = "percent of the payload that goes through them; default: as a model chooses from what the links can do",
       .min = 0,
       .max = 100},
      size_axis("chunk", {.tuning = "4M,8M,16M,32M",
                          .help = "bytes that are passed on at a time, at most; default: as the model chooses",
                          .min = 4096}),
      {.name = "slots", .defaults = "4", .tuning = "2,4,8", .help = "chunks that a helper holds at once", .max = 1024},
      size_axis("size", {.defaults = "256M", .help = "bytes of the payload"}),
  };
}

std::vector<MetricDeclaration> multipath_metrics() {
  using namespace declaring;
  std::vector<MetricDeclaration> metrics{
      measured("multipath", "the payload over all links, from the first byte's start to the last one's arrival")
          .as_headline()
          .column("time", {interval, clock}),
      derived("bandwidth", "GB/s", higher, "payload over that time").column("GB/s"),
      derived("direct_bandwidth", "GB/s", higher, "payload over the time through the target's own link alone")
          .column("own link GB/s"),
      derived("times_direct", "1", higher, "how many times as fast as through that link").column("gain", ratio),
      derived("own_links_bandwidth", "GB/s", higher,
              "as many bytes, an equal part for each GPU over its own link, which keeps it: the limit")
          .column("limit GB/s"),
      derived("of_own_links", "1", higher, "bandwidth over that").column("of limit", percent),
      derived("relayed", "1", neither, "share of the payload that went through the helpers").column("relayed", percent),
      derived("chunk", "MiB", neither,
              "bytes that were passed on at a time; the last ones, or D2H the first ones, are shorter")
          .column("chunk MiB"),
      derived("helper_memory", "MiB", lower, "that each helper holds for it").column("memory MiB"),
      measured("direct", "the payload through the target's own link alone"),
      measured("own-links", "as many bytes over all links at once, which stay where those lead"),
  };
  std::ranges::copy(several_gpus_metrics(), std::back_inserter(metrics));
  std::ranges::copy(timeline_metrics(), std::back_inserter(metrics));
  return metrics;
}

}  // namespace

const Scenario& multipath_scenario() {
  static const Multipath scenario({
      .name = "multipath",
      .summary = "to one GPU, or back, through the links of its neighbours as well",
      .axes = multipath_axes(),
      .metrics = multipath_metrics(),
      .has_timeline = true,
      .gpus = UsesGpus::several,
  });
  return scenario;
}

}  // namespace xferbench
