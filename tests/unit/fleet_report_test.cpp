// Reports of a fleet: tables, Markdown and CSV.

#include <algorithm>
#include <array>
#include <map>

#include "paper/writers.hpp"
#include "report/run/run_report.hpp"
#include "support/golden.hpp"
#include "unit/fleet_fixture.hpp"
#include "unit/support.hpp"
#include "words/run.hpp"

namespace xferbench {
namespace {

const std::array<const ScenarioDescriptor*, 1> kCopy{&test::copy_descriptor()};

std::string table_of(const Report& report, bool every_row = false) {
  return to_terminal(document_of(report, kCopy, {.every_row = every_row}), Style{.every_row = every_row});
}

/// Two hosts in three modes of concurrency, with a slow link, a lost rank, a failed case and late ranks.
Report troubled_fleet() {
  Report report = test::fleet_report({.paces = {RankConcurrency::all, RankConcurrency::node, RankConcurrency::one}});
  test::slow_down(report, 6, 0.9);
  test::lose(report, 2);
  Result& failed = report.results[3];
  failed.status = Status::failed;
  failed.reason = "wrong byte at 4096";
  failed.measurements.clear();
  failed.metrics.clear();
  report.results[5].in_fleet->passes = 20;
  report.results[5].in_fleet->late_passes = 3;
  report.results[5].warnings = {"drift (copy): the machine was not steady"};
  report.fleet->flagged = {
      {.what = Flagged::What::link,
       .ranks = {6},
       .name = "link of rank 6 (node1, GPU-6)",
       .shortfall = 0.101,
       .tests = {"copy/dir=h2d/host=pinned/size=256MiB pace=all"},
       .text = "the link of rank 6 (node1, GPU-6) is 10.1 % below the median of its group, and so again"},
      {.what = Flagged::What::rank, .ranks = {2}, .name = "rank 2", .text = "stopped answering"}};
  report.fleet->differences = {"ranks differ in their driver: 580.1 on ranks 0 to 6, 570.2 on rank 7"};
  report.fleet->notes = {"groups of fewer than 5 ranks were compared with their best"};
  report.complete = false;
  return report;
}

TEST(FleetReport, HasItsTable) {
  test::expect_golden("fleet.txt", table_of(troubled_fleet()));
  const std::string every_rank = table_of(test::fleet_report(), true);
  EXPECT_TRUE(test::mentions(every_rank, "\n  rank  host   GPU  dir=h2d all  dir=d2h all\n"));
  EXPECT_TRUE(test::mentions(every_rank, "\n  7     node1  3     32.87 GB/s   33.03 GB/s\n"));
}

TEST(FleetReport, HasNoColumnWithoutAnyText) {
  const std::string all_paces = table_of(
      test::fleet_report({.nodes = 1, .paces = {RankConcurrency::all, RankConcurrency::node, RankConcurrency::one}}));
  EXPECT_TRUE(test::mentions(all_paces, "one node at a time"));
  EXPECT_FALSE(test::mentions(all_paces, "by host")) << "of a single one";
  const std::string two_paces = table_of(test::fleet_report({.paces = {RankConcurrency::all, RankConcurrency::one}}));
  EXPECT_TRUE(test::mentions(two_paces, "all / one"));
  EXPECT_FALSE(test::mentions(two_paces, "one node at a time"));
  EXPECT_FALSE(test::mentions(two_paces, "node / one"));
}

/// Matrices of the document, by title.
std::map<std::string, Matrix> maps_of(const Report& report) {
  std::map<std::string, Matrix> maps;
  for (const Part& part : document_of(report, kCopy).parts) {
    if (const auto* matrix = std::get_if<Matrix>(&part.content)) maps.emplace(matrix->title, *matrix);
  }
  return maps;
}

TEST(FleetReport, HasAMapOfNodesAndRanksForEachTestWithMarksOnWhatItFlags) {
  const auto maps = maps_of(troubled_fleet());
  ASSERT_EQ(maps.size(), 6U) << "two directions at three paces";
  const Matrix& flagged = maps.at("dir=h2d, concurrency all: % of the median of its group");
  EXPECT_EQ(flagged.rows, (std::vector<std::string>{"node0", "node1"}));
  EXPECT_EQ(flagged.columns, (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_FALSE(flagged.cells[2].has_value()) << "of what is missing there is none";
  EXPECT_TRUE(flagged.marked[6]);
  EXPECT_EQ(std::ranges::count(flagged.marked, true), 1);
  for (const auto& [title, map] : maps) {
    if (&map == &flagged) continue;
    EXPECT_EQ(std::ranges::count(map.marked, true), 0) << title;
  }
  const Matrix& alone = maps.at("dir=d2h, concurrency one: % of the median of its group");
  EXPECT_NEAR(*alone.cells[6], 0.9, 0.01);
  EXPECT_NEAR(*alone.cells[5], 1, 0.01);
}

TEST(FleetReport, HoldsTransfersAgainstThoseBetweenTheSameEnds) {
  Report report = test::fleet_report({.dirs = {"h2d"}});
  for (Result& r : report.results) {
    const int to = r.in_fleet->rank;
    const int from = (to + 7) % 8;
    r.labels = {{kFromRank, std::to_string(from)}, {kToRank, std::to_string(to)}};
    test::set_rate(r, from / 4 == to / 4 ? 50 : 10);
  }
  report.fleet->flagged = {
      {.what = Flagged::What::pair, .ranks = {2, 3}, .tests = {"copy/dir=h2d/host=pinned/size=256MiB pace=all"}}};
  const auto maps = maps_of(report);
  ASSERT_EQ(maps.size(), 1U);
  const Matrix& map = maps.begin()->second;
  for (const auto& cell : map.cells) EXPECT_NEAR(*cell, 1, 1e-9) << "those between hosts are slower";
  EXPECT_TRUE(map.marked[3]);
  EXPECT_EQ(std::ranges::count(map.marked, true), 1);
}

TEST(FleetReport, OfThousandsOfRanksIsAPageOfASensibleSize) {
  Report report = test::fleet_report({.nodes = 300, .per_node = 8});
  test::lose(report, 1000);
  const std::string page = to_html(document_of(report, kCopy));
  EXPECT_LT(page.size(), 150'000U);
  EXPECT_TRUE(test::mentions(page, ">node200 to node299</text>"));
  EXPECT_TRUE(test::mentions(page, "flagged and missing ranks only; the results file has all"));
  EXPECT_FALSE(test::mentions(page, "Every rank"));
  EXPECT_TRUE(test::mentions(to_html(document_of(test::fleet_report(), kCopy)), "Every rank"));
}

TEST(FleetReport, NamesLateRanksByTheirShareOfAllPasses) {
  Report report = test::fleet_report();
  InFleet& late = *report.results[5].in_fleet;
  late.late_passes = 3;
  late.passes = 60;
  EXPECT_NE(table_of(report).find("a rank started late: rank 5"), std::string::npos) << table_of(report);
  late.passes = 61;
  EXPECT_EQ(table_of(report).find("a rank started late"), std::string::npos)
      << "those of the warm-up and of other regions count, too";
  late.passes = 0;
  EXPECT_EQ(table_of(report).find("a rank started late"), std::string::npos) << "it is not known of how many";
}

TEST(FleetReport, FitsATerminal) {
  const std::string table =
      to_terminal(document_of(troubled_fleet(), kCopy, {.every_row = false}), Style{.columns = 80});
  std::size_t longest = 0;
  for (std::size_t at = 0, end = 0; (end = table.find('\n', at)) != std::string::npos; at = end + 1) {
    longest = std::max(longest, end - at);
  }
  EXPECT_LE(longest, 100U) << table;
}

TEST(FleetReport, HasItsMarkdownForTickets) {
  const std::string text = to_markdown(document_of(troubled_fleet(), kCopy));
  test::expect_golden("fleet.md", text);
  EXPECT_LT(text.find("## Flagged"), text.find("## copy"));
}

TEST(FleetReport, HasOneTableAndNotARowForEachRank) {
  const std::string few = table_of(test::fleet_report());
  const std::string many = table_of(test::fleet_report({.nodes = 100}));
  EXPECT_EQ(std::ranges::count(few, '\n'), std::ranges::count(many, '\n'));
  EXPECT_NE(many.find("400 x NVIDIA H200 on 100 hosts"), std::string::npos) << many;
}

TEST(FleetReport, SaysThatNothingIsFlaggedOnlyOfAWholeRun) {
  Report report = test::fleet_report();
  EXPECT_NE(table_of(report).find("nothing is flagged"), std::string::npos);
  report.complete = false;
  EXPECT_EQ(table_of(report).find("nothing is flagged"), std::string::npos);
  EXPECT_NE(table_of(report).find("INCOMPLETE"), std::string::npos);
}

TEST(FleetReport, SaysWhereNothingCouldBeJudged) {
  Report report = test::fleet_report();
  const auto said_of = [&](const FleetJudgement& judgement) {
    report.fleet->judgement = judgement;
    return to_terminal(document_of(report, kCopy, {.every_row = false}), Style{.color = true});
  };
  const std::string good = said_of({.tests = 2, .judged = 2});
  const std::string mark = good.substr(good.find("nothing is flagged") - 7, 7);
  const auto is_green = [&](const std::string& table) { return table.find(mark + "nothing") != std::string::npos; };
  EXPECT_TRUE(is_green(good)) << good;
  const std::string none = said_of({.tests = 2, .judged = 0});
  EXPECT_NE(none.find("no test could be judged"), std::string::npos);
  EXPECT_FALSE(is_green(none));
  const std::string some = said_of({.tests = 2, .judged = 1});
  EXPECT_NE(some.find("nothing is flagged in 1 of 2 tests"), std::string::npos);
  EXPECT_FALSE(is_green(some));
  const std::string open = said_of({.tests = 2, .judged = 2, .unresolved = 1});
  EXPECT_NE(open.find("nothing is flagged; a suspicion could be neither"), std::string::npos);
  EXPECT_FALSE(is_green(open));
  EXPECT_NE(to_markdown(document_of(report, kCopy)).find("a suspicion could be neither"), std::string::npos);
}

TEST(FleetReport, TellsRoundsApartInWhatFailedAndSkipsWhoWasNotAskedAgain) {
  Report report = test::fleet_report({.nodes = 1, .per_node = 2, .dirs = {"h2d"}});
  report.results.push_back(report.results[0]);
  report.results[0].status = report.results[2].status = Status::failed;
  report.results[0].reason = report.results[2].reason = "wrong byte";
  report.results[2].in_fleet->round = 2;
  const std::string failed = table_of(report);
  EXPECT_EQ(failed.find("every rank"), std::string::npos) << failed;
  EXPECT_NE(failed.find("pace=all: rank 0"), std::string::npos) << failed;
  EXPECT_NE(failed.find("pace=all, measured again: rank 0"), std::string::npos) << failed;
  report.results[2].status = Status::skipped;
  report.results[2].reason = "rank 1, the partner, is not measured in this pass";
  EXPECT_EQ(table_of(report).find("the partner"), std::string::npos);
}

TEST(FleetReport, SaysWhichRanksAreSimulatedByAnotherProfile) {
  Report report = test::fleet_report();
  report.fleet->ranks[6].environment.profile = "slow-link";
  EXPECT_NE(table_of(report).find("SIMULATED by profile slow-link: rank 6 (GPU 2 of node1)"), std::string::npos);
}

TEST(FleetReport, NamesBothRanksOfAPair) {
  Report report = test::fleet_report({.dirs = {"h2d"}});
  for (Result& r : report.results) {
    const int rank = r.in_fleet->rank;
    r.labels = {{"from", fmt::format("{}", rank)}, {"to", fmt::format("{}", (rank + 1) % 8)}};
  }
  test::slow_down(report, 3, 0.5);
  EXPECT_NE(table_of(report).find("rank 3 (GPU 3 of node0) to rank 4 (GPU 0 of node1)"), std::string::npos)
      << table_of(report);
}

TEST(FleetReport, NamesAGpuByItsOwnNumber) {
  RankPlace place = test::fleet_report().fleet->ranks[3];
  EXPECT_EQ(where_text(place), "GPU 3 of node0") << "a simulated host has as many GPUs as ranks";
  place.environment.gpu.index = 1;
  place.environment.gpu.pci_bus_id = "0000:17:00.0";
  EXPECT_EQ(where_text(place), "GPU 1 of node0") << "two ranks share one";
  const auto visible_by = [&](const char* value) {
    place.environment.variables = {{"CUDA_VISIBLE_DEVICES", value}};
    return gpu_text(place);
  };
  EXPECT_EQ(visible_by("4,6"), "6");
  EXPECT_EQ(visible_by("4, 6 "), "6");
  EXPECT_EQ(visible_by("GPU-a,GPU-b"), "0000:17:00.0") << "it has no number there";
  EXPECT_EQ(visible_by(""), "1");
  EXPECT_EQ(visible_by("4"), "1");
  place.environment.gpu.pci_bus_id.clear();
  EXPECT_EQ(visible_by("GPU-a,GPU-b"), "GPU-b");
}

TEST(FleetReport, NamesAMissingRankOnceWhoeverSaysIt) {
  Report report = test::fleet_report();
  test::lose(report, 2);
  EXPECT_NE(table_of(report).find("rank 2 (GPU 2 of node0) is missing"), std::string::npos);
  report.fleet->flagged = {{.what = Flagged::What::rank, .ranks = {2}, .name = "rank 2", .text = "gone"}};
  EXPECT_EQ(table_of(report).find("is missing"), std::string::npos);
}

TEST(FleetReport, HasACsvWithARowForEachRank) {
  const std::string csv = to_csv(test::fleet_report({.nodes = 1, .per_node = 2, .dirs = {"h2d"}}), kCopy);
  EXPECT_NE(csv.find(",injected_fault,complete,rank,rank_host,pace,round,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",1,node0,all,1,"), std::string::npos) << csv;
}

}  // namespace
}  // namespace xferbench
