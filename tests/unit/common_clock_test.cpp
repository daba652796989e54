// CommonClock against the truth: clocks with known offsets and drifts, synchronised over a network with jitter.
#include "ranks/common_clock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "ranks/modelled_network.hpp"
#include "support/thread_ranks.hpp"
#include "support/virtual_hosts.hpp"

namespace xferbench::test {
namespace {

const Timeout kPatient{.seconds = 60};

/// A rank whose clock has an offset in seconds and a relative drift.
struct SkewedRank {
  SkewedRank(Communicator& ranks, const std::vector<int>& nodes, const NetworkProfile& profile, double offset,
             double drift)
      : network(ranks, right, nodes, profile), host(right, offset, drift), clock(network, host) {}

  VirtualHost right{};
  ModelledNetwork network;
  SkewedHost host;
  CommonClock clock;
};

struct SkewedFleet {
  std::vector<double> offsets;
  std::vector<double> drifts;
  std::vector<int> nodes;
  NetworkProfile profile{};

  void run(const std::function<void(SkewedRank&)>& body) const {
    ThreadRanks(static_cast<int>(nodes.size())).run([&](Communicator& ranks) {
      const auto i = static_cast<std::size_t>(ranks.rank());
      SkewedRank rank(ranks, nodes, profile, offsets[i], drifts[i]);
      body(rank);
    });
  }
  /// Error of the rank's common clock in seconds.
  [[nodiscard]] double error(const SkewedRank& rank) const {
    return std::abs(rank.clock.now() - (offsets[0] + (1 + drifts[0]) * rank.right.now()));
  }
};

SkewedFleet random_fleet(unsigned seed) {
  std::mt19937 random(seed);  // NOLINT: a fixed seed makes the test repeatable
  const auto between = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
  SkewedFleet fleet;
  const unsigned size = 1 + seed % 9;
  for (unsigned i = 0; i < size; ++i) {
    fleet.offsets.push_back(between(-5, 5));
    fleet.drifts.push_back(between(-100e-6, 100e-6));
    fleet.nodes.push_back(static_cast<int>(i / (1 + seed % 4)));
  }
  fleet.profile.jitter = between(0, 2);
  fleet.profile.asymmetry = seed % 2 == 0 ? between(-0.9, 0.9) : 0;
  fleet.profile.seed = seed;
  return fleet;
}

/// For fleets of one to nine ranks: after each of five synchronisations and between them the error is within the stated
/// uncertainty.
void expect_never_further_off(unsigned fleets) {
  std::atomic<std::size_t> looks = 0;
  std::size_t ranks = 0;
  for (unsigned seed = 0; seed < fleets; ++seed) {
    const SkewedFleet fleet = random_fleet(seed);
    ranks += fleet.nodes.size();
    fleet.run([&](SkewedRank& rank) {
      const double gap = std::pow(10.0, -static_cast<int>(seed % 4));  // 1 ms to 1 s
      for (int call = 0; call < 5; ++call) {
        rank.clock.synchronise(kPatient);
        for (const double wait : {0.0, gap, 9 * gap}) {
          rank.right.advance(wait);
          EXPECT_LE(fleet.error(rank), rank.clock.uncertainty())
              << "rank " << rank.network.rank() << " of " << fleet.nodes.size() << ", seed " << seed << ", call "
              << call << ", " << wait << " s later";
          ++looks;
        }
      }
    });
  }
  EXPECT_EQ(looks, 15 * ranks);
}

TEST(CommonClock, IsNeverFurtherOffThanItSays) { expect_never_further_off(30); }
TEST(CommonClockLong, IsNeverFurtherOffThanItSays) { expect_never_further_off(120); }

/// The stated uncertainty is also small: microseconds.
TEST(CommonClock, IsKnownToMicrosecondsForAMinuteOnceItsDriftIs) {
  SkewedFleet fleet = random_fleet(7);  // seed 7 gives eight ranks on two nodes
  fleet.profile.jitter = 0.1;
  fleet.run([&](SkewedRank& rank) {
    for (int call = 0; call < 10; ++call) {
      rank.clock.synchronise(kPatient);
      if (call < 9) rank.right.advance(10);
    }
    EXPECT_LE(rank.clock.uncertainty(), 8e-6);
    for (int second = 0; second <= 60; ++second) {
      EXPECT_LE(fleet.error(rank), rank.clock.uncertainty()) << second << " s later";
      rank.right.advance(1);
    }
    EXPECT_LE(rank.clock.uncertainty(), 8e-6 + 60 * (kWander + 1e-6));
    const double drift = fleet.drifts[static_cast<std::size_t>(rank.network.rank())];
    EXPECT_NEAR(rank.clock.line().drift, (fleet.drifts[0] - drift) / (1 + drift), 0.2e-6);
  });
}

TEST(CommonClock, OfRankZeroIsItsOwn) {
  const SkewedFleet alone{{4.5}, {30e-6}, {0}};
  alone.run([&](SkewedRank& rank) {
    rank.clock.synchronise(kPatient);
    rank.right.advance(100);
    EXPECT_EQ(rank.clock.now(), rank.host.now());
    EXPECT_EQ(rank.clock.uncertainty(), 0);
  });
}

TEST(CommonClock, ThatWasSetIsNoticed) {
  const SkewedFleet fleet{{0, 1}, {0, 50e-6}, {0, 1}};
  fleet.run([&](SkewedRank& rank) {
    for (int call = 0; call < 4; ++call) {
      rank.clock.synchronise(kPatient);
      rank.right.advance(10);
    }
    if (rank.network.rank() == 1) rank.host.set(1 + 1e-3);
    rank.clock.synchronise(kPatient);
    if (rank.network.rank() == 0) return;
    EXPECT_EQ(rank.clock.line().drift, 0) << "unknown again";
    EXPECT_EQ(rank.clock.line().growth, kLargestDrift);
  });
}

TEST(CommonClock, SaysWhomItWaitedFor) {
  ThreadRanks threads(4);
  threads.run([&](Communicator& ranks) {
    VirtualHost host;
    CommonClock clock(ranks, host);
    if (ranks.rank() == 2) return threads.stop_responding(2);
    if (ranks.rank() == 1) return;  // rank 0 would synchronise with it next
    try {
      clock.synchronise({.seconds = 0.2});
      ADD_FAILURE() << "rank " << ranks.rank();
    } catch (const RankTimeoutError& error) {
      EXPECT_NE(std::string(error.what()).find("with rank 2"), std::string::npos) << error.what();
    }
  });
}

// --- Fitting the line -----------------------------------------------------------------------------------------------

TEST(LineThrough, OneOffsetOrSuchThatLieCloseTogetherKnowsNoDrift) {
  const std::array<ClockOffset, 2> close{{{100, 3, 2e-6}, {100.01, 3, 1e-6}}};
  for (const ClockLine& line : {line_through(std::span(close).first(1)), line_through(close)}) {
    EXPECT_EQ(line.drift, 0);
    EXPECT_EQ(line.growth, kLargestDrift);
  }
  EXPECT_EQ(line_through(close).uncertainty, 1e-6);
  EXPECT_DOUBLE_EQ(line_through(close).uncertainty_at(101.01), 1e-6 + kLargestDrift);
}

TEST(LineThrough, GivesTheDriftWithWhatTheOffsetsDoubt) {
  const std::array<ClockOffset, 2> apart{{{0, 3, 1e-6}, {10, 3 + 40e-6, 1e-6}}};
  const ClockLine line = line_through(apart);
  EXPECT_NEAR(line.drift, 4e-6, 1e-12);
  EXPECT_NEAR(line.growth, 0.2e-6 + 2 * kWander, 0.01e-6) << "2 us in 10 s, and what the drift may have changed";
  EXPECT_EQ(line.at, 10);
  EXPECT_NEAR(line.common(20), 20 + 3 + 80e-6, 1e-12);
  EXPECT_NEAR(line.own(line.common(20)), 20, 1e-12);
}

TEST(LineThrough, HoldsWhereEveryOffsetIsAsWrongAsItSays) {
  std::mt19937 random(3);  // NOLINT: a fixed seed makes the test repeatable
  const auto between = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
  double closest = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    const double drift = between(-200e-6, 200e-6);
    std::vector<ClockOffset> offsets;
    double at = 0;
    for (int i = 0; i <= trial % 12; ++i) {
      at += std::pow(10, between(-3, 1));
      const double uncertainty = std::pow(10, between(-6, -4));
      const double sign = trial % 3 == 0 ? (i % 2 == 0 ? 1 : -1) : (between(-1, 1) < 0 ? -1 : 1);
      offsets.push_back({at, 2 + drift * at + sign * uncertainty, uncertainty});
    }
    const ClockLine line = line_through(offsets);
    for (const double wait : {0.0, 0.1, 60.0}) {
      const double own = at + wait;
      const double error = std::abs(line.common(own) - (own + 2 + drift * own));
      EXPECT_LE(error, line.uncertainty_at(own) + 1e-12) << trial << ", " << wait << " s later";
      closest = std::max(closest, error / line.uncertainty_at(own));
    }
  }
  EXPECT_GT(closest, 0.99) << "the bound is reached";
}

TEST(LineThrough, ManyOffsetsKnowBetterThanANewestThatIsBad) {
  std::vector<ClockOffset> offsets;
  for (int i = 0; i < 10; ++i) offsets.push_back({static_cast<double>(i), 1 + i * 1e-6, 1e-6});
  offsets.push_back({10, 1 + 10e-6 + 90e-6, 100e-6});
  const ClockLine line = line_through(offsets);
  EXPECT_NEAR(line.offset, 1 + 10e-6, 1e-6);
  EXPECT_LT(line.uncertainty, 5e-6);
}

}  // namespace
}  // namespace xferbench::test
