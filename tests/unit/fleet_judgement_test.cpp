// Each rule by which ranks are suspected, measured again and flagged.
#include "fleet/judgement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fleet/suspicion.hpp"
#include "support/made_fleet.hpp"

namespace xferbench::fleet {
namespace {

using test::Fault;
using test::FleetPlan;
using test::made_case;
using test::MadeFleet;
using Low = std::vector<std::size_t>;

/// A fleet whose ranks do not differ but by their faults.
MadeFleet exact_fleet(int nodes, int ranks_per_node, std::vector<Fault> faults = {}) {
  return MadeFleet({.nodes = nodes, .ranks_per_node = ranks_per_node, .noise = 0, .faults = std::move(faults)});
}

/// Makes a number of a rank worse by that share, in one round.
void worsen(Report& report, const std::string& what, int rank, double share, unsigned round) {
  for (Result& result : report.results) {
    if (result.config.key() != made_case(what).key()) continue;
    if (result.in_fleet->rank != rank || result.in_fleet->round != round) continue;
    for (Metric& metric : result.metrics) metric.value *= 1 - share;
    for (Measurement& m : result.measurements) m.median /= 1 - share;
  }
}

const std::vector<Flagged>& flagged(const MadeFleet& made) { return made.report.fleet->flagged; }
/// All that is flagged, in words; empty where nothing is.
std::string said(const MadeFleet& made) {
  std::string all;
  for (const Flagged& one : flagged(made)) all += one.text + "\n";
  return all;
}
using Ranks = std::vector<int>;

/// Whether all of these are in a text.
testing::AssertionResult has(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    if (text.find(part) == std::string::npos) {
      return testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
    }
  }
  return testing::AssertionSuccess();
}

const std::vector<std::string>& notes(const MadeFleet& made) { return made.report.fleet->notes; }

// --- Standing out ----------------------------------------------------------------------------------------------------

Low low_of(const std::vector<double>& speeds) { return stand({speeds}, {}).front().low; }

TEST(Standing, IsLowBeyondTheThresholdAndTheSpread) {
  EXPECT_EQ(low_of({100, 100.1, 99.9, 100.2, 99.8, 96.9}), (Low{5}));
  EXPECT_EQ(low_of({100, 100.1, 99.9, 100.2, 99.8, 97.2}), Low{}) << "far, but within the threshold";
  EXPECT_EQ(low_of({100, 102, 98, 104, 96, 90}), Low{}) << "beyond the threshold, but they all are far apart";
  EXPECT_EQ(low_of({100, 102, 98, 104, 96, 70}), (Low{5}));
  EXPECT_EQ(low_of({100, 100.1, 99.9, 100.2, 99.8, 120}), Low{}) << "what is better is not low";
}

TEST(Standing, WithoutASpreadIsBeyondTheThresholdAlone) {
  EXPECT_EQ(low_of({100, 100, 100, 100, 100, 96.9}), (Low{5}));
  EXPECT_EQ(low_of({100, 100, 100, 100, 100, 97.1}), Low{});
}

TEST(Standing, OfFewIsComparedWithTheBest) {
  EXPECT_EQ(low_of({100, 96.9, 97.1, 50}), (Low{1, 3}));
  EXPECT_EQ(low_of({100}), Low{});
  EXPECT_TRUE(stand({{100, 50}}, {}).front().best);
  EXPECT_EQ(stand({{100, 50}}, {}).front().reference, 100);
}

TEST(Standing, OfSeveralPoolsIsWithinEachByTheSpreadOfAll) {
  const auto all = stand({{100, 100.1, 99.9, 100.2}, {80, 80.1, 79.9, 72}}, {});
  EXPECT_EQ(all[0].low, Low{});
  EXPECT_EQ(all[1].low, (Low{3}));
  EXPECT_NEAR(all[1].reference, 79.95, 1e-9);
}

TEST(Standing, OfATimeIsThatOfItsRate) {
  const fleet::Test time{.better = Better::lower, .values = {}};
  EXPECT_DOUBLE_EQ(shortfall(speed_of(time, 1.25), speed_of(time, 1)), 0.2);
  EXPECT_EQ(shortfall(1, 0), 0) << "nothing is below nothing";
}

// --- What is flagged -------------------------------------------------------------------------------------------------

TEST(FleetJudgement, FlagsNobodyWhereAllAreAlike) {
  MadeFleet made = exact_fleet(2, 4);
  EXPECT_TRUE(second_round(made.report, {}).empty());
  made.judge();
  EXPECT_EQ(said(made), "");
}

TEST(FleetJudgement, NamesALinkWhereWorkOnTheGpuIsAsFastAsElsewhere) {
  MadeFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}});
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  const Flagged& link = flagged(made).front();
  EXPECT_EQ(link.what, Flagged::What::link);
  EXPECT_EQ(link.ranks, (Ranks{5}));
  EXPECT_NEAR(link.shortfall, 0.1, 1e-9);
  EXPECT_EQ(link.tests.size(), 3U);
  EXPECT_TRUE(
      has(link.text, {"link of rank 5 (node001, GPU-00000005", "00000000:11:00.0", "10.0 %", "in 3 of 4 tests"}));
}

TEST(FleetJudgement, NamesAGpuWhereWorkOnItIsSlow) {
  const Fault gpu{.of = Fault::Of::gpu, .where = 2};
  MadeFleet alone = exact_fleet(2, 4, {gpu});
  alone.judge();
  ASSERT_EQ(flagged(alone).size(), 1U);
  EXPECT_EQ(flagged(alone).front().what, Flagged::What::gpu);
  MadeFleet both = exact_fleet(2, 4, {gpu, {.of = Fault::Of::link, .where = 2}});
  both.judge();
  ASSERT_EQ(flagged(both).size(), 1U);
  EXPECT_EQ(flagged(both).front().what, Flagged::What::gpu) << "in all tests";
  EXPECT_EQ(flagged(both).front().tests.size(), 4U);
}

TEST(FleetJudgement, SaysHowToTellALinkFromItsGpu) {
  MadeFleet made({.noise = 0, .faults = {{.of = Fault::Of::link, .where = 5}}, .cases = {"h2d", "d2h"}});
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::link);
  EXPECT_TRUE(has(flagged(made).front().text, {"xferbench memcpy --dir d2d"}));
}

TEST(FleetJudgement, NamesAHostWhereAllItsRanksAreSlow) {
  for (const int nodes : {2, 3, 4, 5, 6, 16}) {
    MadeFleet made = exact_fleet(nodes, 4, {{.of = Fault::Of::host, .where = 1}});
    made.judge();
    ASSERT_EQ(flagged(made).size(), 1U) << nodes;
    EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
    EXPECT_EQ(flagged(made).front().ranks, (Ranks{4, 5, 6, 7}));
    EXPECT_TRUE(has(flagged(made).front().text, {"host node001 (ranks 4 to 7)"}));
  }
}

TEST(FleetJudgement, TakesNoHostForSlowOneOfWhoseRanksIsNot) {
  MadeFleet made = exact_fleet(6, 3);
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
  MadeFleet made = exact_fleet(2, 4, faults);
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
  EXPECT_TRUE(has(flagged(made).front().text, {"over the links and inside the GPUs"}));
}

TEST(FleetJudgement, FindsASlowGpuAndASlowLinkOnASlowHost) {
  for (const Fault::Of of : {Fault::Of::gpu, Fault::Of::link}) {
    MadeFleet made = exact_fleet(3, 4, {{.of = Fault::Of::host, .where = 2}, {.of = of, .where = 9}});
    made.judge();
    ASSERT_EQ(flagged(made).size(), 2U);
    EXPECT_EQ(flagged(made)[0].what, Flagged::What::host);
    EXPECT_EQ(flagged(made)[1].ranks, (Ranks{9}));
    EXPECT_EQ(flagged(made)[1].what, of == Fault::Of::gpu ? Flagged::What::gpu : Flagged::What::link);
    EXPECT_TRUE(has(flagged(made)[1].text, {"on its host"}));
  }
}

TEST(FleetJudgement, LeavesInWhatRanksDifferAsItIs) {
  MadeFleet made = exact_fleet(3, 1, {});
  made.report.fleet->differences = {"ranks differ in their driver: 580.1 on ranks 0 and 1, 570.2 on rank 2"};
  made.judge();
  EXPECT_EQ(made.report.fleet->differences.size(), 1U);
}

TEST(FleetJudgement, CannotTellAHostFromItsOnlyRank) {
  MadeFleet made = exact_fleet(3, 1, {{.of = Fault::Of::host, .where = 1}});
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::link);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{1}));
  EXPECT_TRUE(has(flagged(made).front().text, {"the best", "only rank of its host"}));
  ASSERT_EQ(notes(made).size(), 1U);
  EXPECT_TRUE(has(notes(made)[0], {"compared with the best"}));
}

TEST(FleetJudgement, FlagsWhoIsMissingAndAsksNothingMoreOfThem) {
  MadeFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}, {.of = Fault::Of::link, .where = 6}});
  made.report.fleet->missing = {6, 77};
  for (const Retest& retest : second_round(made.report, {})) {
    EXPECT_EQ(std::ranges::find(retest.ranks, 6), retest.ranks.end());
  }
  made.judge();
  ASSERT_EQ(flagged(made).size(), 3U);
  EXPECT_EQ(flagged(made)[0].what, Flagged::What::rank);
  EXPECT_TRUE(has(flagged(made)[0].name, {"rank 6 (node001"}));
  EXPECT_TRUE(flagged(made)[0].tests.empty());
  EXPECT_EQ(flagged(made)[1].name, "rank 77") << "nobody knows where that was";
  EXPECT_EQ(flagged(made)[2].ranks, (Ranks{5}));
}

TEST(FleetJudgement, JudgesNoNumberOfWhichNeitherWayIsBetter) {
  MadeFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}});
  made.report.metrics_declared["memcpy"] = {measured("copy", "").as_headline().in("s", Better::neither)};
  made.report.metrics_declared["latency"] = {measured("latency", "").as_headline().in("s", Better::neither)};
  made.judge();
  EXPECT_EQ(said(made), "");
}

// --- Groups ----------------------------------------------------------------------------------------------------------

TEST(FleetGroups, AreByModelAndLink) {
  MadeFleet made = exact_fleet(2, 8, {{.of = Fault::Of::host, .where = 1}});
  const auto change = [&](auto how) {
    for (int rank = 8; rank < 16; ++rank) how(made.report.fleet->ranks[static_cast<std::size_t>(rank)].environment.gpu);
  };
  change([](Environment::Gpu& gpu) { gpu.pcie->width = 8; });
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
  MadeFleet made = exact_fleet(1, 8, {{.of = Fault::Of::link, .where = 3}});
  made.report.fleet->ranks[3].environment.gpu.pcie->generation = 4;
  made.judge();
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).front(), {"rank 3", "nothing to compare it with"}));
}

// --- Clocks ----------------------------------------------------------------------------------------------------------

TEST(FleetClocks, ThatAreUnsureAllowNoVerdict) {
  MadeFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}});
  for (Result& result : made.report.results) {
    if (result.in_fleet->rank == 1 && result.config.scenario() == "memcpy") result.in_fleet->clock_uncertainty = 1;
  }
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().tests.size(), 1U) << "the latency";
  EXPECT_TRUE(has(notes(made).back(), {"no verdict from 3 tests", "clock"}));
}

TEST(FleetClocks, ThatAreUnsureInTheSecondRoundConfirmNothing) {
  MadeFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 5}});
  made.measure_again(second_round(made.report, {}));
  for (Result& result : made.report.results) {
    if (result.in_fleet->round == 2) result.in_fleet->clock_uncertainty = 1;
  }
  judge(made.report, {});
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).back(), {"rank 5", "clocks"}));
}

// --- The second round ------------------------------------------------------------------------------------------------

TEST(SecondRound, HasEachCaseAndPaceOnceWithSuspectsAndFourGoodOnesOfTheirNode) {
  MadeFleet made = exact_fleet(4, 8, {{.of = Fault::Of::gpu, .where = 9}});
  EXPECT_EQ(second_round(made.report, {}),
            (std::vector<Retest>{Retest{made_case("d2d").key(), Pacing::all, {8, 9, 10, 11, 12}}}));
}

TEST(SecondRound, HasAsManyGoodOnesAsSuspectsOnWholeNodes) {
  MadeFleet made = exact_fleet(4, 8, {{.of = Fault::Of::host, .where = 2}});
  const auto retests = second_round(made.report, {});
  ASSERT_EQ(retests.size(), 3U);
  EXPECT_EQ(retests[0].key, made_case("h2d").key());
  EXPECT_EQ(retests[0].ranks, (Ranks{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}));
}

TEST(SecondRound, PrefersThoseThatAreSuspectedNowhere) {
  MadeFleet made = exact_fleet(1, 8, {{.of = Fault::Of::gpu, .where = 0}});
  worsen(made.report, "h2d", 1, 0.1, 1);
  for (const Retest& retest : second_round(made.report, {})) {
    const bool of_first = retest.key == made_case("d2d").key();
    EXPECT_EQ(retest.ranks, of_first ? (Ranks{0, 2, 3, 4, 5}) : (Ranks{1, 2, 3, 4, 5}));
  }
}

TEST(SecondRound, MustShowItAgain) {
  MadeFleet made = exact_fleet(2, 4);
  worsen(made.report, "h2d", 3, 0.051, 1);
  made.judge();
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).back(), {"rank 3 (node000", "5.1 %", "not when"}));
}

TEST(SecondRound, MustShowItBelowEveryGoodOne) {
  MadeFleet made = exact_fleet(2, 4, {{.of = Fault::Of::link, .where = 3}});
  made.measure_again(second_round(made.report, {}));
  for (const char* what : {"h2d", "d2h", "latency"}) worsen(made.report, what, 0, 0.2, 2);
  judge(made.report, {});
  EXPECT_EQ(said(made), "");
}

TEST(SecondRound, ThatWasNotMeasuredConfirmsNothing) {
  MadeFleet made = exact_fleet(2, 4, {{.of = Fault::Of::gpu, .where = 3}});
  judge(made.report, {});
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).back(), {"was not measured again"}));
  made.measure_again(second_round(made.report, {}));
  for (Result& result : made.report.results) {
    if (result.in_fleet->round == 2 && result.in_fleet->rank == 3) result.status = Status::failed;
  }
  judge(made.report, {});
  EXPECT_EQ(said(made), "");
  EXPECT_TRUE(has(notes(made).back(), {"could not be measured again"}));
}

TEST(SecondRound, IsNoneWithoutAFleet) {
  Report report;
  EXPECT_TRUE(second_round(report, {}).empty());
  judge(report, {});
  EXPECT_EQ(report.fleet, std::nullopt);
}

// --- Transfers between ranks -----------------------------------------------------------------------------------------

/// Transfers from each rank to each other one, slower where `factor` says so, in both rounds.
template <class Factor>
MadeFleet exchanging_fleet(int nodes, int ranks_per_node, const Factor& factor, std::vector<Fault> faults = {}) {
  MadeFleet made({.nodes = nodes, .ranks_per_node = ranks_per_node, .noise = 0, .faults = std::move(faults)});
  const int ranks = nodes * ranks_per_node;
  for (int i = 0; i < 2 * ranks * ranks; ++i) {
    const int from = i / ranks % ranks;
    const int to = i % ranks;
    if (from == to) continue;
    Result result{Case("exchange")};
    result.in_fleet = InFleet{.rank = from, .round = i < ranks * ranks ? 1U : 2U};
    Measurement& transfer = result.measurements.emplace_back();
    transfer.name = "transfer";
    transfer.samples = {1};
    transfer.median = factor(from, to);
    result.labels = {{"from", std::to_string(from)}, {"to", std::to_string(to)}};
    made.report.results.push_back(std::move(result));
  }
  return made;
}

bool beyond_a_node(int a, int b) { return a / 2 != b / 2; }

TEST(Transfers, OfOnePairAreThePairs) {
  MadeFleet made = exchanging_fleet(3, 2, [](int from, int to) { return from == 1 && to == 4 ? 1.2 : 1.0; });
  judge(made.report, {});
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::pair);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{1, 4}));
  EXPECT_TRUE(has(flagged(made).front().name, {"rank 1 (node000", "to rank 4 (node002"}));
}

TEST(Transfers, ThatAreSlowBeyondANodeAreTheRanksNetworks) {
  MadeFleet made = exchanging_fleet(3, 2, [](int from, int to) {
    return beyond_a_node(from, to) && (from == 3 || to == 3) ? 1.2 : beyond_a_node(from, to) ? 1.0 : 0.1;
  });
  judge(made.report, {});
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{3}));
  EXPECT_TRUE(has(flagged(made).front().text, {"its host or its network"}));
}

TEST(Transfers, OfAllRanksOfANodeAreItsHosts) {
  MadeFleet made = exchanging_fleet(
      4, 2, [](int from, int to) { return beyond_a_node(from, to) && (from / 2 == 1 || to / 2 == 1) ? 1.2 : 1.0; });
  judge(made.report, {});
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::host);
  EXPECT_EQ(flagged(made).front().ranks, (Ranks{2, 3}));
}

TEST(Transfers, AreExplainedByASlowLink) {
  MadeFleet made = exchanging_fleet(3, 2, [](int from, int to) { return from == 3 || to == 3 ? 1.2 : 1.0; },
                                    {{.of = Fault::Of::link, .where = 3}});
  made.judge();
  ASSERT_EQ(flagged(made).size(), 1U);
  EXPECT_EQ(flagged(made).front().what, Flagged::What::link);
  EXPECT_TRUE(has(flagged(made).front().tests.back(), {"exchange"}));
}

TEST(Transfers, AreMeasuredAgainBetweenSuspectsAndGoodPairs) {
  MadeFleet made = exchanging_fleet(3, 2, [](int from, int to) { return from == 1 && to == 4 ? 1.2 : 1.0; });
  const auto retests = second_round(made.report, {});
  ASSERT_EQ(retests.size(), 1U);
  EXPECT_EQ(retests[0].key, "exchange");
  EXPECT_TRUE(std::ranges::includes(retests[0].ranks, std::vector{1, 4}));
  EXPECT_GE(retests[0].ranks.size(), 4U);
}

}  // namespace
}  // namespace xferbench::fleet
