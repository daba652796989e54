// Sharing a payload between the direct link and relays, against simpler calculations.
#include "model/relay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/units.hpp"

namespace xferbench::model {
namespace {

constexpr std::uint64_t kAligned = 64 * KiB;

/// A direct link and a relay of 50 GB/s each, without costs per copy; the relay's second leg has 400 GB/s.
RelayPaths two_links() {
  RelayPaths paths{.direct_rate = 50e9};
  paths.helpers.push_back({.first_rate = 50e9, .second_rate = 400e9});
  return paths;
}

TEST(Relay, ChunksGetShorterTowardsTheFastLink) {
  const RelayShape shape{.chunk = 16 * MiB, .slots = 4};
  const auto chunks = relay_chunks(shape, 100 * MiB + 5);
  EXPECT_EQ(std::accumulate(chunks.begin(), chunks.end(), std::uint64_t{0}), 100 * MiB + 5);
  EXPECT_TRUE(std::ranges::is_sorted(chunks, std::greater<>()));
  EXPECT_EQ(chunks.front(), 16 * MiB);
  EXPECT_LE(chunks.back(), 2 * MiB);
  RelayShape other = shape;
  other.last_leg_is_fast = false;
  auto reversed = relay_chunks(other, 100 * MiB + 5);
  std::ranges::reverse(reversed);
  EXPECT_EQ(reversed, chunks);
}

TEST(Relay, NoBytesAreNoChunksAndNoTime) {
  const RelayShape shape{.chunk = MiB, .slots = 2};
  EXPECT_TRUE(relay_chunks(shape, 0).empty());
  EXPECT_EQ(relay_time(two_links().helpers.front(), shape, 0), 0);
}

TEST(Relay, OneChunkTakesItsWholeWay) {
  const RelayCosts costs{
      .first_rate = 50e9, .second_rate = 400e9, .first_copy = 2e-6, .second_copy = 3e-6, .hand_over = 1e-6};
  const RelayShape shape{.chunk = MiB, .slots = 1};
  const double bytes = MiB;
  EXPECT_NEAR(relay_time(costs, shape, MiB), 2e-6 + bytes / 50e9 + 1e-6 + 3e-6 + bytes / 400e9, 1e-12);
}

TEST(Relay, WithOneSlotEveryChunkTakesItsWholeWay) {
  const RelayCosts costs{.first_rate = 50e9, .second_rate = 50e9, .hand_over = 5e-6};
  const RelayShape one{.chunk = MiB, .slots = 1};
  const RelayShape two{.chunk = MiB, .slots = 2};
  const double step = static_cast<double>(MiB) / 50e9;
  // The last chunk's slot need not be handed back.
  EXPECT_NEAR(relay_time(costs, one, 10 * MiB), 10 * (2 * step + 2 * 5e-6) - 5e-6, 1e-9);
  EXPECT_LT(relay_time(costs, two, 10 * MiB), 0.65 * relay_time(costs, one, 10 * MiB));
}

TEST(Relay, BestSplitLetsAllWaysEndTogether) {
  const RelayShape shape{.chunk = 8 * MiB, .slots = 4};
  const RelaySplit split = best_relay_split(two_links(), shape, GiB, kAligned);
  EXPECT_EQ(split.direct + split.relayed(), GiB);
  const double direct = static_cast<double>(split.direct) / 50e9;
  const double through = relay_time(two_links().helpers.front(), shape, split.through.front());
  EXPECT_NEAR(direct, through, 0.001 * direct);
  EXPECT_NEAR(static_cast<double>(split.direct), 0.5 * static_cast<double>(GiB), 0.01 * static_cast<double>(GiB));
}

/// Compares the split with even splits of every percentage.
TEST(Relay, BestSplitIsTheBestOfAll) {
  RelayPaths paths = two_links();
  paths.direct_copy = 2e-6;
  paths.far_end = 8e-6;
  paths.helpers.front().first_copy = 2.4e-6;
  paths.helpers.front().hand_over = 3e-6;
  for (const std::uint64_t bytes : {4 * MiB, 64 * MiB, 64 * MiB + 4097}) {
    const RelayShape shape{.chunk = 4 * MiB, .slots = 2};
    const double found = relay_makespan(paths, shape, best_relay_split(paths, shape, bytes, kAligned));
    for (int percent = 0; percent <= 100; ++percent) {
      const double tried = relay_makespan(paths, shape, even_relay_split(1, percent / 100.0, bytes, kAligned));
      // For small payloads a gain of less than 10 % is not worth a relay.
      const double allowed = bytes > 8 * MiB ? tried + 2e-6 : std::max(tried + 2e-6, tried / 0.9);
      EXPECT_LE(found, allowed) << bytes << " " << percent;
    }
  }
}

TEST(Relay, WhereRelayingDoesNotPayAllGoesDirectly) {
  RelayPaths paths = two_links();
  paths.far_end = 10e-6;
  const RelayShape shape{.chunk = 2 * MiB, .slots = 4};
  EXPECT_EQ(best_relay_split(paths, shape, 256 * KiB, kAligned).relayed(), 0U);
  paths.helpers.clear();
  EXPECT_EQ(best_relay_split(paths, shape, GiB, kAligned).direct, GiB);
}

TEST(Relay, SlowHelpersGetLess) {
  RelayPaths paths = two_links();
  paths.helpers.push_back({.first_rate = 10e9, .second_rate = 400e9});
  const RelayShape shape{.chunk = 4 * MiB, .slots = 4};
  const RelaySplit split = best_relay_split(paths, shape, GiB, kAligned);
  EXPECT_NEAR(static_cast<double>(split.through[0]) / static_cast<double>(split.through[1]), 5, 0.3);
}

TEST(Relay, EvenSplitsAreAlignedAndComplete) {
  const RelaySplit split = even_relay_split(3, 0.75, GiB + 17, kAligned);
  EXPECT_EQ(split.direct + split.relayed(), GiB + 17);
  for (const std::uint64_t part : split.through) EXPECT_EQ(part % kAligned, 0U);
  EXPECT_NEAR(static_cast<double>(split.relayed()), 0.75 * static_cast<double>(GiB), 1e6);
  EXPECT_EQ(even_relay_split(2, 1, 100, kAligned).direct, 100U);  // less than one aligned part
  EXPECT_EQ(even_relay_split(0, 0.5, 100, kAligned).direct, 100U);
}

TEST(Relay, ShortChunksSuitShortPayloads) {
  RelayPaths paths = two_links();
  paths.helpers.front().first_copy = 2.4e-6;
  const RelayShape shape{.slots = 4};
  const auto best_for = [&](std::uint64_t bytes) {
    return best_relay_chunk(paths, shape,
                            [&](const RelayShape& tried) { return best_relay_split(paths, tried, bytes, kAligned); });
  };
  EXPECT_LE(best_for(16 * MiB), best_for(4 * GiB));
  EXPECT_GE(best_for(16 * MiB), 2 * MiB);
}

TEST(Relay, WhatIsSoonOverGoesDirectlyIfJoiningTakesLonger) {
  RelayPaths paths = two_links();
  paths.far_end = 5e-6;
  const RelayShape shape{.chunk = 2 * MiB, .slots = 4};
  EXPECT_GT(best_relay_split(paths, shape, 2 * MiB, kAligned).relayed(), 0U);
  paths.joining = 25e-6;
  EXPECT_EQ(best_relay_split(paths, shape, 2 * MiB, kAligned).relayed(), 0U);
  EXPECT_GT(best_relay_split(paths, shape, 64 * MiB, kAligned).relayed(), 30 * MiB) << "which hides it";
}

TEST(Relay, ChunkIsChosenForTheSplitThatIsUsed) {
  RelayPaths paths = two_links();
  paths.direct_rate = 1e15;  // so fast that the best split gives the relay nothing
  paths.helpers.front().first_copy = 2.4e-6;
  const RelayShape shape{.slots = 4};
  const auto best_for = [&](double share) {
    return best_relay_chunk(paths, shape, [&](const RelayShape&) { return even_relay_split(1, share, GiB, kAligned); });
  };
  EXPECT_EQ(best_for(0), 2 * MiB) << "nothing to pass on";
  EXPECT_GT(best_for(1), 2 * MiB);
}

TEST(Relay, SlotsAreAsLongAsWhatGoesThroughThem) {
  const RelayShape few{.chunk = 64 * MiB, .slots = 4};
  const auto slots = relay_slots(few, 32 * MiB);
  EXPECT_EQ(slots, relay_chunks(few, 32 * MiB)) << "each chunk has its own";
  const RelayShape two{.chunk = 8 * MiB, .slots = 2};
  EXPECT_EQ(relay_slots(two, 40 * MiB), (std::vector<std::uint64_t>{8 * MiB, 8 * MiB}));
  EXPECT_TRUE(relay_slots(two, 0).empty());
}

}  // namespace
}  // namespace xferbench::model
