// Cutting a payload: properties that must hold for every size, count and alignment.
#include "model/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>

namespace xferbench::model {
namespace {

std::string described(std::size_t elements, std::size_t chunks, std::size_t alignment) {
  return std::to_string(elements) + " elements in " + std::to_string(chunks) + " chunks at " +
         std::to_string(alignment);
}

/// Everything that the header promises of one partition.
void check(std::size_t elements, std::size_t chunks, std::size_t alignment) {
  SCOPED_TRACE(described(elements, chunks, alignment));
  const std::vector<Chunk> parts = partition(elements, chunks, alignment);
  ASSERT_EQ(parts.size(), chunks);
  const bool long_enough = elements / chunks >= alignment;
  const std::size_t unequal = long_enough ? alignment : 1;
  std::size_t next = 0;
  for (const Chunk& part : parts) {
    ASSERT_EQ(part.first, next) << "a gap or an overlap";
    ASSERT_GT(part.count, 0U) << "an empty chunk";
    ASSERT_TRUE(!long_enough || part.first % alignment == 0) << "a chunk that begins unaligned at " << part.first;
    ASSERT_LE(part.count, elements / chunks + unequal) << "a chunk longer than alignment explains";
    ASSERT_GE(part.count + unequal, elements / chunks + 1) << "a chunk shorter than alignment explains";
    next += part.count;
  }
  ASSERT_EQ(next, elements) << "not all of the payload";
}

TEST(Partition, CoversEverySmallPayload) {
  for (const std::size_t alignment : {1U, 4U, 64U}) {
    for (std::size_t elements = 1; elements <= 300; ++elements) {
      for (std::size_t chunks = 1; chunks <= elements; ++chunks) check(elements, chunks, alignment);
    }
  }
}

TEST(Partition, CoversRandomLargePayloads) {
  std::mt19937_64 random(11);  // NOLINT: repeatable
  for (int i = 0; i < 2000; ++i) {
    const std::size_t elements = 1 + (random() >> (24 + random() % 38));
    const std::size_t chunks = 1 + random() % std::min<std::size_t>(elements, 5000);
    check(elements, chunks, std::size_t{1} << random() % 10);
  }
}

TEST(Partition, DoesNotOverflow) {
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max() / 2;
  check(kHuge, 65536, 64);
  check(kHuge, 3, 1);
}

TEST(Partition, OfOneChunkIsThePayload) {
  const std::vector<Chunk> parts = partition(1001, 1, 64);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].first, 0U);
  EXPECT_EQ(parts[0].count, 1001U);
}

TEST(Partition, IsEqualWhereItCanBe) {
  for (const Chunk& part : partition(4096, 16, 64)) EXPECT_EQ(part.count, 256U);
}

TEST(Partition, GivesTheOddEndToTheLast) {
  // A third of 1000 is 333.3, two thirds 666.7: down to multiples of 64 these are 320 and 640.
  const std::vector<Chunk> parts = partition(1000, 3, 64);
  EXPECT_EQ(parts[1].first, 320U);
  EXPECT_EQ(parts[2].first, 640U);
  EXPECT_EQ(parts[2].count, 360U);
}

TEST(Partition, PrefersFullChunksToAlignmentWherePartsAreShort) {
  const std::vector<Chunk> parts = partition(10, 10, 64);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(parts[i].first, i);
}

}  // namespace
}  // namespace xferbench::model
