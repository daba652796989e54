// Little's law: latency and bandwidth from loops with a known number of bytes in flight.
#include "model/in_flight.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace xferbench::model {
namespace {

constexpr unsigned kMultiprocessors = 132;

TEST(InFlight, WhatIsReachedGrowsUpToTheLimit) {
  constexpr double kLimit = 4e12;
  constexpr double kLatency = 1e-6;
  EXPECT_DOUBLE_EQ(reachable_bandwidth(4096, kLatency, kMultiprocessors, kLimit), 4096 * 132 / kLatency);
  EXPECT_DOUBLE_EQ(reachable_bandwidth(1 << 20, kLatency, kMultiprocessors, kLimit), kLimit);
  EXPECT_DOUBLE_EQ(reachable_bandwidth(4096, 0, kMultiprocessors, kLimit), kLimit);
  // H200: 4.8 TB/s at an unloaded latency of 690 ns need 25 KB in flight per multiprocessor, of which it has 132.
  EXPECT_NEAR(reachable_bandwidth(25e3, 690e-9, kMultiprocessors, 9e12), 4.8e12, 2e10);
}

/// A loop limited by memory of this latency (seconds) and bandwidth (bytes per second).
Flight flight(double in_flight, double latency, double limit) {
  const double rate = reachable_bandwidth(in_flight, latency, kMultiprocessors, limit);
  return {.rate = rate, .time = in_flight * kMultiprocessors / rate};
}

TEST(InFlight, LatencyIsFoundFromTheLoopsThatStarve) {
  std::vector<Flight> flights;
  for (const double kib : {4, 8, 16, 32, 64, 128}) flights.push_back(flight(kib * 1024, 0.8e-6, 4e12));
  EXPECT_NEAR(latency(flights).value(), 0.8e-6, 1e-12);
}

TEST(InFlight, LatencyIsUnknownWhereNoLoopStarves) {
  const std::array fed{flight(64 * 1024, 0.8e-6, 4e12), flight(128 * 1024, 0.8e-6, 4e12)};
  EXPECT_EQ(latency(fed), std::nullopt);
  EXPECT_EQ(latency({}), std::nullopt);
}

}  // namespace
}  // namespace xferbench::model
