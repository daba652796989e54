// exchange: from the GPU of one rank to that of another, by MPI: staged through both hosts as a whole or in a pipeline
// of chunks, or directly where MPI can read and write GPU memory. Beside it, in the same run, the stages by themselves.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/units.hpp"
#include "device/host.hpp"
#include "model/exchange.hpp"
#include "ranks/gpu_probe.hpp"
#include "run/scenario.hpp"
#include "scenarios/exchange/case.hpp"
#include "scenarios/exchange/end.hpp"
#include "scenarios/exchange/findings.hpp"
#include "scenarios/exchange/partner.hpp"

namespace xferbench {

namespace {

constexpr std::size_t kFewSamples = 5;
constexpr std::size_t kFitPieces = 8;
constexpr std::uint64_t kTinyBytes = 4 * KiB;
constexpr double kShareOfBudget = 0.1;  // of a case, for what leads to it
constexpr std::uint64_t kLargestSmall = 64 * KiB;

/// Everything that one rank needs in one case.
struct AtWork {
  const ExchangeCase& c;
  const RunContext& bench;
  Partner& partner;
  ExchangeEnd& end;
  std::vector<ExchangePart> turns{};

  /// In which this rank receives, and in which it sends.
  [[nodiscard]] std::size_t receiving() const {
    return place([](const ExchangePart& p) { return p.from.has_value(); });
  }
  [[nodiscard]] std::size_t sending() const {
    return place([](const ExchangePart& p) { return p.to.has_value(); });
  }

 private:
  template <class Predicate>
  [[nodiscard]] std::size_t place(const Predicate& wanted) const {
    return static_cast<std::size_t>(std::ranges::find_if(turns, wanted) - turns.begin());
  }
};

/// In step with all other ranks: a few samples of each.
std::vector<Series> a_few(const RunContext& bench, std::vector<Region> regions) {
  SamplingPolicy few = bench.policy;
  few.min_samples = few.max_samples = kFewSamples;
  few.budget *= kShareOfBudget;
  return sample(bench.machine, std::move(regions), few, bench.observe, {}, bench.pace);
}

// --- Stages ---------------------------------------------------------------------------------------------------------

/// The regions of both copies in one turn: one after the other, or both ways at once, as they will be in the exchange.
void add_copies(const AtWork& at, const ExchangePart& part, std::uint64_t bytes, std::size_t pieces,
                std::vector<Region>& regions) {
  if (at.c.both_ways) {
    regions.push_back(at.end.copies("copies", part, true, true, bytes, pieces));
    return;
  }
  regions.push_back(at.end.copies("d2h-alone", part, true, false, bytes, pieces));
  regions.push_back(at.end.copies("h2d-alone", part, false, true, bytes, pieces));
}

/// What was sampled of one turn's copies.
struct CopySeries {
  const Series& d2h;
  const Series& h2d;
};
CopySeries copies_in(std::span<const Series> series, const AtWork& at, std::size_t regions_per_turn,
                     std::size_t first) {
  const std::size_t second = at.c.both_ways ? first : first + 1;
  return {series[at.sending() * regions_per_turn + first], series[at.receiving() * regions_per_turn + second]};
}
double d2h_of(const CopySeries& s) { return s.d2h.part(kExchangeD2h).median; }
double h2d_of(const CopySeries& s) { return s.h2d.part(kExchangeH2d).median; }

/// What the model is told, the same at both ends: of both, the slower.
model::ExchangeStages measure_stages(const AtWork& at) {
  const std::uint64_t bytes = at.c.bytes;
  const std::uint64_t piece = std::max<std::uint64_t>(1, bytes / kFitPieces);
  const std::uint64_t tiny = std::min(bytes, kTinyBytes);
  std::vector<Region> regions;
  for (const ExchangePart& part : at.turns) {
    add_copies(at, part, bytes, 1, regions);
    add_copies(at, part, bytes, kFitPieces, regions);
    regions.push_back(at.end.messages("messages", part, {bytes, 1}, bytes));
    regions.push_back(at.end.messages("messages-in-pieces", part, {piece, kFitPieces}, bytes));
    regions.push_back(at.end.exchange("tiny", part, {tiny, 1}, tiny));
  }
  const std::size_t per_turn = regions.size() / at.turns.size();
  const std::vector<Series> series = a_few(at.bench, std::move(regions));
  if (at.bench.stopped()) return {};
  const std::size_t copies = at.c.both_ways ? 1 : 2;
  const CopySeries one = copies_in(series, at, per_turn, 0);
  const CopySeries many = copies_in(series, at, per_turn, copies);
  const auto received = [&](std::size_t i) {
    return series[at.receiving() * per_turn + 2 * copies + i].elapsed.median;
  };
  const std::vector<double> t =
      at.partner.largest({d2h_of(one), d2h_of(many), received(0), received(1), h2d_of(one), h2d_of(many), received(2)});
  return model::fit_exchange_stages({.bytes = static_cast<double>(bytes),
                                     .pieces = kFitPieces,
                                     .d2h = t[0],
                                     .d2h_pieces = t[1],
                                     .message = t[2],
                                     .message_pieces = t[3],
                                     .h2d = t[4],
                                     .h2d_pieces = t[5],
                                     .tiny = t[6]});
}

/// That shape, and its neighbours as far as there are any: as many for every rank.
std::vector<model::ExchangeShape> with_neighbours(const model::ExchangeShape& shape, std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4 * KiB;
  const std::uint64_t half = (shape.chunk / 2 + kPage - 1) / kPage * kPage;
  const std::uint64_t shorter = std::clamp(half, std::min(model::kShortestExchangeChunk, shape.chunk), shape.chunk);
  const std::uint64_t longer = std::max(shape.chunk, std::min({2 * shape.chunk, bytes, model::kLongestExchangeChunk}));
  const std::size_t depth = std::max<std::size_t>(shape.depth, 2);
  return {shape, {shorter, depth}, {longer, depth}};
}

/// The one that was fastest at the slower end of the pair.
model::ExchangeShape fastest_of(const AtWork& at, const std::vector<model::ExchangeShape>& shapes) {
  std::vector<Region> regions;
  for (const ExchangePart& part : at.turns) {
    for (const model::ExchangeShape& shape : shapes) {
      regions.push_back(at.end.exchange("shape", part, shape, at.c.bytes));
    }
  }
  const std::vector<Series> series = a_few(at.bench, std::move(regions));
  if (at.bench.stopped()) return shapes.front();
  std::vector<double> times;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    times.push_back(series[at.receiving() * shapes.size() + i].elapsed.median);
  }
  times = at.partner.largest(times);
  return shapes[static_cast<std::size_t>(std::ranges::min_element(times) - times.begin())];
}

/// How messages are cut, and what the model expects of that.
struct Plan {
  model::ExchangeShape shape;
  std::optional<model::ExchangeStages> stages{};
};

Plan plan_for(const AtWork& at) {
  const model::ExchangeShape& given = at.c.shape;
  const std::uint64_t bytes = at.c.bytes;
  const bool decided = given.chunk > 0 && given.depth > 0;
  if (at.c.method == ExchangeMethod::host) {
    if (decided || bytes <= model::kShortestExchangeChunk)
      return {{given.chunk > 0 ? given.chunk : bytes, std::max<std::size_t>(given.depth, 1)}};
    const auto shape = [&](std::uint64_t chunk, std::size_t depth) {
      return model::ExchangeShape{std::min(given.chunk > 0 ? given.chunk : chunk, bytes),
                                  given.depth > 0 ? given.depth : depth};
    };
    return {fastest_of(at, {shape(bytes, 1), shape(4 * MiB, 4), shape(MiB, 8)})};
  }
  if (at.c.method != ExchangeMethod::pipeline) return {{bytes, 1}};
  if (bytes <= kLargestSmall) return {{given.chunk > 0 ? given.chunk : bytes, given.depth > 0 ? given.depth : 2}};
  Plan plan{.shape = given, .stages = measure_stages(at)};
  if (at.bench.stopped()) return {{bytes, 1}};
  plan.shape = model::best_exchange_shape(*plan.stages, bytes, given);
  if (!decided && given.chunk == 0) plan.shape = fastest_of(at, with_neighbours(plan.shape, bytes));
  return plan;
}

// --- The case -------------------------------------------------------------------------------------------------------

/// Regions of every turn: the exchange, and what limits it.
std::vector<Region> regions_of(const AtWork& at, const Plan& plan) {
  std::vector<Region> regions;
  for (const ExchangePart& part : at.turns) {
    // Only what the result is of has this name: the moments of its passes are kept by it.
    const char* name = part.from ? "exchange" : part.to ? "sent" : "of-others";
    regions.push_back(at.end.exchange(name, part, plan.shape, at.c.bytes));
    if (!at.c.uses_gpus()) continue;
    add_copies(at, part, at.c.bytes, 1, regions);
    regions.push_back(at.end.messages("mpi", part, plan.shape, at.c.bytes));
  }
  return regions;
}

void verify(const AtWork& at, std::span<const Region> regions, VerifiedRun run) {
  const std::size_t per_turn = regions.size() / at.turns.size();
  for (std::size_t turn = 0; turn < at.turns.size(); ++turn) {
    at.end.verify(regions[turn * per_turn], at.turns[turn], run);
  }
}

Measurement named(Measurement m, const char* name) {
  m.name = name;
  m.auxiliary = true;
  return m;
}

/// The stages by themselves, and what the exchange reaches of the slowest of them.
void report_limits(const AtWork& at, std::span<const Series> series, std::size_t per_turn, double seconds,
                   Result& result) {
  const CopySeries copies = copies_in(series, at, per_turn, 1);
  const Series& mpi = series[at.receiving() * per_turn + per_turn - 1];
  result.measurements.push_back(named(copies.d2h.part(kExchangeD2h), "d2h"));
  result.measurements.push_back(named(copies.h2d.part(kExchangeH2d), "h2d"));
  result.measurements.push_back(named(mpi.elapsed, "mpi"));
  const std::vector<double> other = at.partner.swap({d2h_of(copies), h2d_of(copies)});
  // One way, what comes is copied by the other end's GPU; both ways, both ends do both.
  const double d2h = at.c.both_ways ? std::max(d2h_of(copies), other[0]) : other[0];
  const double h2d = at.c.both_ways ? std::max(h2d_of(copies), other[1]) : h2d_of(copies);
  const std::array<std::pair<const char*, double>, 3> stages{{{"d2h", d2h}, {"h2d", h2d}, {"mpi", mpi.elapsed.median}}};
  for (const auto& [name, time] : stages) {
    result.add(fmt::format("{}_bandwidth", name), gigabytes_per_second(at.c.bytes, time), "GB/s");
  }
  const auto slowest = std::ranges::max_element(stages, {}, [](const auto& stage) { return stage.second; });
  result.add("efficiency", slowest->second / seconds, "1");
  result.labels.emplace_back("limited_by", slowest->first);
}

void report(const AtWork& at, const Plan& plan, std::span<const Series> series, Result& result) {
  const std::size_t per_turn = series.size() / at.turns.size();
  const Series& own = series[at.receiving() * per_turn];
  result.measurements = {own.elapsed};
  if (!all_sampled(series)) return;
  const double seconds = own.elapsed.median;
  result.add("bandwidth", gigabytes_per_second((at.c.both_ways ? 2 : 1) * at.c.bytes, seconds), "GB/s");
  if (at.c.bytes <= kLargestSmall && !at.c.both_ways) result.add("latency", seconds, "s");
  if (at.c.uses_gpus()) report_limits(at, series, per_turn, seconds, result);
  if (plan.stages) {
    const double expected = model::exchange_time(*plan.stages, at.c.bytes, plan.shape);
    result.add("expected", expected, "s");
    result.add("of_expected", expected / seconds, "1");
  }
  if (at.c.method != ExchangeMethod::pipeline && at.c.method != ExchangeMethod::host) return;
  result.add("chunk", static_cast<double>(std::min(plan.shape.chunk, at.c.bytes)) / MiB, "MiB");
  result.add("depth", static_cast<double>(plan.shape.depth), "1");
}

void measure_pair(const ExchangeCase& c, const RunContext& bench, const model::Matching& matching, Partner& partner,
                  std::unique_ptr<ExchangeEnd>& end, Result& result) {
  const FleetContext& fleet = *bench.fleet;
  partner.together([&] {
    end = std::make_unique<ExchangeEnd>(c, bench, partner);
    if (bench.needs_data()) end->prepare();
  });
  const AtWork at{c, bench, partner, *end,
                  turns_of(matching, c.both_ways, fleet.pace, fleet.nodes, fleet.ranks.rank())};
  const Plan plan = plan_for(at);
  if (bench.stopped()) return;
  end->forget_past_regions();
  const std::vector<Region> regions = regions_of(at, plan);
  if (bench.verify) verify(at, regions, run_once);
  const std::vector<Series> series = bench.sample(regions);
  report(at, plan, series, result);
  if (bench.verifies_again()) verify(at, regions, run_at_full_speed);
}

void skip(Result& result, std::string reason) {
  result.status = Status::skipped;
  result.reason = std::move(reason);
}

/// Why none of the ranks is measured, if one of them says why it cannot be; all of them ask.
std::optional<std::string> agreed(const RunContext& bench, std::string mine) {
  const bool somebody = bench.pace != nullptr ? bench.pace->any(!mine.empty()) : !mine.empty();
  if (!somebody) return std::nullopt;
  return mine.empty() ? "another rank cannot, and its result says why" : std::move(mine);
}

/// All ranks of a node need host memory at once.
std::string reason_against_memory(const ExchangeCase& c, const RunContext& bench) {
  const MemoryNeeds needs = exchange_memory(c);
  if (const std::uint64_t free = bench.device.memory().free_bytes; needs.device > free) {
    return fmt::format("needs {} of device memory, {} available; choose a smaller --size", format_memory(needs.device),
                       format_memory(free));
  }
  // A simulated machine keeps its GPU's memory in the host's, and touches it only when it moves data.
  const bool simulated = bench.device.capabilities().environment.simulated();
  const std::uint64_t of_rank = simulated ? (bench.verify ? needs.host + 2 * needs.device : 0) : needs.host;
  const std::uint64_t of_node = of_rank * static_cast<std::uint64_t>(bench.fleet->ranks.local_size());
  const auto available = available_host_memory();
  if (!available || of_node <= *available) return {};
  return fmt::format("all ranks of the node need {} of host memory, {} available; choose a smaller --size",
                     format_memory(of_node), format_memory(*available));
}

std::string reason_against_direct(const RunContext& bench) {
  const int gpu = bench.device.capabilities().environment.number_of(bench.device.number());
  const std::string& reason = bench.memo->remember<std::string>(
      "exchange direct", [&] { return why_mpi_takes_no_gpu_memory(gpu, kGpuProbePatience); });
  return reason.empty() ? reason : "MPI cannot be given GPU memory: " + reason;
}

std::vector<Axis> exchange_axes();
std::vector<MetricDeclaration> exchange_metrics();

class Exchange final : public ScenarioOf<exchange_case> {
 public:
  using ScenarioOf::ScenarioOf;

  [[nodiscard]] std::vector<Case> expand(const Case& c, const GpusOfRun& run) const override {
    return rounds_of(c, run.ranks);
  }
  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const ExchangeCase& c,
                                                         const Capabilities* can) const override {
    if (c.method == ExchangeMethod::direct && can != nullptr && can->environment.simulated()) {
      return SkipReason::unavailable("the memory of a simulated GPU is none that MPI could be given");
    }
    return std::nullopt;
  }
  /// Whoever has not enough would be left out, and its partner would wait for it: ranks agree on that in measure().
  [[nodiscard]] MemoryNeeds memory_needs(const ExchangeCase&) const override { return {}; }

  void measure(const ExchangeCase& c, const RunContext& bench, Result& result) const override {
    const int count = bench.fleet == nullptr ? 1 : bench.fleet->ranks.size();
    if (auto reason = reason_against_round(c, count)) return skip(result, reason->text);
    if (auto reason = agreed(bench, reason_against_memory(c, bench))) return skip(result, *reason);
    if (c.method == ExchangeMethod::direct) {
      if (auto reason = agreed(bench, reason_against_direct(bench))) return skip(result, *reason);
    }
    Communicator& ranks = bench.fleet->ranks;
    const model::Matching matching = matching_of(c, ranks.size(), bench.seed);
    const std::optional<int> other = partner_of(matching, ranks.rank());
    if (!other) {
      return skip(result, fmt::format("rank {} has no partner in this round", ranks.rank()));
    }
    if (!bench.fleet->takes_part(*other)) {
      return skip(result, fmt::format("rank {}, the other end, is not measured this time", *other));
    }
    result.labels = {{kFromRank, std::to_string(*other)}, {kToRank, std::to_string(ranks.rank())}};
    Partner partner(*bench.fleet, *other);
    std::unique_ptr<ExchangeEnd> end;
    try {
      partner.together([&] { measure_pair(c, bench, matching, partner, end, result); });
    } catch (const RanksSilentError&) {
      keep_for_good(end);
      throw;
    } catch (const CommunicationError&) {
      keep_for_good(end);
      throw;
    }
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    return exchange_findings(results);
  }

 private:
  /// MPI may still read and write it.
  static void keep_for_good(std::unique_ptr<ExchangeEnd>& end) {
    // NOLINTNEXTLINE(bugprone-unused-return-value): that nobody owns it any more is what is meant
    static_cast<void>(end.release());
  }
};

std::vector<Axis> exchange_axes() {
  const auto cut = [](Axis axis) { return only_with("method", {"pipeline", "host"}, std::move(axis)); };
  return {
      gpus_axis("pairs", words(kExchangePairs),
                {.defaults = "ring",
                 .help = "ranks that exchange: each with the next, with all others, with a few; or two, as in 0-1",
                 .joined_by = '-'}),
      {.name = "round", .help = "one round only, in which each rank has one partner at most", .max = 1e6},
      choice_axis(
          "method", words(kExchangeMethods),
          {.defaults = "pipeline",
           .help = "staged through both hosts in chunks or as a whole, by MPI from GPU to GPU, or host to host"}),
      choice_axis("way", {"one", "both"}, {.defaults = "one", .help = "one after the other, or both ends at once"}),
      cut(size_axis("chunk", {.help = "bytes at a time; chosen unless given", .min = 4096})),
      cut({.name = "depth", .help = "chunks on their way at once at each end; chosen unless given", .max = 256}),
      size_axis("size", {.defaults = "256M", .help = "bytes each way"}),
  };
}

std::vector<MetricDeclaration> exchange_metrics() {
  using namespace declaring;
  return {
      label(kFromRank, "rank that sends").column("from", word),
      label(kToRank, "rank that receives, whose times these are").column("to", word),
      measured("exchange", "from the start to the data being complete in the receiver's memory")
          .as_headline()
          .column("time", {interval}),
      derived("bandwidth", "GB/s", higher, "payload over that time; both ways: of both").column("GB/s"),
      derived_time("latency", "one way, up to 64 KiB: that time").column("latency"),
      derived("d2h_bandwidth", "GB/s", higher,
              "the copy to the host by itself at the sender; both ways: at the slower "
              "end, with the other copy at once")
          .column("d2h GB/s"),
      derived("mpi_bandwidth", "GB/s", higher, "from host memory to host memory by itself, each way")
          .column("mpi GB/s"),
      derived("h2d_bandwidth", "GB/s", higher,
              "the copy from the host by itself at the receiver; both ways: at the "
              "slower end, with the other copy at once")
          .column("h2d GB/s"),
      derived("efficiency", "1", higher, "time of the slowest of these three over that of the exchange")
          .column("of limit", percent),
      label("limited_by", "which of them that is: d2h, mpi or h2d").column("limited by", word),
      derived_time("expected", "what the model expects from the stages measured before"),
      derived("of_expected", "1", higher, "that over the measured time").column("of expected", percent),
      derived("chunk", "MiB", neither, "bytes at a time").column("chunk MiB"),
      derived("depth", "1", neither, "chunks on their way at once at each end").column("depth"),
      measured("d2h", "this rank's copy to its host by itself, when it sends"),
      measured("h2d", "this rank's copy from its host by itself, when it receives"),
      measured("mpi", "from host memory to host memory by itself, when it receives"),
  };
}

}  // namespace

const Scenario& exchange_scenario() {
  static const Exchange scenario({
      .name = "exchange",
      .summary = "from GPU to GPU of different processes and nodes, by MPI",
      .axes = exchange_axes(),
      .metrics = exchange_metrics(),
      .needs_ranks = true,
  });
  return scenario;
}

}  // namespace xferbench
