// Contention, which finds the GPUs that share a bottleneck, on made-up machines.
#include "model/contention.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include "measure/statistics.hpp"

namespace xferbench::model {
namespace {

Estimate known(double value, double doubt = 0.005) {
  return {value, Interval{value * (1 - doubt), value * (1 + doubt)}};
}

/// Each GPU alone has rate 100; two at once have the sum rate(a, b).
std::vector<ConcurrentPair> every_pair(std::size_t gpus, const std::function<double(std::size_t, std::size_t)>& rate) {
  std::vector<ConcurrentPair> pairs;
  for (std::size_t b = 1; b < gpus; ++b) {
    for (std::size_t a = 0; a < b; ++a) pairs.push_back({a, b, {known(rate(a, b)), known(200)}});
  }
  return pairs;
}

std::vector<std::vector<std::size_t>> members_of(const Contention& c) {
  std::vector<std::vector<std::size_t>> all;
  for (const Bottleneck& b : c.bottlenecks()) all.push_back(b.members);
  return all;
}

using Groups = std::vector<std::vector<std::size_t>>;

TEST(RateOf, TurnsAnIntervalRound) {
  const Estimate rate = rate_of(100, {2, Interval{1, 4}});
  EXPECT_EQ(rate.value, 50);
  EXPECT_EQ(rate.interval, (Interval{25, 100}));
  EXPECT_FALSE(rate_of(100, {2}).interval);
  EXPECT_EQ(rate_of(100, {}).value, 0) << "nothing was measured";
}

TEST(SumOf, AddsDoubtsAsSquares) {
  const Estimate sum = sum_of(std::vector{Estimate{10, Interval{7, 13}}, Estimate{20, Interval{16, 24}}});
  EXPECT_EQ(sum.value, 30);
  ASSERT_TRUE(sum.interval);
  EXPECT_DOUBLE_EQ(sum.interval->low, 25);
  EXPECT_DOUBLE_EQ(sum.interval->high, 35);
  EXPECT_FALSE(sum_of(std::vector{Estimate{10, Interval{7, 13}}, Estimate{20}}).interval);
}

TEST(SharingOf, IsDecidedByTheWholeInterval) {
  EXPECT_EQ(sharing_of({known(135), known(202)}), Sharing::yes);
  EXPECT_EQ(sharing_of({known(200), known(200)}), Sharing::no);
  EXPECT_EQ(sharing_of({known(230), known(200)}), Sharing::no) << "more than alone";
  EXPECT_EQ(sharing_of({known(193), known(200)}), Sharing::no) << "3.5 % is no bottleneck";
  EXPECT_EQ(sharing_of({known(190, 0.01), known(200)}), Sharing::undecided);
  EXPECT_EQ(sharing_of({known(150, 0.4), known(200)}), Sharing::undecided);
  EXPECT_EQ(sharing_of({{100}, known(200)}), Sharing::undecided) << "without an interval";
  EXPECT_EQ(sharing_of({known(100), {}}), Sharing::undecided) << "nothing is known of them alone";
}

TEST(Contention, NamesTwoSocketsOfFour) {
  const Contention c(8, every_pair(8, [](std::size_t a, std::size_t b) {
                       return a / 4 == b / 4 ? 135.0 + static_cast<double>(b) : 200;
                     }));
  EXPECT_EQ(members_of(c), (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_TRUE(c.independent_across());
  EXPECT_TRUE(c.independent().empty());
  EXPECT_EQ(c.count(Sharing::yes), 12U);
  EXPECT_EQ(c.count(Sharing::no), 16U);
  for (const Bottleneck& b : c.bottlenecks()) EXPECT_TRUE(b.every_pair);
  EXPECT_EQ(c.bottlenecks()[0].least, 136);
  EXPECT_EQ(c.bottlenecks()[0].most, 138);
  EXPECT_EQ(c.bottlenecks()[1].least, 140);
  for (std::size_t a = 0; a < 8; ++a) {
    for (std::size_t b = 0; b < 8; ++b) EXPECT_EQ(c.between(a, b), c.between(b, a));
    EXPECT_EQ(c.between(a, a), Sharing::unknown);
  }
}

TEST(Contention, NamesBridgesOfTwoThatAreNotNeighbours) {
  const Contention c(4, every_pair(4, [](std::size_t a, std::size_t b) { return (a + b) % 2 == 0 ? 100 : 200; }));
  EXPECT_EQ(members_of(c), (Groups{{0, 2}, {1, 3}}));
}

TEST(Contention, IsNoneWhereNobodyShares) {
  const Contention c(4, every_pair(4, [](auto, auto) { return 199; }));
  EXPECT_TRUE(c.bottlenecks().empty());
  EXPECT_TRUE(c.independent_across());
  EXPECT_EQ(c.independent(), (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(Contention, IsOneWhereAllShare) {
  const Contention c(4, every_pair(4, [](auto, auto) { return 110; }));
  EXPECT_EQ(members_of(c), (Groups{{0, 1, 2, 3}}));
  EXPECT_TRUE(c.independent_across()) << "there is nobody else";
}

TEST(Contention, OfAChainSaysThatNotEveryTwoShare) {
  const Contention c(3, every_pair(3, [](std::size_t a, std::size_t b) { return b - a == 1 ? 120 : 200; }));
  EXPECT_EQ(members_of(c), (Groups{{0, 1, 2}}));
  EXPECT_FALSE(c.bottlenecks().front().every_pair);
}

TEST(Contention, OfPairsThatAreMissingIsNotClaimed) {
  const std::vector<ConcurrentPair> pairs{{0, 1, {known(120), known(200)}}, {2, 3, {known(200), known(200)}}};
  const Contention c(4, pairs);
  EXPECT_EQ(members_of(c), (Groups{{0, 1}}));
  EXPECT_FALSE(c.independent_across());
  EXPECT_EQ(c.count(Sharing::unknown), 4U);
  EXPECT_TRUE(c.independent().empty());
}

TEST(Contention, OfGpusAloneIsEmpty) {
  EXPECT_TRUE(Contention(0, {}).bottlenecks().empty());
  EXPECT_TRUE(Contention(1, {}).bottlenecks().empty());
  EXPECT_TRUE(Contention(1, {}).independent_across());
}

TEST(Contention, OfAGpuThatIsNotThereIsAMistake) {
  EXPECT_THROW(Contention(2, std::vector<ConcurrentPair>{{0, 2, {}}}), std::out_of_range);
  EXPECT_THROW(Contention(2, std::vector<ConcurrentPair>{{1, 1, {}}}), std::out_of_range);
}

/// Two sockets of four GPUs, 30 samples per time with lognormal noise. Two GPUs of one socket get 134 of 200.
Contention noisy_sockets(double noise, unsigned seed) {
  std::mt19937 random(seed);  // NOLINT: a fixed seed makes the test repeatable
  std::lognormal_distribution<double> factor(0, noise);
  const auto rate = [&](double of_rate) {
    std::vector<double> times(30);
    for (double& t : times) t = factor(random) / of_rate;
    return rate_of(1, {statistics::median(times), statistics::median_interval(times)});
  };
  std::vector<ConcurrentPair> pairs;
  for (std::size_t b = 1; b < 8; ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      pairs.push_back({a, b, {rate(a / 4 == b / 4 ? 134 : 200), sum_of(std::vector{rate(100), rate(100)})}});
    }
  }
  return {8, pairs};
}

TEST(Contention, IsFoundInNoise) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Contention c = noisy_sockets(0.03, seed);
    EXPECT_EQ(members_of(c), (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}})) << seed;
  }
}

TEST(Contention, IsNotInventedByMoreNoise) {
  std::size_t invented = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Contention c = noisy_sockets(0.3, seed);
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = 4; b < 8; ++b) invented += c.between(a, b) == Sharing::yes ? 1 : 0;
    }
  }
  EXPECT_LE(invented, 200U * 16 * 3 / 100) << "of 3200 pairs that share nothing";
}

TEST(Contention, OfAThousandGpusTakesNoTime) {
  const Contention c(1000, every_pair(1000, [](std::size_t a, std::size_t b) { return a / 8 == b / 8 ? 120 : 200; }));
  EXPECT_EQ(c.bottlenecks().size(), 125U);
  EXPECT_TRUE(c.independent_across());
}

TEST(FirstThatShares, IsWhereACommonLimitIsReached) {
  const auto at_once = [](double together, double alone) { return ConcurrentRates{known(together), known(alone)}; };
  EXPECT_EQ(first_shared_group(std::vector{at_once(110, 110), at_once(165, 165), at_once(180, 220)}), 2U);
  EXPECT_FALSE(first_shared_group(std::vector{at_once(110, 110), at_once(165, 165)}));
  EXPECT_FALSE(first_shared_group({}));
}

}  // namespace
}  // namespace xferbench::model
