// Made-up fleets by the hundred: what is slow is named, and nothing else is; and what must change nothing.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "fleet/judgement.hpp"
#include "support/made_fleet.hpp"

namespace xferbench::fleet {
namespace {

using test::Fault;
using test::FleetPlan;
using test::MadeFleet;

constexpr int kSeeds = 200;  // of up to 32 ranks, of more a quarter

struct FleetShape {
  const char* name;
  int nodes;
  int ranks_per_node;
};

class MadeFleets : public testing::TestWithParam<FleetShape> {
 protected:
  static FleetPlan plan(int seed) {
    return {
        .nodes = GetParam().nodes, .ranks_per_node = GetParam().ranks_per_node, .seed = static_cast<unsigned>(seed)};
  }
  /// Who is flagged as what.
  static std::string judged(const FleetPlan& plan) {
    MadeFleet made(plan);
    made.judge();
    std::string all;
    for (const Flagged& f : made.report.fleet->flagged) {
      all += std::string(to_text(f.what)) + " of";
      for (const int rank : f.ranks) all += " " + std::to_string(rank);
      all += ";";
    }
    return all;
  }
  static std::string expected(const Fault& fault) {
    const int each = GetParam().ranks_per_node;
    const bool host = fault.of == Fault::Of::host && each > 1;
    std::string all = host ? "host of" : fault.of == Fault::Of::gpu ? "gpu of" : "link of";
    if (!host) return all + " " + std::to_string(fault.where) + ";";
    for (int i = 0; i < each; ++i) all += " " + std::to_string(fault.where * each + i);
    return all + ";";
  }
  static int seeds() { return GetParam().nodes * GetParam().ranks_per_node > 32 ? kSeeds / 4 : kSeeds; }
  /// In how many fleets something else than the fault is said. Noise of 1 % may hide one in a hundred.
  static int wrong_with(Fault::Of of) {
    int wrong = 0;
    for (int seed = 1; seed <= seeds(); ++seed) {
      FleetPlan with_fault = plan(seed);
      const int places = of == Fault::Of::host ? with_fault.nodes : with_fault.nodes * with_fault.ranks_per_node;
      with_fault.faults = {{.of = of, .where = seed % places}};
      if (judged(with_fault) != expected(with_fault.faults.front())) ++wrong;
    }
    return wrong;
  }
};

TEST_P(MadeFleets, WithoutAFaultHaveNobodyFlagged) {
  int accused = 0;
  for (int seed = 1; seed <= seeds(); ++seed) accused += judged(plan(seed)).empty() ? 0 : 1;
  EXPECT_LE(accused, seeds() / 100);
}

TEST_P(MadeFleets, HaveTheirSlowLinkNamed) { EXPECT_LE(wrong_with(Fault::Of::link), seeds() / 100); }
TEST_P(MadeFleets, HaveTheirSlowGpuNamed) { EXPECT_LE(wrong_with(Fault::Of::gpu), seeds() / 100); }

TEST_P(MadeFleets, HaveTheirSlowHostNamed) {
  if (GetParam().nodes == 1) return;  // with which other one would it be compared?
  EXPECT_LE(wrong_with(Fault::Of::host), seeds() / 100);
}

INSTANTIATE_TEST_SUITE_P(Shapes, MadeFleets,
                         testing::Values(FleetShape{"2x4", 2, 4}, FleetShape{"4x8", 4, 8}, FleetShape{"16x8", 16, 8},
                                         FleetShape{"3x1", 3, 1}, FleetShape{"1x8", 1, 8}),
                         [](const auto& shape) { return std::string("Of") + shape.param.name; });

// --- What must change nothing ----------------------------------------------------------------------------------------

/// A fleet of any shape with up to two faults, all of whose ranks have measured again.
MadeFleet any_fleet() {
  FleetPlan plan{.nodes = *rc::gen::inRange(1, 7),
                 .ranks_per_node = *rc::gen::inRange(1, 6),
                 .noise = *rc::gen::element(0.0, 0.005, 0.02),
                 .seed = *rc::gen::inRange<std::uint64_t>(1, 1000000)};
  for (int left = *rc::gen::inRange(0, 3); left > 0; --left) {
    plan.faults.push_back({.of = *rc::gen::element(Fault::Of::link, Fault::Of::gpu, Fault::Of::host),
                           .where = *rc::gen::inRange(0, plan.nodes * plan.ranks_per_node)});
  }
  MadeFleet made(plan);
  std::vector<int> ranks(static_cast<std::size_t>(plan.nodes * plan.ranks_per_node));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<Retest> all;
  for (const std::string& what : plan.cases) all.push_back({test::made_case(what).key(), Pacing::all, ranks});
  made.measure_again(all);
  return made;
}

using Verdict = std::tuple<Flagged::What, std::vector<int>, std::vector<std::string>>;

/// Without what says it in words, in an order of its own.
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
  const std::vector<Retest> again = second_round(report, {});
  const double times = *rc::gen::element(1.0 / 1024, 8.0, 65536.0);
  for (Result& result : report.results) {
    for (Metric& metric : result.metrics) metric.value *= times;
    for (Measurement& m : result.measurements) m.median *= times;
    result.in_fleet->clock_uncertainty *= times;
  }
  RC_ASSERT(verdicts_of(report) == before);
  RC_ASSERT(second_round(report, {}) == again);
}

}  // namespace
}  // namespace xferbench::fleet
