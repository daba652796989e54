// ModelledNetwork: message times between simulated ranks.
#include "ranks/modelled_network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ranks/timed_collectives.hpp"
#include "support/thread_ranks.hpp"
#include "support/virtual_hosts.hpp"

namespace xferbench::test {
namespace {

const Timeout kSoon{.seconds = 30};
const NetworkProfile kEven{.within = {1e-6, 10e9}, .between = {4e-6, 20e9}, .overhead = 0, .jitter = 0};

/// Four ranks on two nodes, each with its own virtual clock.
void on_two_nodes(const NetworkProfile& profile, const std::function<void(ModelledNetwork&, VirtualHost&)>& body) {
  const std::vector<int> nodes({0, 1, 0, 1});
  ThreadRanks(4).run([&](Communicator& ranks) {
    VirtualHost host;
    ModelledNetwork network(ranks, host, nodes, profile);
    body(network, host);
  });
}

TEST(ModelledNetwork, KnowsItsOwnNodes) {
  on_two_nodes(kEven, [](ModelledNetwork& ranks, VirtualHost&) {
    EXPECT_EQ(ranks.local_rank(), ranks.rank() / 2);
    EXPECT_EQ(ranks.local_size(), 2);
  });
  VirtualHost host;
  ThreadRanks(2).run([&](Communicator& ranks) {
    const std::vector<int> nodes({0, 0, 0});
    EXPECT_THROW(ModelledNetwork(ranks, host, nodes), std::invalid_argument);
  });
}

TEST(ModelledNetwork, TakesLatencyAndBytesOverBandwidthFromWhenTheMessageWasSent) {
  on_two_nodes(kEven, [](ModelledNetwork& ranks, VirtualHost& host) {
    std::vector<std::byte> data(100'000);
    if (ranks.rank() == 0) {
      host.advance(1);
      const PendingPtr within = ranks.send(2, 0, data);
      const PendingPtr between = ranks.send(1, 0, data);
      EXPECT_EQ(host.now(), 1) << "beginning to send takes no time here";
      wait_for(*within, kSoon, "send");
      wait_for(*between, kSoon, "send");
      EXPECT_DOUBLE_EQ(host.now(), 1 + 10e-6) << "when the last byte has left";
    } else if (ranks.rank() < 3) {
      if (ranks.rank() == 1) host.advance(3);
      wait_for(*ranks.receive(0, 0, data), kSoon, "receive");
      EXPECT_DOUBLE_EQ(host.now(), ranks.rank() == 1 ? 3 : 1 + 1e-6 + 10e-6) << "a late receiver finds it there";
    }
  });
}

TEST(ModelledNetwork, MessagesShareTheLinksOfTheirRanks) {
  on_two_nodes(kEven, [](ModelledNetwork& ranks, VirtualHost& host) {
    std::vector<std::byte> data(200'000);
    std::vector<std::byte> more(200'000);
    if (ranks.rank() == 0 || ranks.rank() == 2) {
      wait_for(*ranks.send(1, 0, data), kSoon, "send");
      wait_for(*ranks.send(1, 0, data), kSoon, "send");
    } else if (ranks.rank() == 1) {
      wait_for(*ranks.receive(0, 0, data), kSoon, "receive");
      wait_for(*ranks.receive(0, 0, more), kSoon, "receive");
      EXPECT_DOUBLE_EQ(host.now(), 4e-6 + 20e-6) << "one after the other";
      wait_for(*ranks.receive(2, 0, data), kSoon, "receive");
      wait_for(*ranks.receive(2, 0, more), kSoon, "receive");
      EXPECT_DOUBLE_EQ(host.now(), 4e-6 + 40e-6) << "another sender was not in the way, the receiver's link was";
    }
  });
}

TEST(ModelledNetwork, CollectiveOperationsEndAfterTheLatestAndATree) {
  on_two_nodes(kEven, [](ModelledNetwork& ranks, VirtualHost& host) {
    host.advance(ranks.rank() == 3 ? 5 : 1);
    std::array<double, 1> value{static_cast<double>(ranks.rank())};
    wait_for(*ranks.all_reduce(value, Reduction::sum), kSoon, "sum");
    EXPECT_EQ(value[0], 6);
    EXPECT_NEAR(host.now(), 5 + 4e-6 + 1e-6, 1e-9) << "a level between two nodes, and one within";
    if (ranks.rank() == 2) host.advance(1);
    const double before = host.now();
    wait_for(*ranks.barrier(), kSoon, "barrier");
    EXPECT_NEAR(host.now(), 6 + 10e-6, 1e-9) << before;
  });
}

TEST(ModelledNetwork, WhoSendsInACollectiveOperationWaitsForNobody) {
  on_two_nodes(kEven, [](ModelledNetwork& ranks, VirtualHost& host) {
    host.advance(ranks.rank() + 1);
    std::array<double, 1> value{static_cast<double>(ranks.rank())};
    wait_for(*ranks.broadcast(std::as_writable_bytes(std::span(value)), 2), kSoon, "broadcast");
    EXPECT_EQ(value[0], 2);
    const std::array<double, 4> expected{3 + 5e-6, 3 + 5e-6, 3, 4};
    EXPECT_NEAR(host.now(), expected.at(static_cast<std::size_t>(ranks.rank())), 1e-8);
    const double before = host.now();
    const std::string mine(8, static_cast<char>('a' + ranks.rank()));
    std::string all(ranks.rank() == 0 ? 32 : 0, ' ');
    const std::vector<std::size_t> sizes(ranks.rank() == 0 ? 4 : 0, 8);
    wait_for(*ranks.gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)), sizes), kSoon,
             "gather");
    EXPECT_EQ(all, ranks.rank() == 0 ? "aaaaaaaabbbbbbbbccccccccdddddddd" : "");
    EXPECT_NEAR(host.now(), ranks.rank() == 0 ? 4 + 5e-6 : before, 1e-8);
  });
}

TEST(ModelledNetwork, JitterOnlyDelaysAndIsTheSameForTheSameSeed) {
  NetworkProfile profile = kEven;
  profile.jitter = 0.5;
  std::vector<double> times;
  for (const std::uint64_t seed : std::to_array<std::uint64_t>({1, 1, 2})) {
    profile.seed = seed;
    on_two_nodes(profile, [&](ModelledNetwork& ranks, VirtualHost& host) {
      for (int i = 0; i < 100; ++i) wait_for(*ranks.barrier(), kSoon, "barrier");
      if (ranks.rank() == 0) times.push_back(host.now());
    });
  }
  EXPECT_EQ(times[0], times[1]);
  EXPECT_NE(times[0], times[2]);
  EXPECT_GT(times[0], 100 * 5e-6);
  EXPECT_LT(times[0], 300 * 5e-6);
}

}  // namespace
}  // namespace xferbench::test
