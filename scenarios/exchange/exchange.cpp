// exchange: sends data from the GPU of one rank to the GPU of another by MPI: staged through both hosts as a whole, in
// a pipeline of chunks, or directly with CUDA-aware MPI. The stages alone are measured in the same run, as limits.
#include <fmt/format.h>

#include <utility>

#include "core/units.hpp"
#include "device/host.hpp"
#include "model/bounds.hpp"
#include "model/exchange.hpp"
#include "ranks/gpu_probe.hpp"
#include "run/scenario.hpp"
#include "scenarios/exchange/case.hpp"
#include "scenarios/exchange/endpoint.hpp"
#include "scenarios/exchange/partner.hpp"
#include "scenarios/exchange/plan.hpp"

namespace xferbench {

namespace {

// --- The case -------------------------------------------------------------------------------------------------------

bool has_latency(const ExchangeCase& c) { return c.bytes <= kLargestSmallExchange && !c.both_ways; }

constexpr const char* kRoundTrips = "round-trips";
constexpr const char* kMpiAlone = "mpi";
constexpr const char* kMpiInSlots = "mpi-in-slots";

/// Returns the regions of all turns: the exchange, and the stages that limit it.
std::vector<Region> regions_of(const ActiveExchange& at, const ExchangePlan& plan) {
  return exchange_regions(at, [&](const ExchangePart& part, std::vector<Region>& regions) {
    // Samples are stored by region name. Only the region of the turn in which this rank receives gets the name of the
    // result's measurement.
    const char* name = part.from ? "exchange" : part.to ? "sent" : "of-others";
    regions.push_back(at.end.exchange(name, part, plan.shape, at.c.bytes));
    if (has_latency(at.c)) regions.push_back(at.end.round_trips(kRoundTrips, part, plan.shape, at.c.bytes));
    if (!at.c.uses_gpus()) return;
    ExchangeCopies(at.c.both_ways, 1).add(at, part, regions);
    regions.push_back(at.end.messages(kMpiAlone, part, {at.c.bytes, 1}, at.c.bytes));
    if (at.c.method != ExchangeMethod::pipeline) return;
    regions.push_back(
        at.end.messages(kMpiInSlots, part, plan.shape, at.c.bytes, ExchangeEndpoint::MessageMemory::slots));
  });
}

void verify(const ActiveExchange& at, std::span<const Region> regions, VerifiedRun run) {
  const std::size_t per_turn = regions.size() / at.turns.size();
  for (std::size_t turn = 0; turn < at.turns.size(); ++turn) {
    const std::span<const Region> of_turn = regions.subspan(turn * per_turn, per_turn);
    at.end.verify(of_turn.front(), at.turns[turn], run);
    if (has_latency(at.c)) at.end.verify(of_turn[1], round_trip(at.turns[turn]), run);
  }
}

Measurement named(Measurement m, const char* name) {
  m.name = name;
  m.auxiliary = true;
  return m;
}

/// Adds the times of the stages measured alone, and the efficiency of the exchange relative to the slowest stage.
void report_limits(const ActiveExchange& at, const ExchangeSamples& samples, double seconds, Result& result) {
  const ExchangeCopies copies(at.c.both_ways, 1);
  const Measurement& mpi = samples.received(kMpiAlone).elapsed;
  double least_mpi = mpi.median;
  const double own_d2h = copies.d2h(samples).median;
  const double own_h2d = copies.h2d(samples).median;
  result.measurements.push_back(named(copies.d2h(samples), "d2h"));
  result.measurements.push_back(named(copies.h2d(samples), "h2d"));
  result.measurements.push_back(named(mpi, "mpi"));
  if (at.c.method == ExchangeMethod::pipeline) {
    const Measurement& in_slots = samples.received(kMpiInSlots).elapsed;
    result.measurements.push_back(named(in_slots, "mpi_in_slots"));
    result.add("slots_bandwidth", gigabytes_per_second(at.c.bytes, in_slots.median), "GB/s");
    least_mpi = std::min(least_mpi, in_slots.median);
  }
  const std::vector<double> other = at.partner.swap({own_d2h, own_h2d});
  // In one direction, the D2H copy of the data that this rank receives runs on the other rank's GPU. With both
  // directions, each rank does both copies.
  const double d2h = at.c.both_ways ? std::max(own_d2h, other[0]) : other[0];
  const double h2d = at.c.both_ways ? std::max(own_h2d, other[1]) : own_h2d;
  const std::array<std::pair<const char*, double>, 3> stages{{{"d2h", d2h}, {"h2d", h2d}, {"mpi", least_mpi}}};
  result.add("d2h_bandwidth", gigabytes_per_second(at.c.bytes, d2h), "GB/s");
  result.add("mpi_bandwidth", gigabytes_per_second(at.c.bytes, mpi.median), "GB/s");
  result.add("h2d_bandwidth", gigabytes_per_second(at.c.bytes, h2d), "GB/s");
  const auto slowest = std::ranges::max_element(stages, {}, [](const auto& stage) { return stage.second; });
  result.add("efficiency", model::share_of_limit(slowest->second, seconds), "1");
  result.labels.emplace_back("limited_by", slowest->first);
}

void report(const ActiveExchange& at, const ExchangePlan& plan, const ExchangeSamples& samples, Result& result) {
  const Series& own = samples.received();
  result.measurements = {own.elapsed};
  if (!all_sampled(samples.all())) return;
  const double seconds = own.elapsed.median;
  result.add("bandwidth", gigabytes_per_second((at.c.both_ways ? 2 : 1) * at.c.bytes, seconds), "GB/s");
  if (has_latency(at.c)) {
    Measurement& latency = result.measurements.emplace_back(samples.received(kRoundTrips).part(kExchangeLatency));
    latency.auxiliary = false;
  }
  if (at.c.uses_gpus()) report_limits(at, samples, seconds, result);
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
                  std::unique_ptr<ExchangeEndpoint>& end, Result& result) {
  const FleetContext& fleet = *bench.fleet;
  partner.together([&] {
    end = std::make_unique<ExchangeEndpoint>(c, bench, partner);
    if (bench.needs_data()) end->prepare();
  });
  const ActiveExchange at{c, bench, partner, *end,
                          turns_of(matching, c.both_ways, fleet.pace, fleet.nodes, fleet.ranks.rank())};
  const ExchangePlan plan = plan_exchange(at);
  if (bench.stopped()) return;
  end->release_unused_memory();
  const std::vector<Region> regions = regions_of(at, plan);
  if (bench.verify) verify(at, regions, run_once);
  const ExchangeSamples samples(at, bench.sample(regions));
  report(at, plan, samples, result);
  if (bench.verifies_again()) verify(at, regions, run_at_full_speed);
}

void skip(Result& result, std::string reason) {
  result.status = Status::skipped;
  result.reason = std::move(reason);
}

/// Returns why the memory does not suffice; empty if it does. Counts the host memory of all ranks of the node together.
std::string reason_against_memory(const ExchangeCase& c, const RunContext& bench) {
  const MemoryNeeds needs = exchange_memory(c);
  if (const std::uint64_t free = bench.device.memory().free_bytes; needs.device > free) {
    return fmt::format("needs {} of device memory, {} available; choose a smaller --size", format_memory(needs.device),
                       format_memory(free));
  }
  // A simulated machine keeps its GPU memory in host memory, and needs it only if data is really moved.
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
      "exchange direct", [&] { return why_mpi_takes_no_gpu_memory(gpu, kGpuProbeTimeout); });
  return reason.empty() ? reason : "MPI is given no GPU memory: " + reason;
}

/// Collective call. `mine`: why this rank cannot measure, empty if it can. If any rank has a reason, returns a reason
/// on all ranks; else nothing.
std::optional<std::string> agreed(const RunContext& bench, std::string mine) {
  const bool somebody = bench.pace != nullptr ? bench.pace->any(!mine.empty()) : !mine.empty();
  if (!somebody) return std::nullopt;
  return mine.empty() ? "another rank cannot; its result gives the reason" : std::move(mine);
}

/// Returns why this pair of ranks cannot be measured; nothing if it can. Hazard: a rank that has lost its GPU must
/// report the loss here, because its partner waits for the report.
std::optional<std::string> reason_against_ends(const ExchangeCase& c, const RunContext& bench, Partner& partner) {
  if (!bench.device.usable()) {
    partner.agree(false);
    return std::string(kDeviceLost);
  }
  std::string reason;
  partner.together([&] { reason = reason_against_memory(c, bench); });
  if (reason.empty() && c.method == ExchangeMethod::direct) reason = reason_against_direct(bench);
  return agreed(bench, std::move(reason));
}

class Exchange final : public ScenarioOf<exchange_case> {
 public:
  using ScenarioOf::ScenarioOf;

  [[nodiscard]] std::vector<Case> expand(const Case& c, const GpusOfRun& run) const override {
    return rounds_of(c, run.ranks);
  }
  [[nodiscard]] std::optional<SkipReason> reason_to_skip(const ExchangeCase& c,
                                                         const Capabilities* can) const override {
    if (c.method == ExchangeMethod::direct && can != nullptr && can->environment.simulated()) {
      return SkipReason::unavailable("MPI cannot use the memory of a simulated GPU");
    }
    return std::nullopt;
  }
  /// Requests no memory, because skipping a single rank would leave its partner waiting. measure() checks the memory of
  /// all ranks together.
  [[nodiscard]] MemoryNeeds memory_needs(const ExchangeCase&) const override { return {}; }

  void measure(const ExchangeCase& c, const RunContext& bench, Result& result) const override {
    const int count = bench.fleet == nullptr ? 1 : bench.fleet->ranks.size();
    if (auto reason = reason_against_round(c, count)) return skip(result, reason->text);
    Communicator& ranks = bench.fleet->ranks;
    const model::Matching matching = matching_of(c, ranks.size(), bench.seed);
    const std::optional<int> other = partner_of(matching, ranks.rank());
    if (!other) return skip(result, fmt::format("rank {} has no partner in this round", ranks.rank()));
    if (!bench.fleet->takes_part(*other)) {
      return skip(result, fmt::format("rank {}, the partner, is not measured in this pass", *other));
    }
    Partner partner(*bench.fleet, *other);
    if (auto reason = reason_against_ends(c, bench, partner)) return skip(result, *reason);
    result.labels = {{kFromRank, std::to_string(*other)}, {kToRank, std::to_string(ranks.rank())}};
    std::unique_ptr<ExchangeEndpoint> end;
    try {
      partner.together([&] { measure_pair(c, bench, matching, partner, end, result); });
    } catch (const CommunicationError&) {  // MPI may still access the buffers, so they are leaked on purpose
      static_cast<void>(end.release());    // NOLINT(bugprone-unused-return-value)
      throw;
    }
  }

  [[nodiscard]] std::vector<Finding> conclude(std::span<const Result* const> results) const override {
    return exchange_findings(results);
  }
};

std::vector<Axis> exchange_axes() {
  const auto cut = [](Axis axis) { return only_with("method", {"pipeline", "host"}, std::move(axis)); };
  return {
      gpus_axis("pairs", words(kExchangePairs),
                {.defaults = "ring",
                 .help = "ranks that exchange; ring: each with the next; all: each with all others; sampled: with a "
                         "few; or a pair, as in 0-1",
                 .joined_by = '-'}),
      {.name = "round", .help = "one round only; in a round, each rank has at most one partner", .max = 1e6},
      choice_axis("method", words(kExchangeMethods),
                  {.defaults = "pipeline",
                   .help = "pipeline: staged through both hosts in chunks; whole: in one piece; direct: MPI from GPU "
                           "to GPU; host: MPI from host to host"}),
      choice_axis("way", {"one", "both"},
                  {.defaults = "one", .help = "one: one direction after the other; both: both at once"}),
      cut(size_axis("chunk", {.help = "bytes per chunk; default: chosen by the model", .min = 4096})),
      cut({.name = "depth", .help = "chunks in flight at each end; default: chosen by the model", .max = 256}),
      size_axis("size", {.defaults = "256M", .help = "bytes per direction"}),
  };
}

std::vector<MetricDeclaration> exchange_metrics() {
  using namespace declaring;
  return {
      label(kFromRank, "sending rank").column("from", word),
      label(kToRank, "receiving rank, which takes these times").column("to", word),
      measured("exchange", "time from the start until all data is in the receiver's memory")
          .as_headline()
          .column("time", {interval}),
      derived("bandwidth", "GB/s", higher, "payload over that time; both ways: payload of both directions")
          .column("GB/s"),
      measured(kExchangeLatency, "half a round trip by one host's clock; one way only, up to 64 KiB")
          .column("latency", {interval}),
      derived("d2h_bandwidth", "GB/s", higher,
              "D2H copy alone at the sender; both ways: at the slower end, with the H2D copy at once")
          .column("D2H GB/s"),
      derived("mpi_bandwidth", "GB/s", higher,
              "MPI alone from host memory to host memory, per direction, in one message")
          .column("MPI GB/s"),
      derived("slots_bandwidth", "GB/s", higher,
              "MPI alone in messages of chunk size, between buffers that are reused and stay in CPU caches")
          .column("chunked MPI GB/s"),
      derived("h2d_bandwidth", "GB/s", higher,
              "H2D copy alone at the receiver; both ways: at the slower end, with the D2H copy at once")
          .column("H2D GB/s"),
      derived("efficiency", "1", higher,
              "time of the slowest stage over the time of the exchange; for MPI, the faster of its two measurements")
          .column("% of limit", percent),
      label("limited_by", "slowest stage: d2h, mpi or h2d").column("bottleneck", word),
      derived_time("expected", "time that the model predicts from the stages"),
      derived("of_expected", "1", higher, "predicted time over measured time").column("% of expected", percent),
      derived("chunk", "MiB", neither, "bytes per chunk").column("chunk MiB"),
      derived("depth", "1", neither, "chunks in flight at each end").column("depth"),
      measured("d2h", "D2H copy alone, if this rank sends"),
      measured("h2d", "H2D copy alone, if this rank receives"),
      measured("mpi", "MPI alone from host memory to host memory, if this rank receives"),
      measured("mpi_in_slots", "MPI alone in chunks through reused buffers, as the pipeline sends them"),
  };
}

}  // namespace

const Scenario& exchange_scenario() {
  static const Exchange scenario({
      .name = "exchange",
      .summary = "copies between GPUs of different processes and nodes, by MPI",
      .axes = exchange_axes(),
      .metrics = exchange_metrics(),
      .needs_ranks = true,
  });
  return scenario;
}

}  // namespace xferbench
