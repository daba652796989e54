// Places of scattered pieces, joined neighbours and spans of host memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "scenarios/scatter/pieces.hpp"

namespace xferbench::test {
namespace {

std::array<std::byte, 4096> host_memory;
std::array<std::byte, 4096> gpu_memory;

Copy piece(std::size_t destination, std::size_t source, std::size_t bytes = 16) {
  return {gpu_memory.data() + destination, host_memory.data() + source, bytes, Direction::h2d};
}

TEST(Layouts, AreReadFromWords) {
  EXPECT_EQ(parse_layout("strided")->kind, Layout::Kind::strided);
  EXPECT_EQ(parse_layout("runs:16")->run, 16U);
  for (const char* word :
       {"", "runs", "runs:", "runs:0", "runs:-1", "runs:4x", "runs:18446744073709551615", "Shuffled"}) {
    EXPECT_FALSE(parse_layout(word)) << word;
  }
}

TEST(Layouts, GivePlacesThatDoNotOverlapAndLieWithinTheMargins) {
  for (const char* word : {"contiguous", "strided", "shuffled", "runs:3", "runs:100"}) {
    for (const std::size_t pitch : {100U, 128U, 250U}) {
      const Places places = places_of(*parse_layout(word), 50, 100, pitch, 4, 1);
      ASSERT_EQ(places.offsets.size(), 50U);
      std::vector<std::size_t> sorted = places.offsets;
      std::ranges::sort(sorted);
      for (std::size_t i = 1; i < sorted.size(); ++i) EXPECT_GE(sorted[i], sorted[i - 1] + 100) << word;
      EXPECT_EQ(sorted.front(), 4100U);
      EXPECT_LE(sorted.back() + 100 + 4096, places.bytes);
    }
  }
}

TEST(Layouts, AreInOrderOrShuffledAsTheySay) {
  const auto places = [](const char* word) { return places_of(*parse_layout(word), 64, 10, 20, 0, 1).offsets; };
  EXPECT_EQ(places("contiguous")[5], 4096U + 50);
  EXPECT_EQ(places("strided")[5], 4096U + 100);
  EXPECT_FALSE(std::ranges::is_sorted(places("shuffled")));
  EXPECT_EQ(places("shuffled"), places("shuffled")) << "the same in every process";
  const auto runs = places("runs:4");
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i], runs[i / 4 * 4] + i % 4 * 10);
  EXPECT_FALSE(std::ranges::is_sorted(runs));
}

TEST(Merging, JoinsNeighboursOnBothSidesOnly) {
  const auto all = merged({piece(32, 16), piece(16, 0), piece(100, 32), piece(200, 64), piece(216, 80, 8)});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].bytes, 32U);
  EXPECT_EQ(all[0].destination, gpu_memory.data() + 16);
  EXPECT_EQ(all[1].bytes, 16U) << "a neighbour in host memory only";
  EXPECT_EQ(all[2].bytes, 24U);
}

TEST(Spans, ArePackedAndSpreadThroughABuffer) {
  std::array<std::byte, 64> buffer;
  const auto spread = through_buffer({piece(100, 0), piece(200, 16, 8)}, buffer.data());
  EXPECT_EQ(spread[1].source, buffer.data() + 16);
  EXPECT_EQ(spread[1].destination, gpu_memory.data() + 200);
  EXPECT_EQ(spread[1].direction, Direction::d2d);
  const auto pack = through_buffer({{host_memory.data(), gpu_memory.data(), 16, Direction::d2h}}, buffer.data());
  EXPECT_EQ(pack[0].source, gpu_memory.data());
  EXPECT_EQ(pack[0].destination, buffer.data());
}

TEST(Spans, EndAtGapsAndAtBorders) {
  std::vector<Copy> copies{piece(0, 48), piece(100, 0), piece(200, 16), piece(300, 32), piece(400, 80)};
  const std::array<std::size_t, 1> border{32};
  const auto spans = host_spans(copies, true, border);
  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(copies[3].destination, gpu_memory.data()) << "sorted by host address";
  const std::array<std::array<std::size_t, 4>, 3> expected{{{0, 2, 0, 32}, {2, 2, 32, 32}, {4, 1, 64, 16}}};
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_EQ((std::array{spans[i].first, spans[i].count, spans[i].offset, spans[i].bytes}), expected[i]);
  }
}

TEST(Spans, ShrinkByHalvesTowardsOneEnd) {
  EXPECT_EQ(halving_borders(64, 4, false), (std::vector<std::size_t>{32, 48, 56}));
  EXPECT_EQ(halving_borders(64, 4, true), (std::vector<std::size_t>{8, 16, 32}));
  EXPECT_TRUE(halving_borders(64, 1, false).empty());
  EXPECT_EQ(halving_borders(2, 9, false).size(), 1U) << "no chunk is empty";
}

}  // namespace
}  // namespace xferbench::test
