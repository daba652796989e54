// Places of scattered pieces, joined neighbours and spans of host memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <variant>

#include "core/error.hpp"
#include "scenarios/scatter/pieces.hpp"
#include "scenarios/scatter/sizes.hpp"
#include "support/files.hpp"

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
      const Places places = places_of(*parse_layout(word), equal_sizes(5000, 100), pitch, 4, 1);
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
  const std::vector<std::size_t> sizes = equal_sizes(640, 10);
  const auto places = [&](const char* word) { return places_of(*parse_layout(word), sizes, 20, 0, 1).offsets; };
  EXPECT_EQ(places_of(Layout{Layout::Kind::contiguous}, sizes, 0, 0, 1).offsets[5], 4096U + 50);
  EXPECT_EQ(places("strided")[5], 4096U + 100);
  EXPECT_FALSE(std::ranges::is_sorted(places("shuffled")));
  EXPECT_EQ(places("shuffled"), places("shuffled")) << "the same in every process";
  const auto runs = places("runs:4");
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i], runs[i / 4 * 4] + i % 4 * 10);
  EXPECT_FALSE(std::ranges::is_sorted(runs));
}

TEST(Layouts, PlacesOfMixedSizesFollowEachOtherWithoutGaps) {
  const std::vector<std::size_t> sizes = spread_sizes(1'000'000, 4096, 65536);
  for (const char* word : {"contiguous", "shuffled", "runs:5"}) {
    const Places places = places_of(*parse_layout(word), sizes, 0, 0, 1);
    std::vector<std::pair<std::size_t, std::size_t>> sorted;
    for (std::size_t i = 0; i < sizes.size(); ++i) sorted.emplace_back(places.offsets[i], sizes[i]);
    std::ranges::sort(sorted);
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      const std::size_t gap = sorted[i].first - sorted[i - 1].first - sorted[i - 1].second;
      EXPECT_LT(gap, sorted[i - 1].second == sizes.back() ? 256U : 1U) << word;
      EXPECT_EQ(sorted[i].first % 256, 0U) << "the cut last piece must not move the others to odd addresses";
    }
  }
}

std::size_t sum(const std::vector<std::size_t>& sizes) { return std::reduce(sizes.begin(), sizes.end()); }

TEST(Sizes, AreAsManyBytesAsAskedFor) {
  EXPECT_EQ(equal_sizes(1000, 300), (std::vector<std::size_t>{300, 300, 300, 100}));
  EXPECT_EQ(sum(spread_sizes(1'000'001, 4096, 65536)), 1'000'001U);
}

TEST(Sizes, SpreadAreAsManyBelowTheMiddleOfTheDecadesAsAbove) {
  std::vector<std::size_t> sizes = spread_sizes(std::size_t{64} << 20, 4096, 1 << 20);
  sizes.pop_back();
  EXPECT_GE(std::ranges::min(sizes), 4096U);
  EXPECT_LE(std::ranges::max(sizes), std::size_t{1} << 20);
  const auto below = std::ranges::count_if(sizes, [](std::size_t bytes) { return bytes < 65536; });
  EXPECT_NEAR(static_cast<double>(below) / static_cast<double>(sizes.size()), 0.5, 0.1);
}

TEST(Sizes, OfAFileAreRepeated) {
  const TemporaryFolder folder;
  const std::string file = folder / "sizes.txt";
  write_file(file, "16\n48\n");
  EXPECT_EQ(sizes_in_file(file, 100), (std::vector<std::size_t>{16, 48, 16, 20}));
  EXPECT_THROW(sizes_in_file(file + ".missing", 100), InputError);
  EXPECT_THROW(sizes_in_file(folder.path(), 100), InputError);
  for (const char* text : {"", "16\n0\n", "-1\n", "16\n4K\n", "16\n\n16\n", "1e3\n", "99999999999999999999\n"}) {
    write_file(file, text);
    EXPECT_THROW(sizes_in_file(file, 100), InputError) << text;
  }
}

TEST(CacheBlocks, HaveAPieceForEachLayersKeysAndValues) {
  const auto block = std::get<CacheBlock>(parse_cache_block("layers:32,heads:8,dim:128,tokens:16,dtype:bf16"));
  EXPECT_EQ(block.piece, 8U * 128 * 16 * 2);
  EXPECT_EQ(block.pieces, 64U);
  const auto together = parse_cache_block("tensors:1,dtype:fp8,tokens:64,dim:576,heads:1,layers:61");
  EXPECT_EQ(std::get<CacheBlock>(together).pieces, 61U);
}

TEST(CacheBlocks, SayWhichFieldIsWrongAndWhatIsAllowed) {
  const std::string rest = ",heads:8,dim:128,tokens:16,dtype:bf16";
  const std::vector<std::pair<std::string, std::string_view>> faults{
      {"", "layers is missing"},
      {"layers:32,heads:8,dim:128,tokens:16", "dtype is missing"},
      {"layers:1,dtype:bf17", "dtype:bf17: the types are fp32, bf16, fp16, fp8, int8"},
      {"layers:0" + rest, "layers:0: not a whole number from 1 to 100000"},
      {"layers" + rest, "layers: not a whole number from 1 to 100000"},
      {"layers:1,blocks:3" + rest, "blocks:3: the fields are layers, heads, dim, tokens, dtype, tensors"},
      {"layers:1,tensors:3" + rest, "tensors:3: not a whole number from 1 to 2"},
      {"layers:1,layers:2" + rest, "layers:2: layers is there twice"}};
  for (const auto& [text, fault] : faults) EXPECT_EQ(std::get<std::string>(parse_cache_block(text)), fault) << text;
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
