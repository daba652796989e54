// Rounds in which ranks exchange in pairs: each pair occurs once, and no rank is in two pairs of a round.
#include "model/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace xferbench::model {
namespace {

/// Fails where a rank is in two pairs, is paired with itself or is out of range.
void expect_matching(const Matching& matching, int n) {
  std::set<int> seen;
  for (const Pair& pair : matching) {
    for (const int one : {pair.first, pair.second}) {
      EXPECT_TRUE(one >= 0 && one < n) << one << " of " << n;
      EXPECT_TRUE(seen.insert(one).second) << one << " is in two pairs of " << n;
    }
  }
}

std::pair<int, int> sorted(const Pair& pair) { return std::minmax(pair.first, pair.second); }

TEST(Matching, ATournamentHasEveryPairExactlyOnce) {
  for (int n = 2; n <= 33; ++n) {
    std::set<std::pair<int, int>> pairs;
    const std::size_t rounds = tournament_rounds(n);
    EXPECT_EQ(rounds, static_cast<std::size_t>(n % 2 == 0 ? n - 1 : n));
    for (std::size_t round = 0; round < rounds; ++round) {
      const Matching matching = tournament_round(n, round);
      expect_matching(matching, n);
      EXPECT_EQ(matching.size(), static_cast<std::size_t>(n / 2)) << "at most one sits out";
      for (const Pair& pair : matching) EXPECT_TRUE(pairs.insert(sorted(pair)).second) << n << ", round " << round;
    }
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(n * (n - 1) / 2));
  }
}

TEST(Matching, ARingHasEachWithTheNextExactlyOnce) {
  for (int n = 2; n <= 17; ++n) {
    std::set<std::pair<int, int>> pairs;
    for (std::size_t round = 0; round < ring_rounds(n); ++round) {
      const Matching matching = ring_round(n, round);
      EXPECT_FALSE(matching.empty());
      expect_matching(matching, n);
      for (const Pair& pair : matching) {
        EXPECT_EQ(pair.second, (pair.first + 1) % n);
        EXPECT_TRUE(pairs.insert(sorted(pair)).second) << n;
      }
    }
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(n == 2 ? 1 : n));
  }
}

TEST(Matching, ASampleIsOfDifferentPairsAndGrowsSlowly) {
  EXPECT_EQ(sampled_rounds(2), 1U);
  EXPECT_EQ(sampled_rounds(16), 4U);
  EXPECT_EQ(sampled_rounds(16384), 14U);
  for (const int n : {2, 3, 5, 16, 31}) {
    std::set<std::pair<int, int>> pairs;
    std::size_t count = 0;
    for (std::size_t round = 0; round < sampled_rounds(n); ++round) {
      const Matching matching = sampled_round(n, round, 7);
      EXPECT_EQ(matching, sampled_round(n, round, 7)) << "every rank comes to the same";
      expect_matching(matching, n);
      EXPECT_EQ(matching.size(), static_cast<std::size_t>(n / 2));
      for (const Pair& pair : matching) pairs.insert(sorted(pair));
      count += matching.size();
    }
    EXPECT_EQ(pairs.size(), count) << "none twice";
  }
  EXPECT_NE(sampled_round(16, 0, 7), sampled_round(16, 0, 8));
}

TEST(Matching, OneAloneHasNoRoundAndBehindTheLastThereIsNone) {
  for (const int n : {0, 1}) {
    EXPECT_EQ(tournament_rounds(n), 0U);
    EXPECT_EQ(ring_rounds(n), 0U);
    EXPECT_EQ(sampled_rounds(n), 0U);
    EXPECT_TRUE(tournament_round(n, 0).empty());
    EXPECT_TRUE(ring_round(n, 0).empty());
    EXPECT_TRUE(sampled_round(n, 0, 1).empty());
  }
  EXPECT_TRUE(tournament_round(4, 3).empty());
  EXPECT_TRUE(ring_round(4, 2).empty());
  EXPECT_TRUE(sampled_round(4, 2, 1).empty());
}

}  // namespace
}  // namespace xferbench::model
