// Partition of a payload into chunks: properties for every size, number of chunks and alignment.
#include "model/partition.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace xferbench::model {
namespace {

/// Checks the promises of the header for any partition, and returns the chunks.
std::vector<Chunk> checked(std::size_t elements, std::size_t chunks, std::size_t alignment, double growth) {
  SCOPED_TRACE(testing::Message() << elements << " elements in " << chunks << " chunks at " << alignment << ", growth "
                                  << growth);
  std::vector<Chunk> parts = partition(elements, chunks, alignment, growth);
  EXPECT_EQ(parts.size(), chunks);
  std::size_t next = 0;
  for (const Chunk& part : parts) {
    EXPECT_EQ(part.first, next) << "a gap or an overlap";
    EXPECT_GT(part.count, 0U) << "an empty chunk";
    next = part.first + part.count;
    if (testing::Test::HasFailure()) return parts;  // report one failure only
  }
  EXPECT_EQ(next, elements) << "not all of the payload";
  return parts;
}

/// Promises of even partitions: begins are aligned, and lengths differ by no more than the alignment.
void check_even(std::size_t elements, std::size_t chunks, std::size_t alignment) {
  const bool long_enough = elements / chunks >= alignment;
  const std::size_t unequal = long_enough ? alignment : 1;
  for (const Chunk& part : checked(elements, chunks, alignment, 1)) {
    ASSERT_TRUE(!long_enough || part.first % alignment == 0) << "a chunk that begins unaligned at " << part.first;
    ASSERT_LE(part.count, elements / chunks + unequal) << "a chunk longer than alignment explains";
    ASSERT_GE(part.count + unequal, elements / chunks + 1) << "a chunk shorter than alignment explains";
  }
}

void check_all_even(std::size_t most_elements) {
  for (const std::size_t alignment : {1U, 4U, 64U}) {
    for (std::size_t elements = 1; elements <= most_elements; ++elements) {
      for (std::size_t chunks = 1; chunks <= elements; ++chunks) check_even(elements, chunks, alignment);
    }
  }
}

TEST(Partition, CoversEverySmallPayload) { check_all_even(150); }
TEST(PartitionLong, CoversEverySmallPayload) { check_all_even(300); }

TEST(Partition, CoversLargePayloadsWithoutOverflow) {
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max() / 2;
  check_even(kHuge, 65536, 64);
  check_even(kHuge, 3, 1);
  check_even(9'699'331, 1100, 512);
}

TEST(Partition, IsEqualWhereItCanBeAndGivesTheOddEndToTheLast) {
  const auto firsts = [](std::size_t elements, std::size_t chunks) {
    std::vector<std::size_t> all;
    for (const Chunk& part : partition(elements, chunks, 64)) all.push_back(part.first);
    return all;
  };
  EXPECT_EQ(firsts(1001, 1), (std::vector<std::size_t>{0}));
  EXPECT_EQ(firsts(1024, 4), (std::vector<std::size_t>{0, 256, 512, 768}));
  // Multiples of 64 below 333.3 and 666.7, the thirds of 1000: 320 and 640.
  EXPECT_EQ(firsts(1000, 3), (std::vector<std::size_t>{0, 320, 640}));
  EXPECT_EQ(firsts(5, 5), (std::vector<std::size_t>{0, 1, 2, 3, 4})) << "full chunks come before alignment";
}

// --- Chunks of growing length ----------------------------------------------------------------------------------------

constexpr std::array<double, 7> kGrowths{0.5, 0.97, 1.03, 1.06, 1.1, 1.5, 2};

TEST(PartitionThatGrows, CoversEverySmallPayload) {
  for (const double growth : kGrowths) {
    for (std::size_t elements = 1; elements <= 130; ++elements) {
      for (std::size_t chunks = 1; chunks <= elements; ++chunks) checked(elements, chunks, 4, growth);
    }
  }
}

// Powers of the growth factor overflow a double long before the largest number of chunks.
TEST(PartitionThatGrows, GrowsOrShrinksToTheLastHoweverManyChunks) {
  for (const double growth : kGrowths) {
    for (const std::size_t chunks : {2U, 33U, 1100U, 30'000U, 65'536U}) {
      const std::vector<Chunk> parts = checked(std::size_t{1} << 28, chunks, 64, growth);
      for (std::size_t i = 1; i < parts.size(); ++i) {
        const auto [longer, shorter] = growth > 1 ? std::pair(i, i - 1) : std::pair(i - 1, i);
        ASSERT_GE(parts[longer].count + 64, parts[shorter].count)
            << i << " of " << chunks << " chunks, growth " << growth;
      }
    }
  }
}

TEST(PartitionThatGrows, EachPartIsThatMuchLongerThanTheOneBefore) {
  constexpr double kAlignment = 64;
  for (const double growth : {0.9, 1.03, 1.1, 1.5}) {
    const std::vector<Chunk> parts = checked(64U << 20, 16, 64, growth);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const auto before = static_cast<double>(parts[i - 1].count);
      const double ratio = static_cast<double>(parts[i].count) / before;
      EXPECT_NEAR(ratio, growth, (1 + growth) * kAlignment / before) << "part " << i;
      EXPECT_EQ(parts[i].first % 64, 0U) << "part " << i;
    }
  }
}

TEST(PartitionThatGrows, AHairAboveOneIsAlmostEven) {
  for (const Chunk& part : checked(64U << 20, 32, 64, 1 + 1e-12)) {
    EXPECT_NEAR(static_cast<double>(part.count), 2U << 20, 64);
  }
}

}  // namespace
}  // namespace xferbench::model
