// Chunks that several threads take one after another: they cover the payload once, in whole pages, and become small at
// the end where requested.
#include "model/chunk_schedule.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace xferbench::test {

namespace {

using model::Chunk;
using model::chunk_schedule;
using model::ChunkRules;

std::vector<std::size_t> lengths(std::size_t elements, const ChunkRules& rules) {
  std::vector<std::size_t> all;
  for (const Chunk& c : chunk_schedule(elements, rules)) all.push_back(c.count);
  return all;
}
using Lengths = std::vector<std::size_t>;

TEST(ChunkSchedule, IsOfEqualChunksUnlessAskedForOthers) {
  EXPECT_EQ(lengths(40, {.most = 16, .least = 4, .page = 4, .abreast = 2}), (Lengths{16, 16, 8}));
  EXPECT_EQ(lengths(16, {.most = 16}), (Lengths{16}));
  EXPECT_EQ(lengths(1, {.most = 16}), (Lengths{1}));
  EXPECT_EQ(lengths(0, {.most = 16}), Lengths{});
}

TEST(ChunkSchedule, GrowsOnceAllHaveOne) {
  EXPECT_EQ(lengths(61, {.most = 16, .least = 4, .page = 4, .abreast = 2, .grow = true}),
            (Lengths{4, 4, 8, 8, 16, 16, 5}));
}

TEST(ChunkSchedule, GrowsByTheTaperInWholePages) {
  EXPECT_EQ(lengths(100, {.most = 32, .least = 8, .page = 4, .taper = 1.25, .grow = true}),
            (Lengths{8, 12, 16, 20, 28, 16}));
}

TEST(ChunkSchedule, ShrinksWithWhatIsLeft) {
  EXPECT_EQ(lengths(64, {.most = 16, .least = 4, .page = 4, .shrink = true}), (Lengths{16, 16, 16, 8, 4, 4}));
  EXPECT_EQ(lengths(63, {.most = 16, .least = 4, .page = 4, .abreast = 2, .shrink = true}),
            (Lengths{16, 12, 12, 8, 4, 4, 4, 3}));
  EXPECT_EQ(lengths(40, {.most = 16, .least = 4, .page = 4, .taper = 1.25, .shrink = true}),
            (Lengths{8, 8, 8, 4, 4, 4, 4}));
}

TEST(ChunkSchedule, IsSmallAtBothEnds) {
  EXPECT_EQ(lengths(100, {.most = 16, .least = 4, .page = 4, .grow = true, .shrink = true}),
            (Lengths{4, 8, 16, 16, 16, 16, 12, 8, 4}));
}

TEST(ChunkSchedule, HasNoSmallerChunksWhereTheLargestIsTheLeast) {
  EXPECT_EQ(lengths(10, {.most = 4, .least = 64, .page = 4, .abreast = 2, .grow = true, .shrink = true}),
            (Lengths{4, 4, 2}));
}

RC_GTEST_PROP(ChunkSchedule, CoversEveryElementOnceInWholePages, ()) {
  const auto page = *rc::gen::element<std::size_t>(1, 4096, 65536);
  const ChunkRules rules{.most = page * *rc::gen::inRange<std::size_t>(1, 2048),
                         .least = page * *rc::gen::inRange<std::size_t>(1, 128),
                         .page = page,
                         .abreast = *rc::gen::inRange<std::size_t>(1, 20),
                         .taper = *rc::gen::element(1.01, 1.25, 2.0, 10.0),
                         .grow = *rc::gen::arbitrary<bool>(),
                         .shrink = *rc::gen::arbitrary<bool>()};
  const auto elements =
      *rc::gen::oneOf(rc::gen::inRange<std::size_t>(0, 10), rc::gen::inRange<std::size_t>(0, 40 * rules.most));
  const auto chunks = chunk_schedule(elements, rules);
  std::size_t next = 0;
  for (const Chunk& c : chunks) {
    RC_ASSERT(c.first == next);
    RC_ASSERT(c.first % page == 0U);
    RC_ASSERT(c.count > 0U);
    RC_ASSERT(c.count <= rules.most);
    next += c.count;
  }
  RC_ASSERT(next == elements);
  if (chunks.empty()) return;
  const std::size_t least = std::min(rules.least, rules.most);
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i) RC_ASSERT(chunks[i].count >= least);
  if (rules.grow) RC_ASSERT(chunks.front().count <= least);
  if (rules.shrink) RC_ASSERT(chunks.back().count <= std::max(least, page));
}

}  // namespace

}  // namespace xferbench::test
