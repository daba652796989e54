// Comparison of two fleets: which rank of one file is matched with which rank of the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "check/check.hpp"
#include "check/derive.hpp"
#include "compare/compare.hpp"
#include "core/error.hpp"
#include "paper/writers.hpp"
#include "report/compare/compare_report.hpp"
#include "unit/fleet_fixture.hpp"
#include "words/compare.hpp"

namespace xferbench {
namespace {

using compare::Comparison;
using compare::Match;
using compare::Verdict;

Comparison compare_fleets(const Report& base, const Report& new_side, const compare::Options& options = {}) {
  const std::vector<NamedReport> a{{"a.json", base}};
  const std::vector<NamedReport> b{{"b.json", new_side}};
  return compare::compare(a, b, options);
}

compare::Options matching_by(Match match) {
  compare::Options options;
  options.match = match;
  return options;
}

std::vector<std::string> keys_with(const Comparison& comparison, Verdict verdict) {
  std::vector<std::string> keys;
  for (const compare::Row& row : comparison.rows) {
    if (row.verdict == verdict) keys.push_back(row.key);
  }
  return keys;
}

/// Swaps the GPUs of two ranks, together with what was measured on them.
Report with_gpus_exchanged(Report report, int a, int b) {
  auto& ranks = report.fleet->ranks;
  std::swap(ranks[static_cast<std::size_t>(a)].environment, ranks[static_cast<std::size_t>(b)].environment);
  for (Result& r : report.results) {
    const int rank = r.in_fleet->rank;
    if (rank == a || rank == b) r.in_fleet->rank = rank == a ? b : a;
  }
  return report;
}

/// Transfers between all pairs of ranks. In each round a rank receives from one other, which depends on the number of
/// ranks. Pairs within a host are five times as fast as pairs across hosts.
Report all_pairs(int nodes, int per_node) {
  Report report = test::fleet_report({.nodes = nodes, .per_node = per_node, .dirs = {}});
  const int count = nodes * per_node;
  const Axis round{.name = "round", .kind = AxisKind::count};
  for (int shift = 1; shift < count; ++shift) {
    for (const RankPlace& place : report.fleet->ranks) {
      const int from = (place.rank + shift) % count;
      Case c = test::copy_case("h2d", "pinned", 268435456);
      c.set(round, static_cast<std::uint64_t>(shift));
      Result& r = report.results.emplace_back(std::move(c));
      r.in_fleet = InFleet{.rank = place.rank, .clock_uncertainty = 1e-6};
      r.labels = {{kFromRank, fmt::format("{}", from)}, {kToRank, fmt::format("{}", place.rank)}};
      test::set_rate(r, from / per_node == place.node ? 50 : 10);
    }
  }
  return report;
}

std::string refusal(const Report& base, const Report& new_side, const compare::Options& options = {}) {
  try {
    static_cast<void>(compare_fleets(base, new_side, options));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(ComparedFleets, HaveEachCaseOnceForEachRank) {
  const Comparison found = compare_fleets(test::fleet_report(), test::fleet_report());
  EXPECT_EQ(found.rows.size(), 16U);
  EXPECT_EQ(found.count(Verdict::same), 16U);
  EXPECT_EQ(found.match, Match::uuid);
  EXPECT_EQ(found.rows.front().key, "copy/dir=h2d/host=pinned/size=256MiB pace=all gpu=GPU-0");
  EXPECT_EQ(found.rows.front().place, "rank 0, GPU 0 of node0");
}

TEST(ComparedFleets, FindTheSameGpuAtAnotherPlace) {
  Report new_side = with_gpus_exchanged(test::fleet_report(), 1, 6);
  test::slow_down(new_side, 1, 0.8);  // GPU-6 is at rank 1 now
  const Comparison found = compare_fleets(test::fleet_report(), new_side);
  EXPECT_EQ(keys_with(found, Verdict::regressed),
            (std::vector<std::string>{"copy/dir=h2d/host=pinned/size=256MiB pace=all gpu=GPU-6",
                                      "copy/dir=d2h/host=pinned/size=256MiB pace=all gpu=GPU-6"}));
  const auto moved = std::ranges::find(found.rows, Verdict::regressed, &compare::Row::verdict);
  EXPECT_EQ(moved->place, "rank 6, GPU 2 of node1; in new rank 1, GPU 1 of node0");
  EXPECT_NE(found.matched.find("8 on both sides, 2 with another rank number or host"), std::string::npos)
      << found.matched;
}

TEST(ComparedFleets, SetAReplacedGpuAgainstItsPredecessorByRank) {
  Report new_side = test::fleet_report();
  new_side.fleet->ranks[3].environment.gpu.uuid = "GPU-new";
  test::slow_down(new_side, 3, 0.8);
  const Comparison by_uuid = compare_fleets(test::fleet_report(), new_side);
  EXPECT_EQ(by_uuid.count(Verdict::missing), 2U);
  EXPECT_EQ(by_uuid.count(Verdict::added), 2U);
  EXPECT_EQ(by_uuid.count(Verdict::regressed), 0U);
  const Comparison by_rank = compare_fleets(test::fleet_report(), new_side, matching_by(Match::rank));
  EXPECT_EQ(keys_with(by_rank, Verdict::regressed),
            (std::vector<std::string>{"copy/dir=h2d/host=pinned/size=256MiB pace=all rank=3",
                                      "copy/dir=d2h/host=pinned/size=256MiB pace=all rank=3"}));
  EXPECT_NE(by_rank.matched.find("1 with another GPU"), std::string::npos) << by_rank.matched;
}

TEST(ComparedFleets, OfDifferentNumbersOfRanksMissSome) {
  const Comparison fewer = compare_fleets(test::fleet_report({.nodes = 3}), test::fleet_report());
  EXPECT_EQ(fewer.count(Verdict::missing), 8U);
  EXPECT_EQ(fewer.count(Verdict::same), 16U);
  const Comparison more = compare_fleets(test::fleet_report(), test::fleet_report({.nodes = 3}));
  EXPECT_EQ(more.count(Verdict::added), 8U);
  Report lost = test::fleet_report();
  test::lose(lost, 2);
  EXPECT_EQ(compare_fleets(test::fleet_report(), lost).count(Verdict::missing), 2U);
}

TEST(ComparedFleets, LeaveOutWhatOnlySomeMeasuredAgain) {
  Report base = test::fleet_report();
  base.results.push_back(base.results.front());
  base.results.back().in_fleet->round = 2;
  test::set_rate(base.results.back(), 1);
  for (const Match match : {Match::uuid, Match::rank}) {
    EXPECT_EQ(compare_fleets(base, test::fleet_report(), matching_by(match)).count(Verdict::same), 16U);
  }
}

TEST(ComparedFleets, KeepPacesApart) {
  const test::FleetShape shape{.dirs = {"h2d"}, .paces = {RankConcurrency::all, RankConcurrency::one}};
  const Comparison found = compare_fleets(test::fleet_report(shape), test::fleet_report(shape));
  EXPECT_EQ(found.count(Verdict::same), 16U);
  compare::Options options;
  options.only = {"* pace=one *"};
  EXPECT_EQ(compare_fleets(test::fleet_report(shape), test::fleet_report(shape), options).rows.size(), 8U);
  options.only = {"copy/dir=h2d/host=pinned/size=256MiB"};
  EXPECT_EQ(compare_fleets(test::fleet_report(shape), test::fleet_report(shape), options).rows.size(), 16U);
}

TEST(ComparedFleets, SetTransfersBetweenTheSameEndsAgainstEachOther) {
  for (const Match match : {Match::uuid, Match::rank}) {
    const Comparison found = compare_fleets(all_pairs(2, 2), all_pairs(3, 2), matching_by(match));
    EXPECT_EQ(found.count(Verdict::same), 12U) << "all pairs of 4 ranks";
    EXPECT_EQ(found.count(Verdict::added), 18U) << "and those that 6 have beside them";
    EXPECT_EQ(found.rows.size(), 30U);
  }
}

TEST(ComparedFleets, FindTheTransferThatBecameSlow) {
  Report new_side = all_pairs(3, 2);
  const auto slow =
      std::ranges::find_if(new_side.results, [](const Result& r) { return r.ranks_of_transfer() == std::pair(3, 1); });
  test::set_rate(*slow, 5);
  const Comparison by_uuid = compare_fleets(all_pairs(2, 2), new_side);
  EXPECT_EQ(keys_with(by_uuid, Verdict::regressed),
            (std::vector<std::string>{"copy/dir=h2d/host=pinned/size=256MiB pace=all from=GPU-3 to=GPU-1"}));
  const Comparison by_rank = compare_fleets(all_pairs(2, 2), new_side, matching_by(Match::rank));
  EXPECT_EQ(keys_with(by_rank, Verdict::regressed),
            (std::vector<std::string>{"copy/dir=h2d/host=pinned/size=256MiB pace=all from=3 to=1"}));
  const auto row = std::ranges::find(by_uuid.rows, Verdict::regressed, &compare::Row::verdict);
  EXPECT_EQ(row->place, "rank 3, GPU 1 of node1 to rank 1, GPU 1 of node0");
}

TEST(ComparedFleets, AreMatchedByRankWhereUuidsTellNothing) {
  Report shared = test::fleet_report();
  shared.fleet->ranks[5].environment.gpu.uuid = "GPU-4";
  EXPECT_EQ(compare_fleets(shared, shared).match, Match::rank);
  EXPECT_NE(refusal(shared, shared, matching_by(Match::uuid)).find("ranks 4 and 5"), std::string::npos);
  shared.fleet->ranks[5].environment.gpu.uuid.clear();
  EXPECT_EQ(compare_fleets(shared, shared).match, Match::rank);
  EXPECT_NE(refusal(shared, shared, matching_by(Match::uuid)).find("rank 5 of a.json has no UUID"), std::string::npos);
}

TEST(ComparedFleets, AreNotComparedWithASingleProcess) {
  Report single = test::simulated_report();
  Result r(test::copy_case("h2d", "pinned", 268435456));
  test::set_rate(r, 55);
  single.results = {r};
  EXPECT_NE(refusal(test::fleet_report(), single).find("a.json has 8 ranks and b.json is from a single process"),
            std::string::npos);
  EXPECT_NE(refusal(single, single, matching_by(Match::rank)).find("--match"), std::string::npos);
}

TEST(ComparedFleets, SayWhereInTheirReports) {
  Report new_side = test::fleet_report();
  test::slow_down(new_side, 3, 0.8);
  const Comparison found = compare_fleets(test::fleet_report(), new_side);
  const std::string table = to_terminal(document_of(found, true), Style{});
  EXPECT_NE(table.find("rank 3, GPU 3 of node0"), std::string::npos) << table;
  EXPECT_NE(table.find("8 x NVIDIA H200 on 2 hosts"), std::string::npos) << table;
  EXPECT_NE(table.find("ranks matched by GPU UUID"), std::string::npos) << table;
  EXPECT_NE(to_markdown(document_of(found)).find("rank 3, GPU 3 of node0"), std::string::npos);
  const std::string json = to_json(found);
  EXPECT_NE(json.find("\"matched_by\": \"uuid\""), std::string::npos);
  EXPECT_NE(json.find("\"place\":\"rank 3, GPU 3 of node0\""), std::string::npos) << json;
}

TEST(ComparedFleets, SayWhatDiffersBetweenTheirRanks) {
  Report new_side = test::fleet_report();
  new_side.fleet->ranks[2].environment.driver = "590.1";
  const Comparison found = compare_fleets(test::fleet_report(), new_side);
  const auto of_driver = std::ranges::find(found.differences, "driver", &compare::Difference::what);
  ASSERT_NE(of_driver, found.differences.end());
  EXPECT_EQ(of_driver->new_side, "590.1, unknown");
  for (const auto& d : found.differences) EXPECT_EQ(d.what, "driver");
}

// --- Fleets in check ------------------------------------------------------------------------------------------------

check::Expectations at_least(double rate) {
  check::Expectations expectations;
  expectations.source = "limits.json";
  check::Expectation e;
  e.name = "copies";
  e.scenario = "copy";
  e.number = "bandwidth";
  e.at_least = check::Limit{.amount = {.value = rate, .unit = "GB/s", .written = "GB/s"}, .of = ""};
  expectations.all = {e};
  return expectations;
}

check::Checked checked(const Report& report, const check::Expectations& expectations) {
  return check::check(report, "f.json", expectations, {.allow_simulated = true});
}

TEST(CheckedFleets, AreHeldRankByRankAgainstLimits) {
  Report report = test::fleet_report({.dirs = {"h2d"}});
  test::slow_down(report, 6, 0.8);
  EXPECT_TRUE(checked(report, at_least(20)).all_hold());
  const check::Checked found = checked(report, at_least(27));
  ASSERT_EQ(found.rows.size(), 1U);
  EXPECT_EQ(found.rows[0].cases, 8U);
  EXPECT_EQ(found.rows[0].verdict, check::Verdict::fails);
}

TEST(CheckedFleets, NameTheRankThatDecides) {
  Report report = test::fleet_report({.dirs = {"h2d"}});
  test::slow_down(report, 6, 0.5);
  const check::Row row = checked(report, at_least(20)).rows.at(0);
  EXPECT_EQ(row.key, "copy/dir=h2d/host=pinned/size=256MiB pace=all rank=6");
  EXPECT_EQ(row.place, "GPU 2 of node1");
}

TEST(CheckedFleets, AreNotCompleteWithoutEveryRank) {
  Report report = test::fleet_report({.dirs = {"h2d"}});
  test::lose(report, 1);
  const check::Checked found = checked(report, at_least(20));
  EXPECT_FALSE(found.complete);
  EXPECT_FALSE(found.all_hold());
}

TEST(CheckedFleets, MayBeHeldAgainstLimitsOfOnePace) {
  Report report = test::fleet_report({.dirs = {"h2d"}, .paces = {RankConcurrency::all, RankConcurrency::one}});
  check::Expectations expectations = at_least(50);
  expectations.all[0].where = {
      {.axis = "pace", .any_of = {{.text = "one", .bound = check::Bound::equal, .amount = {}}}}};
  const check::Checked found = checked(report, expectations);
  EXPECT_TRUE(found.all_hold());
  EXPECT_EQ(found.rows[0].cases, 8U);
  EXPECT_FALSE(checked(report, at_least(50)).all_hold());
}

TEST(CheckedFleets, MakeNoLimits) {
  const std::vector<NamedReport> runs{{"f.json", test::fleet_report()}};
  EXPECT_THROW(static_cast<void>(check::derive(runs, {.allow_simulated = true})), UsageError);
}

}  // namespace
}  // namespace xferbench
