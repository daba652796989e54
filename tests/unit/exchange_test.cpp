// Scenario exchange: its cases, the model of its makespan, and findings from its results.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "model/exchange.hpp"
#include "parsing.hpp"
#include "scenarios/exchange/case.hpp"

namespace xferbench::test {
namespace {

// --- The model ------------------------------------------------------------------------------------------------------

constexpr double kMega = static_cast<double>(MiB);

/// 50, 10 and 50 GB/s, and a few microseconds for each operation.
model::ExchangeStages slow_messages() {
  return {.d2h = {.per_operation = 2e-6, .per_byte = 1 / 50e9},
          .message = {.per_operation = 5e-6, .per_byte = 1 / 10e9},
          .h2d = {.per_operation = 2e-6, .per_byte = 1 / 50e9},
          .handoff = 4e-6};
}

/// Lower bound in seconds for any chunking: the slowest stage for the whole payload.
double bound_of(const model::ExchangeStages& s, std::uint64_t bytes) {
  const auto time = [&](const model::Cost& c) { return c.per_operation + c.per_byte * static_cast<double>(bytes); };
  return std::max({time(s.d2h), time(s.message), time(s.h2d)});
}

TEST(ExchangeModel, OneChunkGoesThroughOneStageAfterTheOther) {
  const model::ExchangeStages s = slow_messages();
  const double sum = 9e-6 + kMega * (1 / 50e9 + 1 / 10e9 + 1 / 50e9);
  EXPECT_NEAR(model::exchange_time(s, MiB, {MiB, 1}), sum + 3 * s.handoff, 1e-12);
}

TEST(ExchangeModel, ManyChunksTakeTheSlowestStageAndOneChunkThroughTheOthers) {
  const model::ExchangeStages s = slow_messages();
  const double chunk = 4 * kMega;
  const double message = 5e-6 + chunk / 10e9;
  const double copy = 2e-6 + chunk / 50e9;
  const double expected = 16 * message + 2 * copy + 3 * s.handoff;
  // With enough slots the next message waits only for the one before it.
  EXPECT_NEAR(model::exchange_time(s, 64 * MiB, {4 * MiB, 8}), expected, 0.01 * expected);
  EXPECT_GT(model::exchange_time(s, 64 * MiB, {4 * MiB, 1}), 1.15 * expected) << "a single slot is filled in turn";
}

TEST(ExchangeModel, NoShapeBeatsTheBoundAndTheBestOneIsNearIt) {
  const model::ExchangeStages s = slow_messages();
  for (const std::uint64_t bytes : {std::uint64_t{100001}, 3 * MiB, 256 * MiB, 2 * GiB + 1}) {
    const model::ExchangeShape best = model::best_exchange_shape(s, bytes);
    const double least = model::exchange_time(s, bytes, best);
    EXPECT_GE(least, bound_of(s, bytes));
    EXPECT_LE(best.chunk * best.depth, std::max(model::kMostExchangeMemory, 2 * best.chunk));
    for (std::uint64_t chunk = 256 * KiB; chunk <= 32 * MiB && chunk < bytes; chunk *= 4) {
      EXPECT_LE(least, 1.011 * model::exchange_time(s, bytes, {chunk, 4})) << bytes << " in " << chunk;
    }
  }
  const model::ExchangeShape best = model::best_exchange_shape(s, 256 * MiB);
  EXPECT_LT(model::exchange_time(s, 256 * MiB, best), 1.03 * bound_of(s, 256 * MiB));
}

TEST(ExchangeModel, WhatIsGivenStays) {
  const model::ExchangeStages s = slow_messages();
  EXPECT_EQ(model::best_exchange_shape(s, 64 * MiB, {.chunk = 3 * MiB}).chunk, 3 * MiB);
  EXPECT_EQ(model::best_exchange_shape(s, 64 * MiB, {.depth = 5}).depth, 5U);
  const model::ExchangeShape both{.chunk = MiB, .depth = 7};
  EXPECT_EQ(model::best_exchange_shape(s, 64 * MiB, both), both);
  EXPECT_EQ(model::best_exchange_shape(s, 1000, {.chunk = MiB, .depth = 7}).chunk, 1000U) << "no more than there is";
}

TEST(ExchangeModel, StagesComeFromOnePieceAndFromMany) {
  const model::ExchangeStages s = slow_messages();
  const double bytes = 64 * kMega;
  const auto times = [&](const model::Cost& c, double pieces) { return pieces * c.per_operation + bytes * c.per_byte; };
  const double operations = s.d2h.per_operation + s.message.per_operation + s.h2d.per_operation;
  const model::ExchangeStages fit = model::fit_exchange_stages({.bytes = bytes,
                                                                .pieces = 8,
                                                                .d2h = times(s.d2h, 1),
                                                                .d2h_pieces = times(s.d2h, 8),
                                                                .message = times(s.message, 1),
                                                                .message_pieces = times(s.message, 8),
                                                                .h2d = times(s.h2d, 1),
                                                                .h2d_pieces = times(s.h2d, 8),
                                                                .tiny = operations + 3 * s.handoff});
  EXPECT_NEAR(fit.message.per_operation, s.message.per_operation, 1e-9);
  EXPECT_NEAR(fit.message.per_byte, s.message.per_byte, 1e-3 * s.message.per_byte);
  EXPECT_NEAR(fit.d2h.per_operation, s.d2h.per_operation, 1e-9);
  EXPECT_NEAR(fit.handoff, s.handoff, 1e-9);
  const model::ExchangeStages noisy = model::fit_exchange_stages({.bytes = 1e6,
                                                                  .pieces = 8,
                                                                  .d2h = 2e-3,
                                                                  .d2h_pieces = 1e-3,
                                                                  .message = 1,
                                                                  .message_pieces = 1,
                                                                  .h2d = 1,
                                                                  .h2d_pieces = 1,
                                                                  .tiny = 0});
  EXPECT_EQ(noisy.d2h.per_operation, 0) << "never negative";
  EXPECT_EQ(noisy.handoff, 0);
}

// --- Cases ----------------------------------------------------------------------------------------------------------

std::vector<std::string> keys_for(const std::string& line, int ranks) {
  std::vector<std::string> keys;
  for (const PlannedCase& planned : cases_of_line(line)) {
    for (const Case& c : rounds_of(planned.config, ranks)) keys.push_back(c.key());
  }
  return keys;
}

TEST(ExchangeCases, StandForRoundsThatTheKeySays) {
  EXPECT_EQ(keys_for("exchange --pairs all", 4),
            (std::vector<std::string>{"exchange/pairs=all/round=1/method=pipeline/way=one/size=256MiB",
                                      "exchange/pairs=all/round=2/method=pipeline/way=one/size=256MiB",
                                      "exchange/pairs=all/round=3/method=pipeline/way=one/size=256MiB"}));
  EXPECT_EQ(keys_for("exchange", 2).size(), 1U);
  EXPECT_EQ(keys_for("exchange", 8).size(), 2U);
  EXPECT_EQ(keys_for("exchange --pairs sampled", 8).size(), 3U);
  EXPECT_EQ(keys_for("exchange --pairs all --round 2", 8),
            (std::vector<std::string>{"exchange/pairs=all/round=2/method=pipeline/way=one/size=256MiB"}));
  EXPECT_EQ(keys_for("exchange", 1),
            (std::vector<std::string>{"exchange/pairs=ring/method=pipeline/way=one/size=256MiB"}));
}

TEST(ExchangeCases, ARoundThatIsNotThereIsSaidToBe) {
  const auto reason = [](const std::string& line, int ranks) {
    const auto found = reason_against_round(exchange_case(cases_of_line(line).front().config), ranks);
    return found ? found->text : "";
  };
  EXPECT_EQ(reason("exchange", 2), "");
  EXPECT_EQ(reason("exchange --pairs 1-0", 2), "");
  EXPECT_EQ(matching_of(exchange_case(cases_of_line("exchange --pairs 3-1").front().config), 4, 1),
            (model::Matching{{3, 1}}));
  EXPECT_EQ(keys_for("exchange --pairs 3-1", 4).size(), 1U);
  EXPECT_NE(reason("exchange", 1), "");
  EXPECT_NE(reason("exchange --round 3", 4), "");
  EXPECT_NE(reason("exchange --pairs 0-2", 2), "");
  EXPECT_NE(reason("exchange --pairs 0-1-2", 4), "");
}

TEST(ExchangeCases, OnlyWhatIsCutHasChunks) {
  EXPECT_EQ(keys_for("exchange --method whole,host --chunk 1M --depth 4 --size 4M", 2),
            (std::vector<std::string>{"exchange/pairs=ring/round=1/method=whole/way=one/size=4MiB",
                                      "exchange/pairs=ring/round=1/method=host/way=one/chunk=1MiB/depth=4/size=4MiB"}));
}

/// [turn] = pairs (from, to) that transfer at the same time. Fails where two ranks disagree on them.
std::vector<std::vector<std::pair<int, int>>> transfers(const model::Matching& matching, bool both,
                                                        RankConcurrency pace, const std::vector<int>& nodes) {
  const int ranks = static_cast<int>(nodes.size());
  std::vector<std::vector<std::pair<int, int>>> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<ExchangePart> turns = turns_of(matching, both, pace, nodes, rank);
    all.resize(std::max(all.size(), turns.size()));
    EXPECT_EQ(turns.size(), all.size()) << "as many for every rank";
    for (std::size_t turn = 0; turn < turns.size(); ++turn) {
      if (!turns[turn].to) continue;
      all[turn].emplace_back(rank, *turns[turn].to);
      EXPECT_EQ(turns_of(matching, both, pace, nodes, *turns[turn].to)[turn].from, rank);
    }
  }
  return all;
}

TEST(ExchangeTurns, EveryDirectionOfEveryPairComesOnce) {
  const std::vector<int> nodes{0, 0, 1, 1, 2, 2, 2};
  const model::Matching matching = model::tournament_round(7, 3);
  for (const bool both : {false, true}) {
    for (const RankConcurrency pace : {RankConcurrency::all, RankConcurrency::node, RankConcurrency::one}) {
      std::map<std::pair<int, int>, int> count;
      for (const auto& turn : transfers(matching, both, pace, nodes)) {
        EXPECT_FALSE(turn.empty());
        for (const auto& transfer : turn) ++count[transfer];
      }
      EXPECT_EQ(count.size(), 6U);
      for (const auto& [transfer, times] : count) EXPECT_EQ(times, 1) << transfer.first << " to " << transfer.second;
    }
  }
}

TEST(ExchangeTurns, ThePaceSaysWhoGoesAtOnce) {
  const std::vector<int> nodes{0, 0, 1, 1};
  const model::Matching matching{{0, 2}, {1, 3}};
  EXPECT_EQ(transfers(matching, false, RankConcurrency::all, nodes).size(), 2U) << "there, and back";
  EXPECT_EQ(transfers(matching, true, RankConcurrency::all, nodes).size(), 1U);
  EXPECT_EQ(transfers(matching, false, RankConcurrency::one, nodes).size(), 4U);
  EXPECT_EQ(transfers(matching, true, RankConcurrency::one, nodes).size(), 2U);
  EXPECT_EQ(transfers({{0, 1}, {2, 3}}, false, RankConcurrency::node, nodes).size(), 4U);
  const auto by_node = transfers(matching, false, RankConcurrency::node, nodes);
  ASSERT_EQ(by_node.size(), 2U);
  EXPECT_EQ(by_node[0], (std::vector<std::pair<int, int>>{{0, 2}, {1, 3}}));
}

TEST(ExchangeTurns, WhoHasNoPartnerIsIdle) {
  const std::vector<int> nodes{0, 0, 0};
  const model::Matching matching{{0, 1}};
  EXPECT_EQ(partner_of(matching, 0), 1);
  EXPECT_EQ(partner_of(matching, 1), 0);
  EXPECT_EQ(partner_of(matching, 2), std::nullopt);
  for (const ExchangePart& part : turns_of(matching, false, RankConcurrency::all, nodes, 2))
    EXPECT_TRUE(part.is_idle());
}

// --- Findings -------------------------------------------------------------------------------------------------------

Result exchanged(const std::string& line, int from, int to, double seconds, const char* limit) {
  Result r(rounds_of(cases_of_line(line).front().config, 4).front());
  Measurement m;
  m.name = "exchange";
  m.samples = std::vector<double>(6, seconds);
  m.median = m.min = m.max = seconds;
  m.ci95 = Interval{seconds, seconds};
  r.measurements = {m};
  r.labels = {{"from", std::to_string(from)}, {"to", std::to_string(to)}, {"limited_by", limit}};
  r.in_fleet = InFleet{.rank = to};
  r.add("bandwidth", gigabytes_per_second(r.config.count("size"), seconds), "GB/s");
  r.add("efficiency", 0.9, "1");
  return r;
}

std::vector<Finding> findings_of(const std::vector<Result>& results) {
  std::vector<const Result*> all;
  for (const Result& r : results) all.push_back(&r);
  return exchange_findings(all);
}

TEST(ExchangeFindings, FitEachDirectionByItselfAndSayWhatLimitsMost) {
  std::vector<Result> results;
  for (const auto& [size, bytes] : std::vector<std::pair<std::string, double>>{
           {"1M", 1e6 * 1.048576}, {"4M", 4e6 * 1.048576}, {"16M", 16e6 * 1.048576}}) {
    const std::string line = "exchange --size " + size;
    results.push_back(exchanged(line, 0, 1, 10e-6 + bytes / 20e9, "mpi"));
    results.push_back(exchanged(line, 1, 0, 30e-6 + bytes / 10e9, "mpi"));
    results.push_back(exchanged(line, 2, 3, 10e-6 + bytes / 20e9, "d2h"));
  }
  const std::vector<Finding> findings = findings_of(results);
  const auto fits = std::ranges::count(findings, "fit", &Finding::kind);
  EXPECT_GE(fits, 3);
  const auto slow = std::ranges::find_if(findings, [](const Finding& f) {
    return f.kind == "fit" && std::ranges::count(f.labels, std::pair<std::string, std::string>("from", "1")) > 0;
  });
  ASSERT_NE(slow, findings.end());
  const auto latency = std::ranges::find(slow->metrics, "latency", &Metric::name);
  ASSERT_NE(latency, slow->metrics.end());
  EXPECT_NEAR(latency->value, 30e-6, 1e-6);
  const auto said = std::ranges::find(findings, "exchange", &Finding::kind);
  ASSERT_NE(said, findings.end());
  EXPECT_EQ(std::ranges::count(findings, "exchange", &Finding::kind), 1) << "of the largest size";
  EXPECT_EQ(std::ranges::count(said->labels, std::pair<std::string, std::string>("limited_by", "mpi")), 1);
  EXPECT_NE(said->text.find("16 MiB"), std::string::npos) << said->text;
}

TEST(ExchangeFindings, NothingIsSaidOfNothing) {
  EXPECT_TRUE(findings_of({}).empty());
  Result interrupted = exchanged("exchange", 0, 1, 1, "mpi");
  interrupted.measurements.front().samples = {};
  interrupted.metrics.clear();
  EXPECT_TRUE(findings_of({interrupted}).empty());
}

}  // namespace
}  // namespace xferbench::test
