// ThreadRanks, ranks that are threads: they must behave like MPI.
#include "support/thread_ranks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ranks/timed_collectives.hpp"

namespace xferbench::test {
namespace {

const Timeout kTimeout{.seconds = 30};

template <class T>
std::span<std::byte> memory_of(T& values) {
  return std::as_writable_bytes(std::span(values));
}

TEST(ThreadRanks, CountLocalRanksNodeByNode) {
  std::array<std::atomic<int>, 5> places{};
  ThreadRanks(5, 2).run([&](Communicator& ranks) {
    EXPECT_EQ(ranks.size(), 5);
    places.at(static_cast<std::size_t>(ranks.rank())) = 10 * ranks.local_rank() + ranks.local_size();
  });
  EXPECT_EQ(std::vector<int>(places.begin(), places.end()), (std::vector<int>{2, 12, 2, 12, 1}));
}

TEST(ThreadRanks, ReduceBroadcastAndGather) {
  ThreadRanks(6).run([](Communicator& ranks) {
    const double mine = ranks.rank();
    std::array<double, 2> values{mine, -mine};
    wait_for(*ranks.all_reduce(values, Reduction::max), kTimeout, "max");
    EXPECT_EQ(values, (std::array<double, 2>{5, 0}));
    values = {mine, 1};
    wait_for(*ranks.all_reduce(values, Reduction::sum), kTimeout, "sum");
    EXPECT_EQ(values, (std::array<double, 2>{15, 6}));
    std::array<int, 1> number{ranks.rank() == 4 ? 44 : 0};
    wait_for(*ranks.broadcast(memory_of(number), 4), kTimeout, "broadcast");
    EXPECT_EQ(number[0], 44);
    const std::string text(static_cast<std::size_t>(ranks.rank()), static_cast<char>('a' + ranks.rank()));
    std::vector<std::size_t> sizes;
    std::string all;
    if (ranks.rank() == 0) sizes = {0, 1, 2, 3, 4, 5};
    if (ranks.rank() == 0) all.resize(15);
    wait_for(*ranks.gather(std::as_bytes(std::span(text)), memory_of(all), sizes), kTimeout, "gather");
    EXPECT_EQ(all, ranks.rank() == 0 ? "bccdddeeeefffff" : "");
    wait_for(*ranks.barrier(), kTimeout, "barrier");
  });
}

TEST(ThreadRanks, DeliverMessagesOfATagInOrderWhicheverIsAskedForFirst) {
  ThreadRanks(2).run([](Communicator& ranks) {
    std::array<std::array<int, 1>, 3> n{};
    if (ranks.rank() == 0) {
      n = {{{1}, {2}, {3}}};
      wait_for(*ranks.send(1, 7, memory_of(n[0])), kTimeout, "send");
      wait_for(*ranks.send(1, 7, memory_of(n[1])), kTimeout, "send");
      wait_for(*ranks.send(1, 8, memory_of(n[2])), kTimeout, "send");
      return;
    }
    const PendingPtr other_tag = ranks.receive(0, 8, memory_of(n[2]));
    const PendingPtr first = ranks.receive(0, 7, memory_of(n[0]));
    const PendingPtr second = ranks.receive(0, 7, memory_of(n[1]));
    wait_for(*second, kTimeout, "second");
    wait_for(*first, kTimeout, "first");
    wait_for(*other_tag, kTimeout, "other tag");
    EXPECT_TRUE(first->done());
    EXPECT_EQ(n, (std::array<std::array<int, 1>, 3>{{{1}, {2}, {3}}}));
  });
}

TEST(ThreadRanks, NoticeCallsThatDoNotMatch) {
  ThreadRanks(3).run([](Communicator& ranks) {
    std::array<double, 2> values{};
    const PendingPtr call = ranks.rank() == 1 ? ranks.barrier() : ranks.all_reduce(values, Reduction::max);
    EXPECT_THROW(wait_for(*call, kTimeout, "a call"), CommunicationError);
  });
}

TEST(ThreadRanks, ThatFallSilentLeaveTheOthersWaiting) {
  ThreadRanks threads(3);
  threads.run([&](Communicator& ranks) {
    if (ranks.rank() == 2) threads.stop_responding(2);
    EXPECT_THROW(wait_for(*ranks.barrier(), {.seconds = 0.05}, "all"), RankTimeoutError);
  });
}

TEST(ThreadRanks, ThrowWhatTheFirstOfThemThrows) {
  const auto run = [] {
    ThreadRanks(4).run([](Communicator& ranks) {
      if (ranks.rank() >= 2) throw std::out_of_range(std::to_string(ranks.rank()));
    });
  };
  EXPECT_THROW(run(), std::out_of_range);
}

}  // namespace
}  // namespace xferbench::test
