// Random cycles for pointer chasing, and the host versions of the kernels of scenario latency.
#include "scenarios/common/chase.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/count.hpp"

namespace xferbench {
namespace {

/// Steps from place 0 until place 0 is reached again, or -1 if that takes more steps than there are places.
std::ptrdiff_t cycle_length(const std::vector<std::uint32_t>& next) {
  std::size_t at = 0;
  for (std::size_t steps = 1; steps <= next.size(); ++steps) {
    at = next[at];
    if (at == 0) return static_cast<std::ptrdiff_t>(steps);
  }
  return -1;
}

TEST(RandomCycle, ComesThroughEveryPlaceBeforeItComesBack) {
  for (const std::size_t count : {1U, 2U, 3U, 4U, 17U, 4096U, 100'003U}) {
    for (const std::uint64_t seed : {0U, 1U, 7U}) {
      EXPECT_EQ(cycle_length(random_cycle(count, seed)), static_cast<std::ptrdiff_t>(count)) << count << " " << seed;
    }
  }
}

TEST(RandomCycle, TheTestSeesShorterCycles) {
  EXPECT_EQ(cycle_length({1, 0, 3, 2}), 2);
  EXPECT_EQ(cycle_length({1, 1}), -1) << "no cycle at all";
}

TEST(RandomCycle, DependsOnTheSeed) {
  EXPECT_EQ(random_cycle(1000, 5), random_cycle(1000, 5));
  EXPECT_NE(random_cycle(1000, 5), random_cycle(1000, 6));
}

TEST(RandomCycle, GoesFarMostly) {
  constexpr std::size_t kCount = 10'000;
  const auto next = random_cycle(kCount, 1);
  std::size_t near = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (std::max<std::size_t>(i, next[i]) - std::min<std::size_t>(i, next[i]) <= kCount / 100) ++near;
  }
  // About 2 % of random steps go no further than 1 % of all places.
  EXPECT_GT(near, 100U);
  EXPECT_LT(near, 300U);
}

TEST(RandomCycle, IsWalkedStepByStep) {
  const std::vector<std::uint32_t> next{2, 0, 1};
  EXPECT_EQ(walk(next, 0, 0), 0U);
  EXPECT_EQ(walk(next, 0, 1), 2U);
  EXPECT_EQ(walk(next, 1, 2), 2U);
  EXPECT_EQ(walk(next, 1, 300), 1U);
}

TEST(ChaseKernel, EndsOnTheHostWhereTheWalkDoes) {
  const auto next = random_cycle(1000, 3);
  std::vector<kernels::ChaseLine> lines(next.size());
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i].next = &lines[next[i]];
  kernels::ChaseLog log;
  const kernels::Chase chase(&lines[5], &log);
  chase.compute(chase.output());
  EXPECT_EQ(log.last, &lines[walk(next, 5, kernels::kChaseHops)]);
}

TEST(CountKernel, AddsOneOrDoesNothing) {
  std::uint64_t counter = 41;
  std::uint64_t result = 0;
  kernels::Count(&counter).compute(std::as_writable_bytes(std::span(&result, 1)));
  EXPECT_EQ(result, 42U);
  EXPECT_EQ(counter, 41U) << "computing writes to the result only";
  EXPECT_EQ(kernels::Count(&counter).output().size(), sizeof(counter));
  EXPECT_TRUE(kernels::Count().output().empty());
  kernels::Count().compute({});
}

}  // namespace
}  // namespace xferbench
