// Cases of scenario overlap and the model's prediction for them.
#include "scenarios/overlap/case.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "parsing.hpp"
#include "unit/support.hpp"

namespace xferbench::test {
namespace {

constexpr double kExact = 1e-12;  // relative; sums round

PlannedCase planned_of(const std::string& flags) {
  const auto cases = test::cases_of(words_of("overlap " + flags));
  EXPECT_EQ(cases.size(), 1U);
  return cases.front();
}

OverlapCase parsed(const std::string& flags) { return overlap_case(planned_of(flags).config); }

/// Similar to an H200.
StageCosts costs() {
  StageCosts c;
  model::StageCosts& s = c.in_stream;
  s.h2d = {2.4e-6, 1 / 55.5e9, 0.945, 1.2};
  s.kernel = {2.2e-6, 1 / 300e9};
  s.d2h = {1.9e-6, 1 / 55.4e9, 0.914, 2.4};
  s.submit_h2d = s.submit_d2h = 1.5e-6;
  s.submit_kernel = 2.2e-6;
  c.across_streams = s;
  c.across_streams.handoff = model::Handoff::alike(1.3e-6);
  c.in_turns = s;
  c.in_turns.d2h.duplex_rate = 0.9;
  return c;
}

double predicted_of(const std::string& flags, bool gated = true) {
  return predicted(costs(), parsed(flags), gated).value();
}

std::vector<double> even(double bytes, std::size_t chunks) {
  return std::vector<double>(chunks, bytes / static_cast<double>(chunks));
}

constexpr double kCaseBytes = 256e0 * 1024 * 1024;

model::StageCosts hidden(model::StageCosts c) {
  c.submit_h2d = c.submit_kernel = c.submit_d2h = 0;
  return c;
}

// --- Parsing of cases ------------------------------------------------------------------------------------------------

TEST(OverlapCaseOf, TheDefaultsAreStreamsInTurn) {
  const OverlapCase c = parsed("");
  EXPECT_EQ(c.pipeline.strategy, Strategy::streams);
  EXPECT_FALSE(c.pipeline.graph);
  EXPECT_EQ(c.pipeline.streams, 4U);
  EXPECT_EQ(c.work.chunks, 32U);
  EXPECT_EQ(c.work.growth, 1);
  EXPECT_EQ(c.work.rounds, 1U);
  EXPECT_EQ(c.work.slots, 4U) << "a stream's chunks take turns in one place";
  EXPECT_FALSE(c.work.in_place);
}

TEST(OverlapCaseOf, SlotsAreTwoForADoubleBufferAndAllForEngines) {
  const std::map<std::string, std::size_t> slots{{"double-buffer", 2},
                                                 {"graph-double-buffer", 2},
                                                 {"double-buffer --slots 3", 3},
                                                 {"engines", 0},
                                                 {"batch --slots 8", 8}};
  for (const auto& [strategy, n] : slots) EXPECT_EQ(parsed("--strategy " + strategy).work.slots, n) << strategy;
}

TEST(OverlapCaseOf, EveryAxisArrives) {
  const OverlapCase c = parsed(
      "--strategy batch --batch 5 --slots 9 --chunks 40 --growth 1.05 --in-place --rounds 3 --kernel sincos --work 11 "
      "--kernels-per-chunk 2 --blocks 17");
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
  EXPECT_NEAR(predicted_of("--strategy serial"), once + kCaseBytes * per_byte, kExact);
}

TEST(Predicted, IsTheMakespanOfWhatTheStrategyArranges) {
  const model::StageCosts in_turns = hidden(costs().in_turns);
  const model::StageCosts across = hidden(costs().across_streams);
  const auto with_kernels = [](model::StageCosts c, double kernels) {
    c.kernel.per_operation *= kernels;
    return c;
  };
  const std::vector<double> parts = even(kCaseBytes, 32);
  const std::vector<double> batches = even(kCaseBytes, 8);
  struct Arranged {
    const char* flags;
    model::StageCosts costs;
    model::Arrangement arrangement;
  };
  const std::vector<Arranged> all{
      {"--streams 3", in_turns, {.chunks = parts, .h2d_after_d2h = 3}},
      {"--streams 3 --issue breadth", in_turns, {.chunks = parts, .h2d_after_d2h = 3, .wave = 3}},
      {"--streams 3 --stream-kind default", in_turns, {.chunks = parts, .h2d_after_d2h = 1}},
      {"--rounds 3", in_turns, {.chunks = even(3 * kCaseBytes, 96), .h2d_after_d2h = 4}},
      {"--kernels-per-chunk 3", with_kernels(in_turns, 3), {.chunks = parts, .h2d_after_d2h = 4}},
      {"--strategy engines", across, {.chunks = parts}},
      {"--strategy engines --slots 3", across, {.chunks = parts, .h2d_after_kernel = 3, .kernel_after_d2h = 3}},
      {"--strategy engines --slots 3 --in-place", across, {.chunks = parts, .h2d_after_d2h = 3}},
      {"--strategy double-buffer --slots 3", across, {.chunks = parts, .h2d_after_kernel = 3, .kernel_after_d2h = 3}},
      {"--strategy double-buffer", across, {.chunks = parts, .h2d_after_kernel = 2, .kernel_after_d2h = 2}},
      // A batch has one copy for all its chunks, and one kernel per chunk.
      {"--strategy batch", with_kernels(across, 4), {.chunks = batches}},
      {"--strategy batch --slots 8",
       with_kernels(across, 4),
       {.chunks = batches, .h2d_after_kernel = 2, .kernel_after_d2h = 2}},
  };
  for (const Arranged& a : all) EXPECT_DOUBLE_EQ(predicted_of(a.flags), makespan(a.costs, a.arrangement)) << a.flags;
  EXPECT_DOUBLE_EQ(predicted_of("--strategy batch --batch 64 --chunks 8"),
                   predicted_of("--strategy batch --batch 8 --chunks 8"))
      << "no batch has more chunks than there are";
}

TEST(Predicted, SubmissionCountsWhereItIsNotHidden) {
  const std::string many = "--size 1M --chunks 256";
  EXPECT_GT(predicted_of(many, false), 256 * (1.5e-6 + 2.2e-6 + 1.5e-6));
  EXPECT_LT(predicted_of(many, true), predicted_of(many, false));
  const std::string replayed = many + " --strategy graph";
  EXPECT_DOUBLE_EQ(predicted_of(replayed, false), predicted_of(replayed, true)) << "one call, whatever it holds";
}

TEST(Predicted, IsNothingWhereTheModelDoesNotApply) {
  for (const char* flags : {"--strategy zero-copy", "--strategy graph-zero-copy", "--blocks 8"}) {
    const OverlapCase c = parsed(flags);
    EXPECT_FALSE(modelled(c)) << flags;
    EXPECT_FALSE(predicted(costs(), c, true)) << flags;
    EXPECT_FALSE(losses(costs(), c, true, 1e-2, 5e-3)) << flags;
    EXPECT_FALSE(suggestion(costs(), c, true)) << flags;
  }
}

// --- Losses ----------------------------------------------------------------------------------------------------------

TEST(LossesOf, AddUpToTheMakespanForEveryStrategy) {
  constexpr double kMakespan = 6e-3;
  constexpr double kLimit = 5.28e-3;
  for (const char* strategy :
       {"streams", "engines", "double-buffer", "batch", "graph", "graph-streams", "graph-double-buffer"}) {
    for (const bool gated : {true, false}) {
      const auto l = losses(costs(), parsed(std::string("--strategy ") + strategy), gated, kMakespan, kLimit);
      ASSERT_TRUE(l) << strategy;
      EXPECT_NEAR(l->limit + l->fill_drain + l->overhead + l->slots + l->submission + l->unexplained, kMakespan, kExact)
          << strategy;
      EXPECT_DOUBLE_EQ(l->limit, kLimit) << strategy;
    }
  }
}

TEST(LossesOf, NothingIsUnexplainedWhereTheModelIsRight) {
  for (const char* flags : {"", "--streams 2 --chunks 7", "--strategy double-buffer", "--strategy engines"}) {
    const OverlapCase c = parsed(flags);
    const double limit = lower_bound(costs().in_stream, kCaseBytes);
    const auto l = losses(costs(), c, true, *predicted(costs(), c, true), limit);
    ASSERT_TRUE(l);
    EXPECT_NEAR(l->unexplained, 0, 1e-9);
    EXPECT_GT(l->contention, 0) << "the link sets the limit";
  }
}

// --- Suggestions -----------------------------------------------------------------------------------------------------

/// Merges two lists of flags; `more` replaces flags of the same name.
std::string with(const std::string& flags, const std::string& more) {
  std::map<std::string, std::string> values;
  std::istringstream in(flags + " " + more);
  for (std::string flag, value; in >> flag >> value;) values[flag] = value;
  std::string all;
  for (const auto& [flag, value] : values) all += flag + " " + value + " ";
  return all;
}

// A suggestion must be usable: its flags are legal, gain what is promised, and lead to no further suggestion.
TEST(SuggestionOf, CanBeFollowedAndKeepsItsPromise) {
  for (const std::string flags :
       {"--chunks 1", "--streams 1", "--streams 2 --chunks 4", "--chunks 256 --size 1M",
        "--strategy engines --chunks 2", "--strategy engines --slots 1", "--strategy engines --in-place yes --slots 2",
        "--strategy double-buffer --chunks 4", "--strategy graph-double-buffer --chunks 4",
        "--strategy batch --batch 8 --slots 8", "--strategy batch --batch 4 --slots 8 --chunks 8", "--growth 1.5"}) {
    const OverlapCase c = parsed(flags);
    const auto better = suggestion(costs(), c, true);
    ASSERT_TRUE(better) << flags;
    EXPECT_GT(better->gain, 0.01) << flags;
    const std::string followed = with(flags, better->flags);
    const PlannedCase planned = planned_of(followed);
    const auto reason = planned.scenario->skip_reason(planned.config, nullptr);
    EXPECT_FALSE(reason) << flags << " is advised " << better->flags << ": " << reason->text;
    const OverlapCase after = parsed(followed);
    const double promised = (1 - better->gain) * *predicted(costs(), c, true);
    const bool gated = operations_of(after.work, after.pipeline) <= RegionTimer::kGateLimit;
    EXPECT_NEAR(*predicted(costs(), after, gated), promised, 1e-9 * promised) << flags << " " << better->flags;
    EXPECT_FALSE(suggestion(costs(), after, gated)) << flags << " " << better->flags;
  }
}

void expect_none_for_little(const std::vector<std::string>& all_streams, const std::vector<std::string>& growths) {
  // A suggestion is made exactly where the best configuration is more than 1 % faster.
  for (const std::string& streams : all_streams) {
    for (const std::string& growth : growths) {
      const std::string rest = " --streams " + streams + " --growth " + growth;
      double best = std::numeric_limits<double>::infinity();
      for (const char* chunks : {"4", "8", "16", "24", "32", "48", "64", "128", "256"}) {
        best = std::min(best, predicted_of("--chunks " + (chunks + rest)));
      }
      for (const char* chunks : {"4", "12", "20", "24", "40", "64", "96", "200", "256"}) {
        const std::string flags = "--chunks " + (chunks + rest);
        const auto better = suggestion(costs(), parsed(flags), true);
        if (better) {
          EXPECT_GT(better->gain, 0.01);
        } else {
          EXPECT_GT(best, 0.989 * predicted_of(flags)) << flags;
        }
      }
    }
  }
}

TEST(SuggestionOf, IsNotMadeForOnePercentOrLess) { expect_none_for_little({"2", "8"}, {"1", "1.06"}); }
TEST(SuggestionOfLong, IsNotMadeForOnePercentOrLess) {
  expect_none_for_little({"2", "3", "4", "8"}, {"1", "1.03", "1.06"});
}

TEST(SuggestionOf, SerialIsLeftAlone) { EXPECT_FALSE(suggestion(costs(), parsed("--strategy serial"), true)); }

TEST(BestChunks, AreTheFewestThatAreNearlyAsFastAsTheBest) {
  const OverlapCase c = parsed("--strategy engines");
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
  EXPECT_FALSE(best_chunks(costs(), parsed("--strategy zero-copy"), true));
  EXPECT_FALSE(best_chunks(costs(), parsed("--strategy serial"), true));
}

TEST(SuggestionOf, NeverCutsAPayloadIntoMoreThanItsElements) {
  const auto better = suggestion(costs(), parsed("--size 16 --chunks 1"), true);
  if (better) {
    EXPECT_EQ(better->flags.find("--chunks"), std::string::npos) << better->flags;
  }
}

}  // namespace
}  // namespace xferbench::test
