// Threads and channels of the real host.
#include "device/host_runtime.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace xferbench::test {

namespace {

TEST(RealThread, JoinRethrowsOnceWhatTheBodyThrew) {
  const auto thread = RealHost().start_thread([] { throw std::runtime_error("body"); });
  EXPECT_THROW(thread->join(), std::runtime_error);
  EXPECT_NO_THROW(thread->join());
}

TEST(RealThread, StartingThrowsWhatThePreparationThrew) {
  bool ran = false;
  RealHost host([] { throw std::runtime_error("no device"); });
  EXPECT_THROW(static_cast<void>(host.start_thread([&ran] { ran = true; })), std::runtime_error);
  EXPECT_FALSE(ran);
}

TEST(RealThread, PreparesOnTheThreadThatRunsTheBody) {
  std::thread::id prepared;
  std::thread::id ran;
  RealHost host([&] { prepared = std::this_thread::get_id(); });
  host.start_thread([&] { ran = std::this_thread::get_id(); })->join();
  EXPECT_EQ(prepared, ran);
  EXPECT_NE(ran, std::this_thread::get_id());
}

TEST(RealChannel, KeepsTheOrder) {
  const auto channel = RealHost().make_channel();
  std::vector<std::uint64_t> taken;
  const auto reader = RealHost().start_thread([&] {
    while (const auto message = channel->take()) taken.push_back(*message);
  });
  for (std::uint64_t i = 0; i < 10'000; ++i) channel->post(i);
  channel->close();
  reader->join();
  ASSERT_EQ(taken.size(), 10'000U);
  for (std::uint64_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], i);
}

TEST(RealChannel, WakesAReaderThatHasGoneToSleep) {
  const auto channel = RealHost().make_channel();
  std::optional<std::uint64_t> taken;
  const auto reader = RealHost().start_thread([&] { taken = channel->take(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // longer than the reader spins before it sleeps
  channel->post(7);
  reader->join();
  EXPECT_EQ(taken, 7U);
}

TEST(RealChannel, PatienceEnds) {
  const auto channel = RealHost().make_channel();
  EXPECT_EQ(channel->take(0), std::nullopt);
  EXPECT_EQ(channel->take(5e-3), std::nullopt);
  channel->post(3);
  EXPECT_EQ(channel->take(5e-3), 3U);
}

TEST(RealChannel, WhatWasPostedBeforeTheEndIsStillTaken) {
  const auto channel = RealHost().make_channel();
  channel->post(1);
  channel->close();
  EXPECT_EQ(channel->take(), 1U);
  EXPECT_EQ(channel->take(), std::nullopt);
  EXPECT_EQ(channel->take(), std::nullopt);
}

}  // namespace

}  // namespace xferbench::test
