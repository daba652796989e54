// CandidateSearch, tune's search for the best configuration, on landscapes whose best configuration is known.
#include "model/candidate_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>

namespace xferbench::model {
namespace {

/// Makespan in seconds: pipeline fill, the longer of two stages, and a cost per chunk that up to 3 streams hide.
double pipeline_time(double streams, double chunks, double call) {
  const double stage = 5e-3;
  return stage * (1 + 0.4 / streams) + 2 * stage / chunks + call * chunks / std::min(streams, 3.0);
}

/// Configurations with predicted and true times in seconds.
struct Landscape {
  std::vector<Prediction> predictions;
  std::vector<double> truth;
  [[nodiscard]] double best() const { return *std::ranges::min_element(truth); }
};

/// Four strategies. The model's error is up to 10 % for a whole strategy, and 3 % (1 sigma) for each configuration.
Landscape landscape(std::mt19937& random) {
  std::uniform_real_distribution<double> bias(-0.1, 0.1);
  std::normal_distribution<double> noise(0, 0.03);
  Landscape made;
  for (const char* family : {"depth", "breadth", "graph", "threads"}) {
    const double wrong = 1 + bias(random);
    const double call = std::uniform_real_distribution<double>(2e-6, 2e-5)(random);
    for (const double streams : {1., 2., 3., 4., 6., 8.}) {
      for (double chunks = 2; chunks <= 1024; chunks *= std::sqrt(2)) {
        const double predicted = pipeline_time(streams, chunks, call);
        made.predictions.push_back({predicted, family});
        made.truth.push_back(predicted * wrong * (1 + noise(random)));
      }
    }
  }
  return made;
}

/// Gives every candidate to `judge`, round by round, until the search is over.
void judge_all(CandidateSearch& race, const std::function<void(std::size_t)>& judge) {
  for (auto batch = race.next(); !batch.empty(); batch = race.next()) std::ranges::for_each(batch, judge);
}

/// Runs a search to its end; each round adds eight samples with 0.5 % of noise.
CandidateSearch run(const Landscape& land, std::mt19937& random, const CandidateSearchPolicy& policy = {}) {
  CandidateSearch race(land.predictions, policy);
  std::vector<std::vector<double>> samples(land.truth.size());
  std::normal_distribution<double> noise(0, 0.005);
  judge_all(race, [&](std::size_t i) {
    std::vector<double>& own = samples[i];
    for (int n = 0; n < 8; ++n) own.push_back(land.truth[i] * (1 + noise(random)));
    std::ranges::sort(own);
    const double half = 0.005 * own[own.size() / 2] * 2.5 / std::sqrt(static_cast<double>(own.size()));
    const double median = (own[own.size() / 2] + own[own.size() / 2 - 1]) / 2;
    race.record(i, median, Interval{median - half, median + half});
  });
  return race;
}

std::vector<Prediction> plain(std::initializer_list<double> seconds) {
  std::vector<Prediction> all;
  for (const double s : seconds) all.push_back({s, "only"});
  return all;
}

TEST(CandidateSearch, FindsTheBestWithinAPercentByMeasuringAFifth) {
  constexpr int kTrials = 200;
  int found = 0;
  for (unsigned seed = 0; seed < kTrials; ++seed) {
    std::mt19937 random(seed);
    const Landscape land = landscape(random);
    const CandidateSearch race = run(land, random);
    EXPECT_LE(race.measured(), land.truth.size() / 5);
    found += land.truth[*race.leader()] <= 1.01 * land.best() ? 1 : 0;
  }
  EXPECT_GE(found, kTrials * 98 / 100);
}

TEST(CandidateSearch, MeasuresLittleWhereTheModelIsRight) {
  std::mt19937 random(1);
  Landscape land = landscape(random);
  for (std::size_t i = 0; i < land.truth.size(); ++i) land.truth[i] = land.predictions[i].seconds;
  CandidateSearchPolicy trusting;
  trusting.model_error = 0.002;
  const CandidateSearch race = run(land, random, trusting);
  EXPECT_LE(land.truth[*race.leader()], 1.001 * land.best());
  EXPECT_LE(race.measured(), land.truth.size() / 10);
}

TEST(CandidateSearch, BeginsWithTheBestOfEachFamilyAndThenTheBestOfAll) {
  std::vector<Prediction> predictions;
  for (int i = 0; i < 20; ++i) predictions.push_back({1 + 0.01 * i, "fast"});
  for (int i = 0; i < 20; ++i) predictions.push_back({9 - 0.01 * i, "slow"});
  const auto batch = CandidateSearch(predictions).next();
  EXPECT_EQ(batch, (std::vector<std::size_t>{0, 39, 1, 2, 3, 4}));
}

TEST(CandidateSearch, DoesNotOverlookAFamilyThatTheModelUnderrates) {
  std::vector<Prediction> predictions;
  for (int i = 0; i < 40; ++i) predictions.push_back({1 + 0.02 * i, "praised"});
  for (int i = 0; i < 40; ++i) predictions.push_back({3 + 0.02 * i, "underrated"});
  Landscape land{predictions, {}};
  for (const Prediction& p : predictions) land.truth.push_back(p.family == "underrated" ? p.seconds / 6 : p.seconds);
  land.truth[42] = 0.45;  // the best one is not where the model expects it
  std::mt19937 random(1);
  const CandidateSearch race = run(land, random);
  EXPECT_EQ(race.leader(), 42U);
  EXPECT_NEAR(race.corrected(79), 3.78 / 6, 0.05);
}

TEST(CandidateSearch, MeasuresAllOfAFewAndElseAtLeastEightAndAtMostAFifth) {
  CandidateSearch race(plain({3, 1, 2}));
  EXPECT_EQ(race.most(), 3U);
  EXPECT_EQ(race.next(), (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(CandidateSearch(std::vector<Prediction>(20, {1, "f"})).most(), 8U);
  EXPECT_EQ(CandidateSearch(std::vector<Prediction>(100, {1, "f"})).most(), 20U);
}

TEST(CandidateSearch, EndsWhenTheWinnerIsClear) {
  CandidateSearch race(plain({1, 2, 3}));
  for (const std::size_t i : race.next()) {
    const double t = race.corrected(i);
    race.record(i, t, Interval{0.99 * t, 1.01 * t});
  }
  EXPECT_TRUE(race.over());
  EXPECT_EQ(race.standing(), std::vector<std::size_t>{0});
}

TEST(CandidateSearch, MeasuresAgainWhatOverlapsWithTheBestBesideItWhereThatIsTooMuchForAFinal) {
  CandidateSearch race(plain({1, 2, 1}), {.finalists = 1});
  race.record(0, 1, Interval{0.99, 1.01});
  race.record(1, 2, Interval{1.99, 2.01});
  race.record(2, 1.005, Interval{0.995, 1.015});
  EXPECT_EQ(race.next(), (std::vector<std::size_t>{0, 2}));
  race.record(0, 1, Interval{0.999, 1.001});
  race.record(2, 1.004, Interval{1.003, 1.005});
  EXPECT_TRUE(race.over()) << "told apart";
  EXPECT_EQ(race.standing(), (std::vector<std::size_t>{0, 2})) << "within a percent all the same";
}

TEST(CandidateSearch, LeavesItToTheFinalToTellAFewApart) {
  CandidateSearch race(plain({1, 2, 1}));
  race.record(0, 1, Interval{0.99, 1.01});
  race.record(1, 2, Interval{1.99, 2.01});
  race.record(2, 1.005, Interval{0.995, 1.015});
  EXPECT_TRUE(race.over());
  EXPECT_EQ(race.standing(), (std::vector<std::size_t>{0, 2}));
}

TEST(CandidateSearch, GivesUpTellingApartWhatLiesWithinNoise) {
  CandidateSearch race(plain({1, 1}), {.finalists = 1});
  int rounds = 0;
  for (auto batch = race.next(); !batch.empty() && rounds < 100; batch = race.next(), ++rounds) {
    for (const std::size_t i : batch) race.record(i, 1, Interval{0.99, 1.01});
  }
  EXPECT_EQ(rounds, 2);
}

/// Whether the search measures the second candidate, predicted almost exactly, after the first one took 1.
bool tries_for(double predicted) {
  CandidateSearch race(plain({1, predicted}), {.model_error = 1e-6, .least = 2, .batch = 1});
  race.record(0, 1, Interval{1, 1});
  return !race.over();
}

TEST(CandidateSearch, DoesNotTryForWhatHardlyMatters) {
  EXPECT_TRUE(tries_for(0.99));
  EXPECT_FALSE(tries_for(0.997));
}

TEST(CandidateSearch, ThinksNoWorseOfAFamilyBecauseTheModelIsBadAtAnother) {
  std::vector<Prediction> predictions;
  for (int i = 0; i < 40; ++i) predictions.push_back({1 + 0.002 * i, "known"});
  for (int i = 0; i < 40; ++i) predictions.push_back({1 + 0.002 * i, "wild"});
  Landscape land{predictions, {}};
  for (std::size_t i = 0; i < 80; ++i) {
    land.truth.push_back(i < 40 ? predictions[i].seconds : 1.2 + 0.05 * static_cast<double>(i % 3));
  }
  std::mt19937 random(1);
  CandidateSearchPolicy all;
  all.share = 1;
  const CandidateSearch race = run(land, random, all);
  EXPECT_LE(land.truth[*race.leader()], 1.005 * land.best());
  EXPECT_LE(race.measured(), 30U);
}

TEST(CandidateSearch, DropsWhatFailsAndAFamilyThatAlwaysDoes) {
  std::vector<Prediction> predictions(20, {1, "broken"});
  predictions.resize(40, {2, "sound"});
  CandidateSearch race(predictions);
  std::set<std::size_t> tried;
  judge_all(race, [&](std::size_t i) {
    tried.insert(i);
    if (predictions[i].family == "broken") {
      race.fail(i);
    } else {
      race.record(i, 2, Interval{1.99, 2.01});
    }
  });
  ASSERT_TRUE(race.leader());
  EXPECT_EQ(predictions[*race.leader()].family, "sound");
  EXPECT_LE(tried.size(), race.most());
}

TEST(CandidateSearch, IsOverIfEverythingFailsOrThereIsNothing) {
  for (const auto& predictions : {plain({1, 2, 3}), plain({})}) {
    CandidateSearch race(predictions);
    judge_all(race, [&](std::size_t i) { race.fail(i); });
    EXPECT_TRUE(race.over());
    EXPECT_EQ(race.leader(), std::nullopt);
    EXPECT_TRUE(race.standing().empty());
  }
}

TEST(CandidateSearch, TakesWhatTheModelCannotPredictForSlow) {
  CandidateSearch race(plain({std::nan(""), 2, 0, 1}), {.batch = 2});
  EXPECT_EQ(race.next(), (std::vector<std::size_t>{3, 0}));
  judge_all(race, [&](std::size_t i) { race.record(i, 1, Interval{0.99, 1.01}); });
  EXPECT_EQ(race.measured(), 4U) << "all are alike, so the model was wrong";
}

}  // namespace
}  // namespace xferbench::model
