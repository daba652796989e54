#include "support/synthetic_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/units.hpp"
#include "measure/statistics.hpp"

namespace xferbench::test {

namespace {

constexpr std::uint64_t kSize = 256 * MiB;

bool is_latency(const std::string& what) { return what == "latency"; }

/// Seconds on a healthy rank.
double expected(const std::string& what) {
  if (is_latency(what)) return 8e-6;
  return static_cast<double>(kSize) / (what == "d2d" ? 2000e9 : 55e9);
}

}  // namespace

Case made_case(const std::string& what) {
  Case c(is_latency(what) ? "latency" : "memcpy");
  c.set({.name = is_latency(what) ? "op" : "dir", .kind = AxisKind::choice}, what);
  c.set({.name = "size", .kind = AxisKind::size}, is_latency(what) ? 4 * KiB : kSize);
  return c;
}

SyntheticFleet::SyntheticFleet(const FleetPlan& plan) : plan_(plan), random_(plan.seed) {
  using enum Better;
  report.metrics_declared["memcpy"] = {xferbench::measured("copy", "").as_headline().column("time"),
                                       derived("bandwidth", "GB/s", higher, "").column("GB/s")};
  report.metrics_declared["latency"] = {xferbench::measured("latency", "").as_headline().column("time")};
  report.fleet.emplace();
  const int ranks = plan.nodes * plan.ranks_per_node;
  for (int rank = 0; rank < ranks; ++rank) add_place(rank);
  for (const std::string& what : plan_.cases) {
    std::vector<double>& levels = level_.emplace_back();
    for (int rank = 0; rank < ranks; ++rank) {
      levels.push_back(expected(what) * slowdown(what, rank) *
                       (plan_.persistent > 0 ? 1 + plan_.persistent * normal() : 1));
    }
    for (int rank = 0; rank < ranks; ++rank) report.results.push_back(measured(what, rank, 1));
  }
}

void SyntheticFleet::add_place(int rank) {
  RankPlace place{.rank = rank,
                  .node = node_of(rank),
                  .local_rank = rank % plan_.ranks_per_node,
                  .host = fmt::format("node{:03}", node_of(rank))};
  Environment& e = place.environment;
  e.backend = "cuda";
  e.driver = "570.124.06";
  e.runtime = "12.8";
  e.gpu.name = "NVIDIA H200";
  e.gpu.index = place.local_rank;
  e.gpu.uuid = fmt::format("GPU-{:08x}-5b7c-11ef-9a3e-0242ac120002", rank);
  e.gpu.pci_bus_id = fmt::format("00000000:{:02X}:00.0", 0x10 + place.local_rank);
  e.gpu.compute_capability = "9.0";
  e.gpu.multiprocessors = 132;
  e.gpu.memory_bytes = 141 * GiB;
  e.gpu.pcie = Environment::Pcie{.generation = 5, .width = 16, .source = "nvml", .max_generation = 5, .max_width = 16};
  e.gpu.numa_node = place.local_rank / 4;
  e.host.cpu = "Intel(R) Xeon(R) Platinum 8480C";
  e.host.logical_cpus = 224;
  e.host.memory_bytes = 2048 * GiB;
  e.host.kernel = "6.8.0-45-generic";
  report.fleet->ranks.push_back(std::move(place));
}

double SyntheticFleet::slowdown(const std::string& what, int rank) const {
  double times = 1;
  for (const Fault& fault : plan_.faults) {
    const bool here = (fault.of == Fault::Of::host ? node_of(rank) : rank) == fault.where;
    if (here && (fault.of == Fault::Of::gpu) == (what == "d2d")) times /= 1 - fault.slower_by;
  }
  return times;
}

Result SyntheticFleet::measured(const std::string& what, int rank, unsigned round) {
  const auto place = static_cast<std::size_t>(std::ranges::find(plan_.cases, what) - plan_.cases.begin());
  const double level = level_[place][static_cast<std::size_t>(rank)] * (1 + plan_.noise * normal());
  Result result(made_case(what));
  result.in_fleet = InFleet{.rank = rank,
                            .round = round,
                            .path = what == "d2d" ? DataPath::gpu : DataPath::link,
                            .clock_uncertainty = level / 1000};
  Measurement& m = result.measurements.emplace_back();
  m.name = is_latency(what) ? "latency" : "copy";
  constexpr double kWidth = 0.002;
  for (std::size_t i = 0; i < plan_.samples; ++i) {
    m.samples.push_back(plan_.samples == 1 ? level : level * (1 + kWidth * normal()));
  }
  statistics::summarise(m);
  if (!is_latency(what)) result.add("bandwidth", gigabytes_per_second(kSize, m.median), "GB/s");
  return result;
}

void SyntheticFleet::measure_again(const std::vector<fleet::Retest>& retests) {
  for (const fleet::Retest& retest : retests) {
    const auto is_it = [&](const std::string& what) { return made_case(what).key() == retest.key; };
    const auto what = std::ranges::find_if(plan_.cases, is_it);
    if (what == plan_.cases.end()) continue;  // a case that a test added, which also adds its second round
    for (const int rank : retest.ranks) report.results.push_back(measured(*what, rank, 2));
  }
}

void SyntheticFleet::judge(const fleet::Options& options) {
  measure_again(fleet::retests_of(report, options));
  fleet::judge(report, options);
}

}  // namespace xferbench::test
