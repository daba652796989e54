// Made-up results of simulated fleets, by a rule: rates of ranks differ by less than 1 %.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "unit/report_fixture.hpp"

namespace xferbench::test {

struct FleetShape {
  int nodes = 2;
  int per_node = 4;
  std::vector<std::string> dirs{"h2d", "d2h"};
  std::vector<RankConcurrency> paces{RankConcurrency::all};
};

/// Replaces the rank's measurement by ten samples around the time that 256 MiB take at `rate`, in GB/s.
inline void set_rate(Result& r, double rate) {
  constexpr double kBytes = 268435456;
  const double time = kBytes / rate * 1e-9;
  std::vector<double> samples;
  for (const double step : {-4, -3, -2, -1, 0, 0, 1, 2, 3, 4}) samples.push_back(time * (1 + 0.0002 * step));
  r.measurements = {measured("copy", Clock::host, samples, time, {time * 0.9997, time * 1.0003})};
  r.metrics.clear();
  r.add("bandwidth", rate, "GB/s");
}

inline Result result_of_rank(const std::string& dir, int rank, int node, RankConcurrency pace) {
  Result r(copy_case(dir, "pinned", 268435456));
  r.in_fleet = InFleet{.rank = rank, .pace = pace, .clock_uncertainty = 1e-6};
  const double apart = 0.001 * ((rank * 7 + static_cast<int>(dir.front())) % 9 - 4);
  const double contention = pace == RankConcurrency::one ? 1 : node == 0 ? 0.5 : 0.6;
  set_rate(r, 55 * contention * (1 + apart));
  return r;
}

/// Hosts are named node0, node1, ...; GPUs GPU-0, GPU-1, ... by rank.
inline Report fleet_report(const FleetShape& shape = {}) {
  Report report = simulated_report();
  report.command = {"xferbench", "copy", "--simulate"};
  report.metrics_declared = {{"copy", copy_descriptor().metrics}};
  report.fleet = Fleet{.mpi = "Open MPI 4.1.4", .clock_uncertainty = 1e-6};
  for (int rank = 0; rank < shape.nodes * shape.per_node; ++rank) {
    RankPlace place{.rank = rank,
                    .node = rank / shape.per_node,
                    .local_rank = rank % shape.per_node,
                    .host = fmt::format("node{}", rank / shape.per_node),
                    .environment = report.environment,
                    .tool = "0.1.0 abc1234"};
    place.environment.gpu.uuid = fmt::format("GPU-{}", rank);
    place.environment.gpu.numa_node = rank % 2;
    report.fleet->ranks.push_back(std::move(place));
  }
  for (const RankConcurrency pace : shape.paces) {
    for (const std::string& dir : shape.dirs) {
      for (const RankPlace& place : report.fleet->ranks) {
        report.results.push_back(result_of_rank(dir, place.rank, place.node, pace));
      }
    }
  }
  return report;
}

/// Multiplies the rates of a rank by a factor.
inline void slow_down(Report& report, int rank, double factor) {
  for (Result& r : report.results) {
    if (r.in_fleet->rank == rank) set_rate(r, r.value("bandwidth") * factor);
  }
}

/// Removes the results of a rank, as if it had died before the first case.
inline void lose(Report& report, int rank) {
  std::erase_if(report.results, [rank](const Result& r) { return r.in_fleet->rank == rank; });
  report.fleet->missing.push_back(rank);
}

}  // namespace xferbench::test
