// Judgement of fleets: which ranks are suspects, measured again, and flagged.
#include "fleet/judgement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "fleet/suspicion.hpp"
#include "model/matching.hpp"
#include "support/synthetic_fleet.hpp"

namespace xferbench::fleet {
namespace {

using test::Fault;
using test::FleetPlan;
using test::made_case;
using test::SyntheticFleet;
using Low = std::vector<std::size_t>;

/// A fleet without noise: ranks differ only by the given faults.
SyntheticFleet exact_fleet(int nodes, int ranks_per_node, std::vector<Fault> faults = {}) {
  return SyntheticFleet({.nodes = nodes, .ranks_per_node = ranks_per_node, .noise = 0, .faults = std::move(faults)});
}

/// Makes the rank's numbers of one case and round worse by a relative `share`.
void worsen(Report& report, const std::string& what, int rank, double share, unsigned round) {
  for (Result& result : report.results) {
    if (result.config.key() != made_case(what).key()) continue;
    if (result.in_fleet->rank != rank || result.in_fleet->round != round) continue;
    for (Metric& metric : result.metrics) metric.value *= 1 - share;
    for (Measurement& m : result.measurements) m.median /= 1 - share;
  }
}

const std::vector<Flagged>& flagged(const SyntheticFleet& made) { return made.report.fleet->flagged; }
/// The texts of all flagged ranks, one per line.
std::string said(const SyntheticFleet& made) {
  std::string all;
  for (const Flagged& one : flagged(made)) all += one.text + "\n";
  return all;
}
using Ranks = std::vector<int>;

/// Whether the text contains all parts.
testing::AssertionResult has(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) {
      return testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
    }
  }
  return testing::AssertionSuccess();
}

const std::vector<std::string>& notes(const SyntheticFleet& made) { return made.report.fleet->notes; }

// --- Outliers --------------------------------------------------------------------------------------------------------

Low low_of(const std::vector<double>& speeds) { return pool_outliers({speeds}, {}).front().low; }

TEST(PoolOutliers, IsLowBeyondTheThresholdAndTheSpread) {
  EXPECT_EQ(low_of({100, 100.1, 99.9, 100.2, 99.8, 96.9}), (Low{5}));
  EXPECT_EQ(low_of({100, 100.1, 99.9, 100.2, 99.8, 97.2}), Low{}) << "far, but within the threshold";
  EXPECT_EQ(low_of({100, 102, 98, 104, 96, 90}), Low{}) << "beyond the threshold, but they all are far apart";
  EXPECT_EQ(low_of({100, 102, 98, 104, 96, 70}), (Low{5}));
  EXPECT_EQ(low_of({100, 100.1, 99.9, 100.2, 99.8, 120}), Low{}) << "what is better is not low";
}

TEST(PoolOutliers, WithoutASpreadIsBeyondTheThresholdAlone) {
  EXPECT_EQ(low_of({100, 100, 100, 100, 100, 96.9}), (Low{5}));
  EXPECT_EQ(low_of({100, 100, 100, 100, 100, 97.1}), Low{});
}

TEST(PoolOutliers, OfFewIsComparedWithTheBest) {
  EXPECT_EQ(low_of({100, 96.9, 97.1, 50}), (Low{1, 3}));
  EXPECT_EQ(low_of({100}), Low{});
  EXPECT_TRUE(pool_outliers({{100, 50}}, {}).front().best);
  EXPECT_EQ(pool_outliers({{100, 50}}, {}).front().reference, 100);
}

TEST(PoolOutliers, OfSeveralPoolsIsWithinEachByTheSpreadOfAll) {
  const auto all = pool_outliers({{100, 100.1, 99.9, 100.2}, {80, 80.1, 79.9, 72}}, {});
  EXPECT_EQ(all[0].low, Low{});
  EXPECT_EQ(all[1].low, (Low{3}));
  EXPECT_NEAR(all[1].reference, 79.95, 1e-9);
}

TEST(PoolOutliers, OfATimeIsThatOfItsRate) {
  const fleet::Test time{.better = Better::lower, .values = {}};
  EXPECT_DOUBLE_EQ(shortfall(speed_of(time, 1.25), speed_of(time, 1)), 0.2);
  EXPECT_EQ(shortfall(1, 0), 0) << "nothing is below nothing";
}

// --- Flags -----------------------------------------------------------------------------------------------------------

TEST(FleetJudgement, FlagsNobodyWhereAllAreAlike) {
  SyntheticFleet made = exact_fleet(2, 4);
  EXPECT_TRUE(retests_of(made.report, {}).empty());
  made.judge();
  EXPECT_EQ(said(made), "");
}

TEST(FleetJudgement, NamesALinkWhereWorkOnTheGpuIsAsFastAsElsewhere) {
  SyntheticFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}});
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  const Flagged& link = flagged(made).front();
  EXPECT_EQ(link.what, Flagged::What::link);
  EXPECT_EQ(link.ranks, (Ranks{5}));
  EXPECT_NEAR(link.shortfall, 0.1, 1e-9);
  EXPECT_EQ(link.tests.size(), 3U);
  EXPECT_TRUE(has(link.text,
                  {"link of rank 5 (GPU 1 of node001, GPU-00000005", "00000000:11:00.0", "10.0 %", "in 3 of 4 tests"}));
}

TEST(FleetJudgement, NamesAGpuWhereWorkOnItIsSlow) {
  const Fault gpu{.of = Fault::Of::gpu, .where = 2};
  SyntheticFleet alone = exact_fleet(2, 4, {gpu});
  alone.judge();
  ASSERT_EQ(flagged(alone).size(), 1U);
  EXPECT_EQ(flagged(alone).front().what, Flagged::What::gpu);
  SyntheticFleet both = exact_fleet(2, 4, {gpu, {.of = Fault::Of::link, .where = 2}});
  both.judge();
  ASSERT_EQ(flagged(both).size(), 1U);
  EXPECT_EQ(flagged(both).front().what, Flagged::What::gpu) << "in all tests";
  EXPECT_EQ(flagged(both).front().tests.size(), 4U);
}

TEST(FleetJudgement, SaysHowToTellALinkFromItsGpu) {
  SyntheticFleet made({.noise = 0, .faults = {{.of = Fault::Of::link, .where = 5}}, .cases = {"h2d", "d2h"}});
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::link);
  EXPECT_TRUE(has(flagged(made).front().text, {"xferbench memcpy --dir d2d"}));
}

TEST(FleetJudgement, NamesAHostWhereAllItsRanksAreSlow) {
  for (const int nodes : {2, 3, 4, 5, 6, 16}) {
    SyntheticFleet made = exact_fleet(nodes, 4, {{.of = Fault::Of::host, .where = 1}});
    made.judge();
    ASSERT_EQ(flagged(made).size(), 1U) << nodes;
    EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
    EXPECT_EQ(flagged(made).front().ranks, (Ranks{4, 5, 6, 7}));
    EXPECT_TRUE(has(flagged(made).front().text, {"host node001 (ranks 4 to 7)"}));
  }
}

/// Adds a case in which rank i has rates[i] GB/s, in both rounds.
void add_test(SyntheticFleet& made, const std::string& what, DataPath path, const std::vector<double>& rates) {
  Case c("memcpy");
  c.set({.name = "what", .kind = AxisKind::choice}, what);
  for (const unsigned round : {1U, 2U}) {
    for (std::size_t rank = 0; rank < rates.size(); ++rank) {
      Result& result = made.report.results.emplace_back(c);
      result.in_fleet = InFleet{.rank = static_cast<int>(rank), .round = round, .path = path};
      result.add("bandwidth", rates[rank], "GB/s");
    }
  }
}

/// A fleet without results.
SyntheticFleet empty_fleet(int nodes, int ranks_per_node) {
  return SyntheticFleet({.nodes = nodes, .ranks_per_node = ranks_per_node, .cases = {}});
}

TEST(FleetJudgement, TakesNoHostForSlowThatIsAsFarFromTheMiddleAsOthers) {
  SyntheticFleet made = empty_fleet(6, 2);
  std::vector<double> rates;
  for (const double host : {96.0, 100.0, 92.0, 98.0, 94.0, 90.0}) rates.insert(rates.end(), 2, host);
  add_test(made, "h2d", DataPath::link, rates);
  judge(made.report, {});
  EXPECT_EQ(said(made), "");
}

TEST(FleetJudgement, JudgesOtherModelsOnASlowHostAmongTheirLike) {
  SyntheticFleet made = empty_fleet(3, 3);
  for (const std::size_t rank : {2U, 5U, 8U}) made.report.fleet->ranks[rank].environment.gpu.name = "NVIDIA A100";
  add_test(made, "h2d", DataPath::link, {55, 55, 25, 49, 49, 12, 55, 55, 25});
  judge(made.report, {});
  ASSERT_EQ(flagged(made).size(), 2U) << said(made);
  EXPECT_EQ(flagged(made)[0].ranks, (Ranks{3, 4}));
  EXPECT_TRUE(has(flagged(made)[0].text, {"all NVIDIA H200 on PCIe 5 x16 of host node001 (ranks 3 and 4)"}));
  EXPECT_EQ(flagged(made)[1].ranks, (Ranks{5}));
}

TEST(FleetJudgement, JudgesGpusOfAHostWithSlowLinksAmongAll) {
  for (const bool slow_links : {false, true}) {
    SyntheticFleet made = empty_fleet(3, 2);
    const double link = slow_links ? 40 : 55;
    add_test(made, "h2d", DataPath::link, {55, 55, link, link, 55, 55});
    add_test(made, "d2d", DataPath::gpu, {2000, 2000, 2000, 1900, 2000, 2000});
    judge(made.report, {});
    ASSERT_EQ(flagged(made).size(), slow_links ? 2U : 1U) << said(made);
    EXPECT_EQ(flagged(made).back().what, Flagged::What::gpu);
    EXPECT_EQ(flagged(made).back().ranks, (Ranks{3}));
  }
}

TEST(FleetJudgement, HoldsTwoOnASlowHostAgainstTheBetter) {
  SyntheticFleet made = empty_fleet(3, 2);
  add_test(made, "h2d", DataPath::link, {55, 55, 40, 38, 55, 55});
  judge(made.report, {});
  ASSERT_EQ(flagged(made).size(), 2U) << said(made);
  EXPECT_EQ(flagged(made)[1].ranks, (Ranks{3}));
  EXPECT_NEAR(flagged(made)[1].shortfall, 0.05, 1e-9);
}

TEST(FleetJudgement, TakesNoLinkForSlowWhoseCopiesAreFast) {
  SyntheticFleet made = empty_fleet(1, 8);
  const std::vector<double> fine(8, 55);
  std::vector<double> slow = fine;
  slow[1] = 49;
  for (const char* what : {"h2d", "d2h"}) add_test(made, what, DataPath::link, fine);
  add_test(made, "d2d", DataPath::gpu, fine);
  add_test(made, "overlap", DataPath::mixed, slow);
  judge(made.report, {});
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::gpu);
  EXPECT_TRUE(has(flagged(made).front().text, {"GPU or host process of rank 1", "copies over its link and work"}));
}

TEST(FleetJudgement, DoesNotTellALinkByWhatIsNotOfItAlone) {
  SyntheticFleet made = empty_fleet(1, 8);
  std::vector<double> slow(8, 55);
  slow[1] = 49;
  add_test(made, "overlap", DataPath::mixed, slow);
  judge(made.report, {});
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_TRUE(has(flagged(made).front().text, {"link or GPU of rank 1", "--dir h2d,d2h,d2d"}));
}

TEST(FleetJudgement, SaysWhatWasNotConfirmedOfWhoIsFlagged) {
  SyntheticFleet made({.noise = 0, .faults = {{.of = Fault::Of::link, .where = 5}}});
  worsen(made.report, "d2d", 5, 0.1, 1);
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_TRUE(has(flagged(made).front().text, {"link or GPU of rank 5", "unconfirmed"}));
  EXPECT_TRUE(has(notes(made).back(), {"rank 5", "dir=d2d", "was not slow in the second measurement"}));
}

TEST(FleetJudgement, KnowsWhatItRestsOn) {
  SyntheticFleet made = exact_fleet(2, 4);
  made.judge();
  EXPECT_EQ(made.report.fleet->judgement, (FleetJudgement{.tests = 4, .judged = 4, .unresolved = 0}));
  for (Result& result : made.report.results) {
    if (result.config.scenario() == "memcpy") result.in_fleet->clock_uncertainty = 1;
  }
  judge(made.report, {});
  EXPECT_EQ(made.report.fleet->judgement, (FleetJudgement{.tests = 4, .judged = 1, .unresolved = 0}));
  SyntheticFleet slow = exact_fleet(2, 4, {{.of = Fault::Of::gpu, .where = 3}});
  judge(slow.report, {});
  EXPECT_EQ(slow.report.fleet->judgement->unresolved, 1U) << "nobody measured again";
  SyntheticFleet one = exact_fleet(1, 1);
  one.judge();
  EXPECT_EQ(one.report.fleet->judgement, (FleetJudgement{.tests = 4, .judged = 0, .unresolved = 0}));
}

TEST(FleetGroups, ThatAreSmallInATestAreNoted) {
  SyntheticFleet made = exact_fleet(1, 5);
  judge(made.report, {});
  EXPECT_TRUE(notes(made).empty());
  for (Result& result : made.report.results) {
    if (result.in_fleet->rank == 2 && result.config.scenario() == "latency") result.status = Status::failed;
  }
  judge(made.report, {});
  ASSERT_EQ(notes(made).size(), 1U);
  EXPECT_TRUE(has(notes(made)[0], {"only 4 ranks with NVIDIA H200", "latency", "compared with the best"}));
}

TEST(FleetJudgement, TakesNoHostForSlowOneOfWhoseRanksIsNot) {
  SyntheticFleet made = exact_fleet(6, 3);
  for (const int rank : {3, 4}) worsen(made.report, "h2d", rank, 0.1, 1);
  const FirstRound first(made.report, {});
  std::vector<Subject> subjects;
  for (const auto& judged : first.tests()) {
    for (const Suspicion& s : judged.suspicions) subjects.push_back(s.subject);
  }
  EXPECT_EQ(subjects, (std::vector<Subject>{{Subject::Of::rank, 3}, {Subject::Of::rank, 4}}));
}

TEST(FleetJudgement, SaysWhereAHostIsSlowInsideItsGpusToo) {
  std::vector<Fault> faults{{.of = Fault::Of::host, .where = 1}};
  for (int rank = 4; rank < 8; ++rank) faults.push_back({.of = Fault::Of::gpu, .where = rank});
  SyntheticFleet made = exact_fleet(2, 4, faults);
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
  EXPECT_TRUE(has(flagged(made).front().text, {"over the links and inside the GPUs"}));
}

TEST(FleetJudgement, FindsASlowGpuAndASlowLinkOnASlowHost) {
  for (const Fault::Of of : {Fault::Of::gpu, Fault::Of::link}) {
    SyntheticFleet made = exact_fleet(3, 4, {{.of = Fault::Of::host, .where = 2}, {.of = of, .where = 9}});
    made.judge();
    ASSERT_EQ(flagged(made).size(), 2U);
    EXPECT_EQ(flagged(made)[0].what, Flagged::What::host);
    EXPECT_EQ(flagged(made)[1].ranks, (Ranks{9}));
    EXPECT_EQ(flagged(made)[1].what, of == Fault::Of::gpu ? Flagged::What::gpu : Flagged::What::link);
    EXPECT_EQ(flagged(made)[1].text.find("of its host") == std::string::npos, of == Fault::Of::gpu)
        << "slow links of its host say nothing of its GPU";
  }
}

TEST(FleetJudgement, LeavesInWhatRanksDifferAsItIs) {
  SyntheticFleet made = exact_fleet(3, 1, {});
  made.report.fleet->differences = {"ranks differ in their driver: 580.1 on ranks 0 and 1, 570.2 on rank 2"};
  made.judge();
  EXPECT_EQ(made.report.fleet->differences.size(), 1U);
}

TEST(FleetJudgement, CannotTellAHostFromItsOnlyRank) {
  SyntheticFleet made = exact_fleet(3, 1, {{.of = Fault::Of::host, .where = 1}});
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::link);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{1}));
  EXPECT_TRUE(has(flagged(made).front().text, {"the best", "only rank of its host"}));
  ASSERT_EQ(notes(made).size(), 1U);
  EXPECT_TRUE(has(notes(made)[0], {"compared with the best"}));
}

TEST(FleetJudgement, FlagsWhoIsMissingAndAsksNothingMoreOfThem) {
  SyntheticFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}, {.of = Fault::Of::link, .where = 6}});
  made.report.fleet->missing = {6, 77};
  for (const Retest& retest : retests_of(made.report, {})) {
    EXPECT_EQ(std::ranges::find(retest.ranks, 6), retest.ranks.end());
  }
  made.judge();
  ASSERT_EQ(flagged(made).size(), 3U);
  EXPECT_EQ(flagged(made)[0].what, Flagged::What::rank);
  EXPECT_TRUE(has(flagged(made)[0].name, {"rank 6 (GPU 2 of node001"}));
  EXPECT_TRUE(flagged(made)[0].tests.empty());
  EXPECT_EQ(flagged(made)[1].name, "rank 77") << "nobody knows where that was";
  EXPECT_EQ(flagged(made)[2].ranks, (Ranks{5}));
}

TEST(FleetJudgement, JudgesNoNumberOfWhichNeitherWayIsBetter) {
  SyntheticFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}});
  made.report.metrics_declared["memcpy"] = {measured("copy", "").as_headline().in("s", Better::neither)};
  made.report.metrics_declared["latency"] = {measured("latency", "").as_headline().in("s", Better::neither)};
  made.judge();
  EXPECT_EQ(said(made), "");
}

// --- Groups ----------------------------------------------------------------------------------------------------------

TEST(FleetGroups, AreByModelAndLink) {
  SyntheticFleet made = exact_fleet(2, 8, {{.of = Fault::Of::host, .where = 1}});
  const auto change = [&](auto how) {
    for (int rank = 8; rank < 16; ++rank) how(made.report.fleet->ranks[static_cast<std::size_t>(rank)].environment.gpu);
  };
  change([](Environment::Gpu& gpu) { gpu.pcie->width = gpu.pcie->max_width = 8; });
  made.judge();
  EXPECT_EQ(said(made), "") << "a narrow link is slow";
  ASSERT_EQ(notes(made).size(), 2U);
  EXPECT_TRUE(has(notes(made)[0], {"x16; each kind of link"}));
  EXPECT_TRUE(has(notes(made)[1], {"x8; each kind of link"}));
  change([](Environment::Gpu& gpu) { gpu.name = "other"; });
  made.judge();
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(notes(made).empty()) << "another model is nothing special";
}

TEST(FleetGroups, OfOneAreNoted) {
  SyntheticFleet made = exact_fleet(1, 8, {{.of = Fault::Of::link, .where = 3}});
  made.report.fleet->ranks[3].environment.gpu.pcie->generation = 4;
  made.report.fleet->ranks[3].environment.gpu.pcie->max_generation = 4;
  made.judge();
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).front(), {"rank 3", "no peers to compare with"}));
}

TEST(FleetPlaces, AreSaidInOneWay) {
  SyntheticFleet made = exact_fleet(2, 4);
  const Fleet& fleet = *made.report.fleet;
  const std::string place = rank_text(fleet, 5, Detail::place);
  EXPECT_EQ(place, "rank 5 (GPU 1 of node001)");
  EXPECT_EQ(rank_text(fleet, 5).substr(0, place.size() - 1), place.substr(0, place.size() - 1));
  EXPECT_EQ(rank_text(fleet, 77), "rank 77");
}

TEST(FleetTraining, BelowTheMaximumThatOthersReachIsALinks) {
  SyntheticFleet made = exact_fleet(1, 8);
  made.report.fleet->ranks[3].environment.gpu.pcie->width = 8;
  judge(made.report, {});
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::link);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{3}));
  EXPECT_DOUBLE_EQ(flagged(made).front().shortfall, 0.5);
  EXPECT_TRUE(has(flagged(made).front().text,
                  {"link of rank 3", "PCIe 5 x8 of PCIe 5 x16", "other GPUs of its model at PCIe 5 x16"}));
  EXPECT_TRUE(retests_of(made.report, {}).empty()) << "nothing must be measured again";
}

TEST(FleetTraining, OfAllIsNobodys) {
  SyntheticFleet made = exact_fleet(1, 8);
  for (RankPlace& place : made.report.fleet->ranks) place.environment.gpu.pcie->width = 8;
  judge(made.report, {});
  EXPECT_EQ(said(made), "") << "as the slots may be";
}

TEST(FleetTraining, IsSaidOfALinkThatIsSlowAmongItsLike) {
  SyntheticFleet made = exact_fleet(1, 8, {{.of = Fault::Of::link, .where = 3}});
  for (std::size_t rank = 0; rank < 6; ++rank) made.report.fleet->ranks[rank].environment.gpu.pcie->generation = 4;
  made.judge();
  ASSERT_EQ(flagged(made).size(), 6U);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{3}));
  EXPECT_TRUE(has(flagged(made).front().text, {"10.0 %", "; it runs at PCIe 4 x16"}));
}

// --- Clock uncertainty -----------------------------------------------------------------------------------------------

TEST(FleetClocks, ThatAreUnsureAllowNoVerdict) {
  SyntheticFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}});
  for (Result& result : made.report.results) {
    if (result.in_fleet->rank == 1 && result.config.scenario() == "memcpy") result.in_fleet->clock_uncertainty = 1;
  }
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().tests.size(), 1U) << "the latency";
  EXPECT_TRUE(has(notes(made).back(), {"no verdict from 3 tests", "clock"}));
}

TEST(FleetClocks, ThatAreUnsureInTheSecondRoundConfirmNothing) {
  SyntheticFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}});
  made.measure_again(retests_of(made.report, {}));
  for (Result& result : made.report.results) {
    if (result.in_fleet->round == 2) result.in_fleet->clock_uncertainty = 1;
  }
  judge(made.report, {});
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).back(), {"rank 5", "common clock"}));
}

// --- The second round ------------------------------------------------------------------------------------------------

TEST(SecondRound, HasEachCaseAndPaceOnceWithSuspectsAndFourGoodOnesOfTheirNode) {
  SyntheticFleet made = exact_fleet(4, 8, {{.of = Fault::Of::gpu, .where = 9}});
  EXPECT_EQ(retests_of(made.report, {}),
            (std::vector<Retest>{Retest{made_case("d2d").key(), RankConcurrency::all, {8, 9, 10, 11, 12}}}));
}

TEST(SecondRound, HasAsManyGoodOnesAsSuspectsOnWholeNodes) {
  SyntheticFleet made = exact_fleet(4, 8, {{.of = Fault::Of::host, .where = 2}});
  const auto retests = retests_of(made.report, {});
  ASSERT_EQ(retests.size(), 3U);
  EXPECT_EQ(retests[0].key, made_case("h2d").key());
  EXPECT_EQ(retests[0].ranks, (Ranks{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}));
}

TEST(SecondRound, PrefersThoseThatAreSuspectedNowhere) {
  SyntheticFleet made = exact_fleet(1, 8, {{.of = Fault::Of::gpu, .where = 0}});
  worsen(made.report, "h2d", 1, 0.1, 1);
  for (const Retest& retest : retests_of(made.report, {})) {
    const bool of_first = retest.key == made_case("d2d").key();
    EXPECT_EQ(retest.ranks, of_first ? (Ranks{0, 2, 3, 4, 5}) : (Ranks{1, 2, 3, 4, 5}));
  }
}

TEST(SecondRound, MustShowItAgain) {
  SyntheticFleet made = exact_fleet(2, 4);
  worsen(made.report, "h2d", 3, 0.051, 1);
  made.judge();
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).back(), {"rank 3 (GPU 3 of node000", "5.1 %", "not slow"}));
}

TEST(SecondRound, MustShowItBelowEveryGoodOne) {
  SyntheticFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 3}});
  made.measure_again(retests_of(made.report, {}));
  for (const char* what : {"h2d", "d2h", "latency"}) worsen(made.report, what, 0, 0.2, 2);
  judge(made.report, {});
  EXPECT_EQ(said(made), "");
}

TEST(SecondRound, ThatWasNotMeasuredConfirmsNothing) {
  SyntheticFleet made = exact_fleet(2, 4, {{.of = Fault::Of::gpu, .where = 3}});
  judge(made.report, {});
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).back(), {"was not measured again"}));
  made.measure_again(retests_of(made.report, {}));
  for (Result& result : made.report.results) {
    if (result.in_fleet->round == 2 && result.in_fleet->rank == 3) result.status = Status::failed;
  }
  judge(made.report, {});
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).back(), {"could not be measured again"}));
}

TEST(SecondRound, IsNoneWithoutAFleet) {
  Report report;
  EXPECT_TRUE(retests_of(report, {}).empty());
  judge(report, {});
  EXPECT_EQ(report.fleet, std::nullopt);
}

// --- Transfers between ranks -----------------------------------------------------------------------------------------

/// The transfer between two ranks in one round of partners, as scenario exchange stores it: with the receiving rank.
Result transfer_of(std::size_t partners, int from, int to, unsigned round, double seconds) {
  Case c("exchange");
  c.set({.name = "pairs", .kind = AxisKind::choice}, std::string("all"));
  c.set({.name = "round", .kind = AxisKind::count}, static_cast<std::uint64_t>(partners + 1));
  c.set({.name = "way", .kind = AxisKind::choice}, std::string("one"));
  Result result(c);
  result.in_fleet = InFleet{.rank = to, .round = round};
  Measurement& transfer = result.measurements.emplace_back();
  transfer.name = "transfer";
  transfer.samples = {1};
  transfer.median = seconds;
  result.labels = {{"from", std::to_string(from)}, {"to", std::to_string(to)}};
  return result;
}

/// Ranks that exchange with one partner after another. Runs the first round, and the second round where the judgement
/// asks for it. A transfer takes factor(from, to) seconds.
template <class Factor>
class ExchangingFleet {
 public:
  ExchangingFleet(int nodes, int ranks_per_node, Factor factor, std::vector<Fault> faults = {}, bool ring = false)
      : made({.nodes = nodes, .ranks_per_node = ranks_per_node, .noise = 0, .faults = std::move(faults)}),
        ranks_(nodes * ranks_per_node),
        factor_(std::move(factor)),
        ring_(ring) {
    std::vector<int> all(static_cast<std::size_t>(ranks_));
    std::iota(all.begin(), all.end(), 0);
    for (std::size_t partners = 0; partners < rounds(); ++partners) exchange(partners, all, 1);
  }
  void judge() {
    const auto retests = retests_of(made.report, {});
    made.measure_again(retests);
    for (const Retest& retest : retests) {
      for (std::size_t partners = 0; partners < rounds(); ++partners) {
        if (retest.key == transfer_of(partners, 0, 1, 1, 1).config.key()) exchange(partners, retest.ranks, 2);
      }
    }
    fleet::judge(made.report, {});
  }

  SyntheticFleet made;

 private:
  [[nodiscard]] std::size_t rounds() const {
    return ring_ ? model::ring_rounds(ranks_) : model::tournament_rounds(ranks_);
  }
  void exchange(std::size_t partners, const std::vector<int>& taking_part, unsigned round) {
    const auto takes_part = [&](int rank) { return std::ranges::find(taking_part, rank) != taking_part.end(); };
    const auto matching = ring_ ? model::ring_round(ranks_, partners) : model::tournament_round(ranks_, partners);
    for (const auto& [a, b] : matching) {
      if (!takes_part(a) || !takes_part(b)) continue;
      made.report.results.push_back(transfer_of(partners, a, b, round, factor_(a, b)));
      made.report.results.push_back(transfer_of(partners, b, a, round, factor_(b, a)));
    }
  }

  int ranks_;
  Factor factor_;
  bool ring_;
};

template <class Factor>
SyntheticFleet judged_exchange(int nodes, int ranks_per_node, Factor factor, std::vector<Fault> faults = {}) {
  ExchangingFleet fleet(nodes, ranks_per_node, factor, std::move(faults));
  fleet.judge();
  return std::move(fleet.made);
}

template <class Factor>
SyntheticFleet judged_ring(int nodes, int ranks_per_node, Factor factor) {
  ExchangingFleet fleet(nodes, ranks_per_node, factor, {}, true);
  fleet.judge();
  return std::move(fleet.made);
}

/// All transfers of this rank take five times as long.
auto slow_at(int rank) {
  return [rank](int from, int to) { return from == rank || to == rank ? 5.0 : 1.0; };
}

bool beyond_a_node(int a, int b) { return a / 2 != b / 2; }

TEST(Transfers, ThatAreAllSlowAreTheRanks) {
  for (const int rank : {0, 1, 4, 5}) {
    for (SyntheticFleet& made : std::array{judged_exchange(3, 2, slow_at(rank)), judged_ring(3, 2, slow_at(rank)),
                                           judged_ring(6, 1, slow_at(rank)), judged_ring(2, 3, slow_at(rank))}) {
      ASSERT_EQ(flagged(made).size(), 1U) << rank << said(made);
      EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
      EXPECT_EQ(flagged(made).front().ranks, (Ranks{rank}));
      EXPECT_TRUE(has(flagged(made).front().text, {"so the cause is its host or its network"}))
          << "its copies are fine";
    }
  }
}

TEST(Transfers, WithOnePartnerMayBeEitherEnds) {
  ExchangingFleet two(2, 1, [](int from, int) { return from == 0 ? 2.0 : 1.0; });
  two.judge();
  ASSERT_EQ(two.made.report.fleet->flagged.size(), 1U);
  EXPECT_EQ(flagged(two.made).front().what, Flagged::What::pair);
  EXPECT_TRUE(has(flagged(two.made).front().text, {"either end"}));
}

TEST(Transfers, OfOnePairAreThePairs) {
  SyntheticFleet made = judged_exchange(3, 2, [](int from, int to) { return from == 1 && to == 4 ? 1.2 : 1.0; });
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::pair);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{1, 4}));
  EXPECT_TRUE(has(flagged(made).front().name, {"rank 1 (GPU 1 of node000", "to rank 4 (GPU 0 of node002"}));
}

TEST(Transfers, ThatAreSlowBeyondANodeAreTheRanksNetworks) {
  SyntheticFleet made = judged_exchange(3, 2, [](int from, int to) {
    return beyond_a_node(from, to) && (from == 3 || to == 3) ? 1.2 : beyond_a_node(from, to) ? 1.0 : 0.1;
  });
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{3}));
  EXPECT_TRUE(has(flagged(made).front().text, {"its host or its network"}));
}

TEST(Transfers, OfAllRanksOfANodeAreItsHosts) {
  SyntheticFleet made = judged_exchange(
      4, 2, [](int from, int to) { return beyond_a_node(from, to) && (from / 2 == 1 || to / 2 == 1) ? 1.2 : 1.0; });
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{2, 3}));
}

TEST(Transfers, InARingShowTheNetworkOfAHostByAllThatLeaveIt) {
  for (const int ranks_per_node : {2, 4}) {
    const auto node = [=](int rank) { return rank / ranks_per_node; };
    SyntheticFleet made = judged_ring(4, ranks_per_node, [&](int from, int to) {
      return node(from) != node(to) && (node(from) == 1 || node(to) == 1) ? 1.2 : 1.0;
    });
    ASSERT_EQ(flagged(made).size(), 1U) << said(made);
    EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
    EXPECT_TRUE(has(flagged(made).front().name, {"network of host node001"}));
    EXPECT_EQ(flagged(made).front().ranks, (Ranks{ranks_per_node, 2 * ranks_per_node - 1}));
  }
}

TEST(Transfers, BetweenTwoSlowRanksDoNotMakeWhoIsBetweenThemSlow) {
  for (const int nodes : {1, 2}) {
    SyntheticFleet made = judged_ring(nodes, 8 / nodes, [](int from, int to) {
      if (from == 2 || to == 2) return 1.31;  // slowest, as both of its partners are slow
      return from == 1 || to == 1 || from == 3 || to == 3 ? 1.3 : 1.0;
    });
    ASSERT_EQ(flagged(made).size(), 2U) << said(made);
    EXPECT_EQ(flagged(made)[0].ranks, (Ranks{1}));
    EXPECT_EQ(flagged(made)[1].ranks, (Ranks{3}));
  }
}

TEST(Transfers, AreExplainedByASlowLink) {
  SyntheticFleet made = judged_exchange(3, 2, [](int from, int to) { return from == 3 || to == 3 ? 1.1 : 1.0; },
                                        {{.of = Fault::Of::link, .where = 3}});
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::link);
  EXPECT_TRUE(has(flagged(made).front().tests.back(), {"exchange"}));
}

TEST(Transfers, OfAHostAreNotExplainedByALinkOfOneOfItsRanks) {
  SyntheticFleet made = judged_exchange(
      4, 2, [](int from, int to) { return beyond_a_node(from, to) && (from / 2 == 1 || to / 2 == 1) ? 2.0 : 1.0; },
      {{.of = Fault::Of::link, .where = 3}});
  ASSERT_EQ(flagged(made).size(), 2U) << said(made);
  EXPECT_EQ(flagged(made)[0].what, Flagged::What::link);
  EXPECT_EQ(flagged(made)[1].what, Flagged::What::host);
  EXPECT_EQ(flagged(made)[1].ranks, (Ranks{2, 3}));
}

TEST(Transfers, OfOnePairAreNotExplainedByALinkThatSlowsNoOthers) {
  SyntheticFleet made = judged_exchange(3, 2, [](int from, int to) { return from == 3 && to == 4 ? 5.0 : 1.0; },
                                        {{.of = Fault::Of::link, .where = 3}});
  ASSERT_EQ(flagged(made).size(), 2U) << said(made);
  EXPECT_EQ(flagged(made)[1].what, Flagged::What::pair);
  EXPECT_EQ(flagged(made)[1].ranks, (Ranks{3, 4}));
  EXPECT_TRUE(has(flagged(made)[1].text, {"link of rank 3", "explains only a part"}));
}

TEST(Transfers, OfOnePairAreNotExplainedByAHostThatIsLessSlow) {
  SyntheticFleet made = judged_exchange(3, 2, [](int from, int to) { return from == 3 && to == 4 ? 5.0 : 1.0; },
                                        {{.of = Fault::Of::host, .where = 1}});
  ASSERT_EQ(flagged(made).size(), 2U) << said(made);
  EXPECT_EQ(flagged(made)[0].what, Flagged::What::host);
  EXPECT_EQ(flagged(made)[1].what, Flagged::What::pair);
}

TEST(Transfers, AreMeasuredAgainBetweenSuspectsAndGoodPairs) {
  const ExchangingFleet fleet(3, 2, [](int from, int to) { return from == 1 && to == 4 ? 1.2 : 1.0; });
  const auto retests = retests_of(fleet.made.report, {});
  std::size_t pairs = 0;
  bool has_suspects = false;
  for (const Retest& retest : retests) {
    EXPECT_NE(retest.key.find("/round="), std::string::npos) << "by cases that there are";
    EXPECT_EQ(retest.ranks.size() % 2, 0U) << "both ends of each";
    pairs += retest.ranks.size() / 2;
    has_suspects = has_suspects || std::ranges::includes(retest.ranks, std::vector{1, 4});
  }
  EXPECT_TRUE(has_suspects);
  EXPECT_EQ(pairs, 5U) << "the suspects and four good ones";
}

TEST(Transfers, OfARankAreMeasuredAgainWithFourPartners) {
  const ExchangingFleet fleet(16, 1, slow_at(7));
  const auto retests = retests_of(fleet.made.report, {});
  EXPECT_EQ(retests.size(), 4U);
  for (const Retest& retest : retests) {
    EXPECT_TRUE(std::ranges::binary_search(retest.ranks, 7));
    EXPECT_EQ(retest.ranks.size(), 4U) << "it and its partner, and a good pair";
  }
}

}  // namespace
}  // namespace xferbench::fleet
