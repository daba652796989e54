// SampleHistory: samples of several turns (passes over all cases) are merged as if taken in one.
#include "measure/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace xferbench {
namespace {

Series series(std::vector<double> samples, Stop stop = Stop::ci, std::vector<std::string> flags = {}) {
  Series s;
  s.elapsed.name = "work";
  s.elapsed.samples = std::move(samples);
  s.elapsed.warmup_runs = 4;
  s.elapsed.warmup_converged = true;
  s.elapsed.gate_timeouts = 1;
  s.elapsed.checked = 2;
  s.elapsed.stop = stop;
  s.elapsed.flags = std::move(flags);
  s.submit = s.elapsed;
  s.submit.name = "work-submit";
  return s;
}

std::vector<double> around(double middle, std::size_t count) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) samples.push_back(middle * (1 + 1e-4 * static_cast<double>(i % 5)));
  return samples;
}

/// The merged measurement after these turns.
Measurement after(const std::vector<Series>& turns, double ci = 0.01) {
  SampleHistory history(ci);
  Measurement last;
  for (const Series& turn : turns) {
    history.begin_turn();
    last = history.continued({turn}).front().elapsed;
  }
  return last;
}

TEST(ShareOf, OneTurnTakesAllOfIt) {
  const SamplingPolicy wanted{.ci = 0.02, .budget = 4, .min_samples = 3, .max_samples = 5};
  const SamplingPolicy share = share_of(wanted, 1);
  EXPECT_EQ(share.min_samples, 3U);
  EXPECT_EQ(share.max_samples, 5U);
  EXPECT_EQ(share.ci, 0.02);
  EXPECT_EQ(share.budget, 4);
}

TEST(ShareOf, TurnsDivideTheSamplesAndTheBudgetAndWidenTheTarget) {
  const SamplingPolicy share = share_of({.ci = 0.01, .budget = 3, .min_samples = 30, .max_samples = 100}, 4);
  EXPECT_DOUBLE_EQ(share.ci, 0.02);
  EXPECT_DOUBLE_EQ(share.budget, 0.75);
  EXPECT_EQ(share.min_samples, 8U);
  EXPECT_EQ(share.max_samples, 25U);
}

TEST(ShareOf, EveryTurnHasEnoughForAnIntervalWhereItMay) {
  EXPECT_EQ(share_of({.min_samples = 10, .max_samples = 1000}, 5).min_samples, 6U);
  EXPECT_EQ(share_of({.min_samples = 10, .max_samples = 10}, 5).min_samples, 2U);
}

TEST(SampleHistory, TheFirstTurnIsAsItIs) {
  EXPECT_EQ(after({series({1, 2, 3})}).samples, (std::vector<double>{1, 2, 3}));
}

TEST(SampleHistory, LaterTurnsGoOnCallByCall) {
  SampleHistory history(0.01);
  history.begin_turn();
  history.continued({series({1, 1})});
  history.continued({series({5})});
  history.begin_turn();
  const Measurement first = history.continued({series({2, 2})}).front().elapsed;
  const Measurement second = history.continued({series({6})}).front().elapsed;
  EXPECT_EQ(first.samples, (std::vector<double>{1, 1, 2, 2}));
  EXPECT_EQ(second.samples, (std::vector<double>{5, 6}));
  EXPECT_DOUBLE_EQ(first.median, 1.5);
  EXPECT_EQ(first.warmup_runs, 8U);
  EXPECT_EQ(first.gate_timeouts, 2U);
  EXPECT_EQ(first.checked, 4U);
}

TEST(SampleHistory, StatisticsAreThoseOfAllSamples) {
  const Measurement all = after({series(around(1, 20), Stop::ci, {"throttled", "drift"}), series(around(1, 20))});
  EXPECT_EQ(all.stop, Stop::ci);
  EXPECT_TRUE(all.ci95.has_value());
  EXPECT_EQ(all.flags, std::vector<std::string>{"throttled"}) << "a turn was; all samples together do not drift";
}

TEST(SampleHistory, TurnsThatDisagreeHaveNotReachedTheTarget) {
  const Measurement all = after({series(around(1, 20)), series(around(1.2, 20))});
  EXPECT_EQ(all.stop, Stop::budget);
  EXPECT_NE(std::ranges::find(all.flags, "drift"), all.flags.end());
}

TEST(SampleHistory, ADriftBetweenTurnsIsNoTargetReachedHoweverWideItIs) {
  const Measurement all = after({series(around(1, 20)), series(around(1, 20)), series(around(1.03, 20))}, 0.1);
  ASSERT_NE(std::ranges::find(all.flags, "drift"), all.flags.end());
  ASSERT_LE(*relative_half_width(all), 0.1);
  EXPECT_EQ(all.stop, Stop::budget);
}

TEST(SampleHistory, WhatSamplingDoesNotGoOnForSaysSoInAllTurnsTogether) {
  EXPECT_EQ(after({series({1, 2, 3}, Stop::others), series({1, 2, 3}, Stop::others)}).stop, Stop::others);
  EXPECT_EQ(after({series({1, 2, 3}, Stop::others), series({1, 2, 3}, Stop::max_samples)}).stop, Stop::budget);
}

TEST(SampleHistory, AnInterruptedTurnInterruptsTheWhole) {
  EXPECT_EQ(after({series(around(1, 20)), series(around(1, 3), Stop::interrupted)}).stop, Stop::interrupted);
}

TEST(SampleHistory, LaterTurnsRepeatAsTheFirstDid) {
  SampleHistory history(0.01);
  std::vector<Region> regions(2);
  history.begin_turn();
  history.repeat_as_before(regions);
  EXPECT_EQ(regions[0].batch, 0U) << "the first turn chooses";
  Series often = series({1});
  often.elapsed.batch = 7;
  Series alike = series({1});  // a series without a region of its own, added by the sampler
  history.continued({often, series({1}), alike});
  history.begin_turn();
  history.repeat_as_before(regions);
  EXPECT_EQ(regions[0].batch, 7U);
  EXPECT_EQ(regions[1].batch, 1U);
}

TEST(SampleHistory, SamplesOfDifferentNumbersOfRepetitionsAreDifferentThings) {
  Series often = series({1});
  often.elapsed.batch = 2;
  EXPECT_THROW(after({series({1}), often}), std::logic_error);
}

TEST(SampleHistory, TurnsThatSampleDifferentThingsAreAMistake) {
  SampleHistory history(0.01);
  history.begin_turn();
  history.continued({series({1})});
  history.begin_turn();
  EXPECT_THROW(history.continued({series({1}), series({1})}), std::logic_error);
  history.begin_turn();
  Series other = series({1});
  other.elapsed.name = "another";
  EXPECT_THROW(history.continued({other}), std::logic_error);
}

}  // namespace
}  // namespace xferbench
