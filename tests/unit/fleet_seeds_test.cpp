// Changes that must not affect the judgement of a fleet, such as the numbering of ranks. tests/fleet/trials.cpp
// measures its error rates.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "fleet/judgement.hpp"
#include "support/synthetic_fleet.hpp"

namespace xferbench::fleet {
namespace {

using test::Fault;
using test::FleetPlan;
using test::SyntheticFleet;

/// A random fleet with up to two faults, in which all ranks have been measured twice.
SyntheticFleet any_fleet() {
  FleetPlan plan{.nodes = *rc::gen::inRange(1, 7),
                 .ranks_per_node = *rc::gen::inRange(1, 6),
                 .noise = *rc::gen::element(0.0, 0.005, 0.02),
                 .seed = *rc::gen::inRange<std::uint64_t>(1, 1000000)};
  for (int left = *rc::gen::inRange(0, 3); left > 0; --left) {
    plan.faults.push_back({.of = *rc::gen::element(Fault::Of::link, Fault::Of::gpu, Fault::Of::host),
                           .where = *rc::gen::inRange(0, plan.nodes * plan.ranks_per_node)});
  }
  SyntheticFleet made(plan);
  std::vector<int> ranks(static_cast<std::size_t>(plan.nodes * plan.ranks_per_node));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<Retest> all;
  for (const std::string& what : plan.cases) all.push_back({test::made_case(what).key(), RankConcurrency::all, ranks});
  made.measure_again(all);
  return made;
}

using Verdict = std::tuple<Flagged::What, std::vector<int>, std::vector<std::string>>;

/// Verdicts without their texts, sorted so that order does not matter.
std::vector<Verdict> verdicts_of(Report report) {
  judge(report, {});
  std::vector<Verdict> all;
  for (Flagged& f : report.fleet->flagged) {
    std::ranges::sort(f.tests);
    std::ranges::sort(f.ranks);
    all.emplace_back(f.what, f.ranks, f.tests);
  }
  std::ranges::sort(all);
  return all;
}

RC_GTEST_PROP(FleetJudgement, NumbersOfRanksMeanNothing, ()) {
  Report report = any_fleet().report;
  const std::vector<Verdict> before = verdicts_of(report);
  std::vector<int> renamed(report.fleet->ranks.size());
  std::iota(renamed.begin(), renamed.end(), 0);
  std::mt19937 random(*rc::gen::inRange(0U, 1000000U));
  std::ranges::shuffle(renamed, random);
  const auto rename = [&](int& rank) { rank = renamed[static_cast<std::size_t>(rank)]; };
  for (RankPlace& place : report.fleet->ranks) rename(place.rank);
  for (Result& result : report.results) rename(result.in_fleet->rank);
  std::ranges::shuffle(report.results, random);
  std::vector<Verdict> expected = before;
  for (auto& [what, ranks, tests] : expected) {
    std::ranges::for_each(ranks, rename);
    std::ranges::sort(ranks);
  }
  std::ranges::sort(expected);
  RC_ASSERT(verdicts_of(report) == expected);
}

RC_GTEST_PROP(FleetJudgement, UnitsMeanNothing, ()) {
  Report report = any_fleet().report;
  const std::vector<Verdict> before = verdicts_of(report);
  const std::vector<Retest> again = retests_of(report, {});
  const double times = *rc::gen::element(1.0 / 1024, 8.0, 65536.0);
  for (Result& result : report.results) {
    for (Metric& metric : result.metrics) metric.value *= times;
    for (Measurement& m : result.measurements) m.median *= times;
    result.in_fleet->clock_uncertainty *= times;
  }
  RC_ASSERT(verdicts_of(report) == before);
  RC_ASSERT(retests_of(report, {}) == again);
}

}  // namespace
}  // namespace xferbench::fleet
