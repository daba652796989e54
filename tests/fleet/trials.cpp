// Error rates of the judgement of fleets, on made-up fleets with noise and a known truth. Prints the table of
// docs/lab/fleets.md. Exits with 1 if, with noise of 1 %, a fault of 10 % is missed in more than one of a hundred
// fleets, or a fault is reported where there is none in as many.
//
//   fleet_trials --fleets 1000          the table, takes minutes
//   fleet_trials --fleets 200           as in scripts/test --full; the quick tests use 100. Below 200, only
//                                       the rows with a promise
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/judgement.hpp"
#include "support/synthetic_fleet.hpp"

namespace xferbench::fleet {
namespace {

using test::Fault;
using test::FleetPlan;
using test::SyntheticFleet;

struct Shape {
  std::string_view name;
  int nodes = 0;
  int ranks_per_node = 0;
};
constexpr std::array<Shape, 5> kShapes{Shape{"2 x 4", 2, 4}, Shape{"4 x 8", 4, 8}, Shape{"16 x 8", 16, 8},
                                       Shape{"3 x 1", 3, 1}, Shape{"1 x 8", 1, 8}};
constexpr std::array<double, 2> kNoises{0.01, 0.02};
constexpr std::array<Fault::Of, 3> kFaults{Fault::Of::link, Fault::Of::gpu, Fault::Of::host};

/// Outcomes over many fleets.
struct Count {
  std::size_t suspected = 0;  ///< fleets with a good rank under suspicion
  std::size_t named = 0;      ///< fleets whose fault is flagged as what it is
  std::size_t accused = 0;    ///< fleets in which anything else is flagged
};

/// On a host with a single rank, a slow host cannot be told from a slow link.
Flagged::What expected_of(const FleetPlan& plan) {
  const Fault::Of of = plan.faults.front().of;
  if (of == Fault::Of::gpu) return Flagged::What::gpu;
  return of == Fault::Of::host && plan.ranks_per_node > 1 ? Flagged::What::host : Flagged::What::link;
}

std::vector<int> ranks_with_fault(const FleetPlan& plan) {
  const Fault& fault = plan.faults.front();
  if (fault.of != Fault::Of::host) return {fault.where};
  std::vector<int> ranks;
  for (int i = 0; i < plan.ranks_per_node; ++i) ranks.push_back(fault.where * plan.ranks_per_node + i);
  return ranks;
}

void try_one(const FleetPlan& plan, Count& count) {
  SyntheticFleet made(plan);
  const Options options;
  made.judge(options);
  const auto& fleet = *made.report.fleet;
  const auto is_right = [&](const Flagged& f) {
    return !plan.faults.empty() && f.what == expected_of(plan) && f.ranks == ranks_with_fault(plan);
  };
  const auto right = std::ranges::count_if(fleet.flagged, is_right);
  if (right > 0) ++count.named;
  if (right < std::ssize(fleet.flagged)) ++count.accused;
  // A rank that was suspected but not flagged has a note about its second measurement.
  const auto is_doubt = [](const std::string& note) { return note.ends_with("when measured again"); };
  if (std::ranges::any_of(fleet.notes, is_doubt) || right < std::ssize(fleet.flagged)) ++count.suspected;
}

Count try_many(FleetPlan plan, std::size_t fleets, std::uint64_t seed) {
  Count count;
  for (std::size_t i = 0; i < fleets; ++i) {
    plan.seed = seed * 1000003 + i;
    for (Fault& fault : plan.faults) {
      const int places = fault.of == Fault::Of::host ? plan.nodes : plan.nodes * plan.ranks_per_node;
      fault.where = static_cast<int>(plan.seed % static_cast<std::uint64_t>(places));
    }
    try_one(plan, count);
  }
  return count;
}

/// The promise: at most 1 % of fleets judged wrongly with noise of 1 % and faults of 10 %. True if nothing is promised.
bool keeps_promise(const FleetPlan& plan, const Count& count, std::size_t fleets) {
  if (plan.noise > 0.01) return true;
  const std::size_t allowed = 1 + fleets / 100;  // one miss may be chance, even among few fleets
  if (plan.faults.empty()) return count.accused <= allowed;
  if (plan.faults.front().slower_by < 0.1) return true;
  const std::size_t missed = fleets - count.named;
  return missed <= allowed && count.accused <= allowed;
}

/// Prints a row for each shape of fleet, without and with a fault. False if a promise is broken.
bool print_rows(double noise, double slower_by, std::size_t fleets, std::uint64_t seed) {
  bool kept = true;
  for (const Shape& shape : kShapes) {
    FleetPlan plan{.nodes = shape.nodes, .ranks_per_node = shape.ranks_per_node, .noise = noise};
    const Count none = try_many(plan, fleets, seed);
    kept &= keeps_promise(plan, none, fleets);
    std::string row = fmt::format("| {} | {:.0f} % | {:.0f} % | {} | {} |", shape.name, noise * 100, slower_by * 100,
                                  none.suspected, none.accused);
    for (const Fault::Of fault : kFaults) {
      if (fault == Fault::Of::host && shape.nodes == 1) {
        row += " - |";
        continue;
      }
      plan.faults = {{.of = fault, .slower_by = slower_by}};
      const Count found = try_many(plan, fleets, seed + 1);
      kept &= keeps_promise(plan, found, fleets);
      row += fmt::format(" {} / {} |", fleets - found.named, found.accused);
    }
    fmt::print("{}\n", row);
  }
  return kept;
}

int run(std::size_t fleets, std::uint64_t seed) {
  fmt::print("Of {} fleets each: faults missed / something good flagged\n\n", fleets);
  fmt::print(
      "| nodes x ranks | noise | slower by | no fault: somebody suspected | no fault: flagged | link | GPU | host |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  bool kept = true;
  for (const double noise : kNoises) {
    for (const double slower_by : {0.1, 0.05}) {
      const bool promised = noise == kNoises.front() && slower_by == 0.1;
      if (promised || fleets >= 200) kept &= print_rows(noise, slower_by, fleets, seed);
    }
  }
  if (!kept)
    fmt::print(stderr, "\nnoise of 1 % hid faults of 10 %, or made some, in more than one fleet of a hundred\n");
  return kept ? 0 : 1;
}

}  // namespace
}  // namespace xferbench::fleet

int main(int argc, char** argv) {
  std::size_t fleets = 20;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--fleets") fleets = std::strtoull(argv[i + 1], nullptr, 10);
    if (flag == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
  }
  return xferbench::fleet::run(fleets, seed);
}
