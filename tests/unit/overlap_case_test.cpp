// What a case of overlap means, and what the model says of it.
#include "scenarios/overlap/case.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "parsing.hpp"
#include "scenarios/scenarios.hpp"

namespace xferbench::test {
namespace {

constexpr double kExact = 1e-12;  // relative: rounding of sums

using Words = std::vector<std::string>;

OverlapCase parsed(Words words) {
  words.insert(words.begin(), "overlap");
  const auto cases = test::cases_of(words);
  EXPECT_EQ(cases.size(), 1U);
  return overlap_case(cases.front().config, 7);
}

/// Like an H200's.
StageCosts costs() {
  StageCosts c;
  model::StageCosts& s = c.in_stream;
  s.h2d = {2.4e-6, 1 / 55.5e9, 0.945, 1.2};
  s.kernel = {2.2e-6, 1 / 300e9};
  s.d2h = {1.9e-6, 1 / 55.4e9, 0.914, 2.4};
  s.submit_h2d = s.submit_d2h = 1.5e-6;
  s.submit_kernel = 2.2e-6;
  c.across_streams = s;
  c.across_streams.handoff = 1.3e-6;
  return c;
}

double predicted_of(const Words& words, bool gated = true) { return predicted(costs(), parsed(words), gated).value(); }

std::vector<double> even(double bytes, std::size_t chunks) {
  return std::vector<double>(chunks, bytes / static_cast<double>(chunks));
}

constexpr double kBytes = 256e0 * 1024 * 1024;

model::StageCosts hidden(model::StageCosts c) {
  c.submit_h2d = c.submit_kernel = c.submit_d2h = 0;
  return c;
}

// --- What a case means -----------------------------------------------------------------------------------------------

TEST(OverlapCaseOf, TheDefaultsAreStreamsInTurn) {
  const OverlapCase c = parsed({});
  EXPECT_EQ(c.pipeline.strategy, Strategy::streams);
  EXPECT_FALSE(c.pipeline.graph);
  EXPECT_EQ(c.pipeline.streams, 4U);
  EXPECT_EQ(c.work.chunks, 32U);
  EXPECT_EQ(c.work.growth, 1);
  EXPECT_EQ(c.work.rounds, 1U);
  EXPECT_EQ(c.work.slots, 4U) << "a stream's chunks take turns in one place";
  EXPECT_FALSE(c.work.in_place);
  EXPECT_EQ(c.work.seed, 7U);
}

TEST(OverlapCaseOf, SlotsAreTwoForADoubleBufferAndAllForEngines) {
  EXPECT_EQ(parsed({"--strategy", "double-buffer"}).work.slots, 2U);
  EXPECT_EQ(parsed({"--strategy", "graph-double-buffer"}).work.slots, 2U);
  EXPECT_EQ(parsed({"--strategy", "double-buffer", "--slots", "3"}).work.slots, 3U);
  EXPECT_EQ(parsed({"--strategy", "engines"}).work.slots, 0U);
  EXPECT_EQ(parsed({"--strategy", "batch", "--slots", "8"}).work.slots, 8U);
}

TEST(OverlapCaseOf, EveryAxisArrives) {
  const OverlapCase c = parsed({"--strategy", "batch",    "--batch",  "5",      "--slots",    "9",
                                "--chunks",   "40",       "--growth", "1.05",   "--in-place", "--rounds",
                                "3",          "--kernel", "sincos",   "--work", "11",         "--kernels-per-chunk",
                                "2",          "--blocks", "17"});
  EXPECT_EQ(c.pipeline.batch, 5U);
  EXPECT_EQ(c.work.slots, 9U);
  EXPECT_EQ(c.work.chunks, 40U);
  EXPECT_EQ(c.work.growth, 1.05);
  EXPECT_TRUE(c.work.in_place);
  EXPECT_EQ(c.work.rounds, 3U);
  EXPECT_EQ(c.work.op, kernels::ElementwiseOp::sincos);
  EXPECT_EQ(c.work.work, 11U);
  EXPECT_EQ(c.work.kernels_per_chunk, 2U);
  EXPECT_EQ(c.work.blocks, 17U);
}

// --- Predictions -----------------------------------------------------------------------------------------------------

TEST(Predicted, SerialIsTheSumOfTheStages) {
  const model::StageCosts& s = costs().in_stream;
  const double per_byte = s.h2d.per_byte + s.kernel.per_byte + s.d2h.per_byte;
  const double once = s.h2d.per_operation + s.kernel.per_operation + s.d2h.per_operation;
  EXPECT_NEAR(predicted_of({"--strategy", "serial"}), once + kBytes * per_byte, kExact);
}

TEST(Predicted, StreamsTakeTurnsWithoutEvents) {
  const model::StageCosts c = hidden(costs().in_stream);
  const auto turns = [&](std::size_t streams, std::size_t wave) {
    return makespan(c, {.chunks = even(kBytes, 32), .h2d_after_d2h = streams, .wave = wave});
  };
  EXPECT_DOUBLE_EQ(predicted_of({"--streams", "3"}), turns(3, 1));
  EXPECT_DOUBLE_EQ(predicted_of({"--streams", "3", "--issue", "breadth"}), turns(3, 3));
  EXPECT_DOUBLE_EQ(predicted_of({"--streams", "3", "--stream-kind", "default"}), turns(1, 1));
}

TEST(Predicted, EnginesWaitForEventsAndSlots) {
  const model::StageCosts c = hidden(costs().across_streams);
  const std::vector<double> parts = even(kBytes, 32);
  EXPECT_DOUBLE_EQ(predicted_of({"--strategy", "engines"}), makespan(c, {.chunks = parts}));
  const double apart = makespan(c, {.chunks = parts, .h2d_after_kernel = 3, .kernel_after_d2h = 3});
  EXPECT_DOUBLE_EQ(predicted_of({"--strategy", "engines", "--slots", "3"}), apart);
  EXPECT_DOUBLE_EQ(predicted_of({"--strategy", "double-buffer", "--slots", "3"}), apart);
  const double in_place = makespan(c, {.chunks = parts, .h2d_after_d2h = 3});
  EXPECT_DOUBLE_EQ(predicted_of({"--strategy", "engines", "--slots", "3", "--in-place"}), in_place);
  const double two = makespan(c, {.chunks = parts, .h2d_after_kernel = 2, .kernel_after_d2h = 2});
  EXPECT_DOUBLE_EQ(predicted_of({"--strategy", "double-buffer"}), two);
}

TEST(Predicted, ABatchIsOneCopyOfAllItsChunksAndAsManyKernels) {
  model::StageCosts c = hidden(costs().across_streams);
  c.kernel.per_operation *= 4;
  EXPECT_DOUBLE_EQ(predicted_of({"--strategy", "batch"}), makespan(c, {.chunks = even(kBytes, 8)}));
  const double limited = makespan(c, {.chunks = even(kBytes, 8), .h2d_after_kernel = 2, .kernel_after_d2h = 2});
  EXPECT_DOUBLE_EQ(predicted_of({"--strategy", "batch", "--slots", "8"}), limited);
}

TEST(Predicted, ABatchOfMoreChunksThanThereAreIsOneOfThemAll) {
  EXPECT_DOUBLE_EQ(predicted_of({"--strategy", "batch", "--batch", "64", "--chunks", "8"}),
                   predicted_of({"--strategy", "batch", "--batch", "8", "--chunks", "8"}));
}

TEST(Predicted, RoundsAreMoreChunks) {
  const double three = makespan(hidden(costs().in_stream), {.chunks = even(3 * kBytes, 96), .h2d_after_d2h = 4});
  EXPECT_DOUBLE_EQ(predicted_of({"--rounds", "3"}), three);
}

TEST(Predicted, KernelsOfAChunkFollowEachOther) {
  model::StageCosts c = hidden(costs().in_stream);
  c.kernel.per_operation *= 3;
  EXPECT_DOUBLE_EQ(predicted_of({"--kernels-per-chunk", "3"}),
                   makespan(c, {.chunks = even(kBytes, 32), .h2d_after_d2h = 4}));
}

TEST(Predicted, SubmissionCountsWhereItIsNotHidden) {
  const Words many{"--size", "1M", "--chunks", "256"};
  EXPECT_GT(predicted_of(many, false), 256 * (1.5e-6 + 2.2e-6 + 1.5e-6));
  EXPECT_LT(predicted_of(many, true), predicted_of(many, false));
  const Words replayed{"--size", "1M", "--chunks", "256", "--strategy", "graph"};
  EXPECT_DOUBLE_EQ(predicted_of(replayed, false), predicted_of(replayed, true)) << "one call, whatever it holds";
}

TEST(Predicted, IsNothingWhereTheModelDoesNotApply) {
  for (const Words& words : {Words{"--strategy", "zero-copy"}, {"--strategy", "graph-zero-copy"}, {"--blocks", "8"}}) {
    const OverlapCase c = parsed(words);
    EXPECT_FALSE(modelled(c)) << words[1];
    EXPECT_FALSE(predicted(costs(), c, true)) << words[1];
    EXPECT_FALSE(losses(costs(), c, true, 1e-2, 5e-3)) << words[1];
    EXPECT_FALSE(suggestion(costs(), c, true)) << words[1];
  }
}

// --- Losses ----------------------------------------------------------------------------------------------------------

TEST(LossesOf, AddUpToTheMakespanForEveryStrategy) {
  constexpr double kMakespan = 6e-3;
  constexpr double kLimit = 5.28e-3;
  for (const char* strategy :
       {"streams", "engines", "double-buffer", "batch", "graph", "graph-streams", "graph-double-buffer"}) {
    for (const bool gated : {true, false}) {
      const auto l = losses(costs(), parsed({"--strategy", strategy}), gated, kMakespan, kLimit);
      ASSERT_TRUE(l) << strategy;
      EXPECT_NEAR(l->limit + l->fill_drain + l->overhead + l->slots + l->submission + l->unexplained, kMakespan, kExact)
          << strategy;
      EXPECT_DOUBLE_EQ(l->limit, kLimit) << strategy;
    }
  }
}

TEST(LossesOf, NothingIsUnexplainedWhereTheModelIsRight) {
  for (const Words& words : {Words{}, Words{"--streams", "2", "--chunks", "7"}, Words{"--strategy", "double-buffer"},
                             Words{"--strategy", "engines"}}) {
    const OverlapCase c = parsed(words);
    const double limit = lower_bound(costs().in_stream, kBytes);
    const auto l = losses(costs(), c, true, *predicted(costs(), c, true), limit);
    ASSERT_TRUE(l);
    EXPECT_NEAR(l->unexplained, 0, 1e-9);
    EXPECT_GT(l->contention, 0) << "the link sets the limit";
  }
}

// --- Suggestions -----------------------------------------------------------------------------------------------------

Words split(const std::string& flags) {
  std::istringstream in(flags);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// The words with the flags in place of those that they name.
Words with(Words words, const std::string& flags) {
  const Words more = split(flags);
  for (std::size_t i = 0; i + 1 < more.size(); i += 2) {
    const auto given = std::ranges::find(words, more[i]);
    if (given != words.end()) words.erase(given, given + 2);
    words.insert(words.end(), {more[i], more[i + 1]});
  }
  return words;
}

// A suggestion is to be followed: its flags must be legal, do what is promised, and leave nothing to suggest.
TEST(SuggestionOf, CanBeFollowedAndKeepsItsPromise) {
  const std::vector<Words> all{{"--chunks", "1"},
                               {"--streams", "1"},
                               {"--streams", "2", "--chunks", "4"},
                               {"--chunks", "256", "--size", "1M"},
                               {"--strategy", "engines", "--chunks", "2"},
                               {"--strategy", "engines", "--slots", "1"},
                               {"--strategy", "engines", "--slots", "2", "--in-place"},
                               {"--strategy", "double-buffer", "--chunks", "4"},
                               {"--strategy", "graph-double-buffer", "--chunks", "4"},
                               {"--strategy", "batch", "--batch", "8", "--slots", "8"},
                               {"--strategy", "batch", "--batch", "4", "--slots", "8", "--chunks", "8"},
                               {"--growth", "1.5"}};
  for (const Words& words : all) {
    const std::string what = testing::PrintToString(words);
    const OverlapCase c = parsed(words);
    const auto better = suggestion(costs(), c, true);
    ASSERT_TRUE(better) << what;
    EXPECT_GT(better->gain, 0.01) << what;
    const Words followed = with(words, better->flags);
    const auto cases = test::cases_of(followed);
    const auto reason = cases.front().scenario->skip_reason(cases.front().config, nullptr);
    EXPECT_FALSE(reason) << what << " is advised " << better->flags << ": " << reason->text;
    const OverlapCase after = parsed(followed);
    const double promised = (1 - better->gain) * *predicted(costs(), c, true);
    const bool gated = operations_of(after.work, after.pipeline) <= RegionTimer::kGateLimit;
    EXPECT_NEAR(*predicted(costs(), after, gated), promised, 1e-9 * promised) << what << " " << better->flags;
    EXPECT_FALSE(suggestion(costs(), after, gated)) << what << " " << better->flags;
  }
}

TEST(SuggestionOf, IsNotMadeForOnePercentOrLess) {
  // Whether there is one depends on how far the best is, and on nothing else.
  for (const char* chunks : {"4", "8", "12", "16", "20", "24", "32", "40", "48", "64", "96", "128", "200", "256"}) {
    for (const char* streams : {"2", "3", "4", "8"}) {
      for (const char* growth : {"1", "1.03", "1.06"}) {
        const Words words{"--chunks", chunks, "--streams", streams, "--growth", growth};
        const double now = predicted_of(words);
        const auto better = suggestion(costs(), parsed(words), true);
        if (better) {
          EXPECT_GT(better->gain, 0.01);
          continue;
        }
        for (const char* other : {"4", "8", "16", "24", "32", "48", "64", "128", "256"}) {
          EXPECT_GT(predicted_of({"--chunks", other, "--streams", streams, "--growth", growth}), 0.989 * now)
              << testing::PrintToString(words) << " against " << other;
        }
      }
    }
  }
}

TEST(SuggestionOf, SerialIsLeftAlone) { EXPECT_FALSE(suggestion(costs(), parsed({"--strategy", "serial"}), true)); }

TEST(BestChunks, AreTheFewestThatAreNearlyAsFastAsTheBest) {
  const OverlapCase c = parsed({"--strategy", "engines"});
  const auto best = best_chunks(costs(), c, true);
  ASSERT_TRUE(best);
  const auto time = [&](std::size_t chunks) {
    OverlapCase other = c;
    other.work.chunks = chunks;
    return *predicted(costs(), other, true);
  };
  for (const std::size_t chunks : {4U, 8U, 16U, 24U, 32U, 48U, 64U, 128U}) {
    EXPECT_LE(time(*best), 1.01 * time(chunks)) << chunks;
    if (chunks < *best) {
      EXPECT_GT(time(chunks), time(*best)) << chunks;
    }
  }
  EXPECT_FALSE(best_chunks(costs(), parsed({"--strategy", "zero-copy"}), true));
  EXPECT_FALSE(best_chunks(costs(), parsed({"--strategy", "serial"}), true));
}

TEST(SuggestionOf, NeverCutsAPayloadIntoMoreThanItsElements) {
  const auto better = suggestion(costs(), parsed({"--size", "16", "--chunks", "1"}), true);
  if (better) {
    EXPECT_EQ(better->flags.find("--chunks"), std::string::npos) << better->flags;
  }
}

}  // namespace
}  // namespace xferbench::test
