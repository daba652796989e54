// multipath: copies a payload to one GPU, or from it, through its own link and the links of other GPUs at once. For
// comparison, it copies over that GPU's own link alone, and it copies the same amount of data over all links without
// relaying (the upper limit).
#include <fmt/format.h>

#include "core/units.hpp"
#include "model/bounds.hpp"
#include "run/scenario.hpp"
#include "scenarios/common/transfer.hpp"
#include "scenarios/multipath/case.hpp"
#include "scenarios/multipath/costs.hpp"
#include "scenarios/multipath/payload.hpp"

namespace xferbench {

namespace {

/// Returns how the payload of a case is cut. The input of the relay model is measured once per run.
Cut cut_for(const MultipathCase& c, const RunContext& bench) {
  return cut(c, [&]() -> const model::RelayPaths& {
    const std::string key = fmt::format("multipath paths {} {}", static_cast<int>(c.direction), gpus_text(c.gpus()));
    return bench.memo->remember<model::RelayPaths>(key, [&] { return measure_paths(bench, c); });
  });
}

/// Runs one pass on poisoned memory. Throws VerificationError if any byte is wrong.
template <class Way>
void verify_way(Way& way, const Region& region, Machine& machine, VerifiedRun run) {
  run(machine, region, [&way] { way.poison(); });
  region.check();
}

void report(const MultipathCase& c, const Cut& cut, const std::array<Series, 4>& series, Result& result) {
  const auto& [relayed, wall, directly, own_links] = series;
  const double seconds = relayed.elapsed.median;
  const double limit = own_links.elapsed.median;
  add_rates(c, cut, seconds, directly.elapsed.median, result);
  result.add("own_links_bandwidth", gigabytes_per_second(c.bytes, limit), "GB/s");
  result.add("of_own_links", model::share_of_limit(limit, seconds), "1");
  if (relayed.elapsed.clock == Clock::event) {
    result.warnings.emplace_back(
        "too many chunks to queue behind a gate: all times include the host's submit time; choose a larger --chunk");
  }
}

class Multipath final : public ScenarioOf<multipath_case, multipath_space> {
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
    if (c.target.size() > 1) return SkipReason::impossible("--target takes one GPU; give its number");
    if (std::ranges::find_first_of(c.via, c.target) != c.via.end()) {
      return SkipReason::impossible(fmt::format(
          "--via {} contains the target, which cannot be its own helper; choose other GPUs", gpus_text(c.via)));
    }
    if (can == nullptr) return std::nullopt;
    const Environment& environment = can->environment;
    if (environment.gpu_count() < 2) {
      return SkipReason::unavailable("needs a second GPU as helper, but this run has one");
    }
    if (!c.is_explicit()) return std::nullopt;
    if (auto reason = missing_gpus(c.gpus(), environment)) return reason;
    return missing_access(c.via, c.target, environment);
  }

  [[nodiscard]] MemoryNeeds memory_needs(const MultipathCase& c) const override {
    // The target GPU's memory holds the payload. A helper's memory holds its slots and, for the measurement of all
    // links without relaying, its part of the payload.
    const std::uint64_t helper = helper_memory(c) + c.bytes / 2 + kPartAlignment;
    const std::uint64_t measured = c.share && c.shape.chunk > 0 ? 0 : kMeasuredBytes;
    return {std::max(c.bytes, measured), std::max({c.bytes, helper, measured})};
  }

  void measure(const MultipathCase& c, const RunContext& bench, Result& result) const override {
    const Cut chosen = cut_for(c, bench);
    MultipathPayload payload(bench.machine, c, bench.seed);
    if (bench.needs_data()) payload.prepare();
    Relay relay(payload, chosen.shape, chosen.split);
    Relay direct(payload);
    const double evenly = static_cast<double>(c.via.size()) / static_cast<double>(c.via.size() + 1);
    OwnLinks links(payload, model::even_relay_split(c.via.size(), evenly, c.bytes, kPartAlignment));
    if (bench.needs_data()) links.prepare();
    Region relayed = relay.region("multipath");
    Region directly = direct.region("direct");
    Region own_links = links.region();
    use_common_clock({&relayed, &directly, &own_links});
    if (bench.verify) {
      verify_way(relay, relayed, bench.machine, run_once);
      verify_way(direct, directly, bench.machine, run_once);
      verify_way(links, own_links, bench.machine, run_once);
    }
    const std::array series =
        bench.sample(std::array{relayed, wall_region(relayed), directly, own_links}, bench.policy);
    add_measurements(series, result);
    if (!all_sampled(series)) return;
    report(c, chosen, series, result);
    if (bench.verifies_again()) verify_way(relay, relayed, bench.machine, run_at_full_speed);
    bench.trace_region(relayed, result);
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    return multipath_findings(results);
  }
};

std::vector<Axis> multipath_axes() {
  return {
      choice_axis("dir", {"h2d", "d2h"},
                  {.defaults = "all", .tuning = "h2d", .help = "h2d: to the target; d2h: from the target"}),
      gpus_axis("target", {kFirst},
                {.defaults = kFirst,
                 .help = "GPU that gets the payload (d2h: sends it); first: the first one of the run",
                 .joined_by = '\0'}),
      gpus_axis("via", {kAllOthers, kGrowing},
                {.defaults = kAllOthers,
                 .tuning = kGrowing,
                 .help = "helper GPUs; all: all others; growing: one, two, ... of them; or a list (1+3)"}),
      {.name = "share",
       .kind = AxisKind::real,
       .tuning = "30:90:+2",
       .tuned_without = true,
       .help = "percent of the payload that is relayed by helpers; default: chosen by a model from measured link rates",
       .min = 0,
       .max = 100},
      size_axis("chunk", {.tuning = "4M,8M,16M,32M",
                          .tuned_without = true,
                          .help = "maximum bytes per relayed chunk; default: chosen by the model",
                          .min = 4096}),
      {.name = "slots", .defaults = "4", .tuning = "2,4,8", .help = "chunk buffers of each helper", .max = 1024},
      size_axis("size", {.defaults = "256M", .help = "bytes of the payload"}),
  };
}

std::vector<MetricDeclaration> multipath_metrics() {
  using namespace declaring;
  std::vector<MetricDeclaration> metrics{
      measured("multipath", "time of the payload over all links, from the first copy's start to the last copy's end")
          .as_headline()
          .column("time", {interval, clock}),
      time_to_result(),
      derived("bandwidth", "GB/s", higher, "payload over time").column("GB/s"),
      derived("direct_bandwidth", "GB/s", higher, "payload over the time through the target's own link alone")
          .column("own link GB/s"),
      derived("times_direct", "1", higher, "speedup over the target's own link alone").column("vs own link", ratio),
      derived("own_links_bandwidth", "GB/s", higher,
              "limit: bandwidth of as many bytes, shared evenly by all GPUs, each over its own link without relaying")
          .column("limit GB/s"),
      derived("of_own_links", "1", higher, "bandwidth over that limit").column("% of limit", percent),
      derived("relayed", "1", neither, "share of the payload that helpers relayed").column("relayed", percent),
      derived("chunk", "MiB", neither, "bytes per relayed chunk; the last chunks (D2H: the first) are shorter")
          .column("chunk MiB"),
      derived("helper_memory", "MiB", lower, "memory of the chunk buffers on the helper that needs most")
          .column("helper MiB"),
      measured("direct", "time of the payload through the target's own link alone"),
      measured("own-links", "time of as many bytes over all links at once, without relaying"),
  };
  return with_shared(std::move(metrics), wall_metrics(), several_gpus_metrics(), timeline_metrics());
}

}  // namespace

const Scenario& multipath_scenario() {
  static const Multipath scenario({
      .name = "multipath",
      .summary = "copies to or from one GPU over its own link and those of other GPUs",
      .axes = multipath_axes(),
      .metrics = multipath_metrics(),
      .charts = {{.x = "size", .y = "bandwidth", .panels = {"dir"}, .limit = "own_links_bandwidth"}},
      .answer = {.best = "bandwidth",
                 .text = "{bandwidth}, {times_direct} as fast as the target's own link alone; {of_own_links} of what "
                         "all links carry at once",
                 .each = {"dir"}},
      .work_axes = {kMultipathWorkAxes.begin(), kMultipathWorkAxes.end()},
      .has_timeline = true,
      .gpus = UsesGpus::several,
  });
  return scenario;
}

}  // namespace xferbench
