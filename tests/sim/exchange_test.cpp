// Scenario exchange between simulated ranks: threads, each with a simulated machine, connected by a modelled network.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "scenarios/exchange/flow.hpp"
#include "scenarios/exchange/partner.hpp"
#include "sim/simulated_ranks.hpp"

namespace xferbench::test {
namespace {

std::vector<OfRank> run_two(const std::string& line) { return run_ranks(line, {.nodes = {0, 1}}); }

void expect_all_ok(const std::vector<OfRank>& results) {
  for (const OfRank& of_rank : results) expect_all(of_rank, Status::ok);
}

TEST(ExchangeSim, EachRankHasWhatItReceives) {
  const std::vector<OfRank> results = run_two("exchange --size 2M");
  expect_all_ok(results);
  for (int rank : {0, 1}) {
    const Result& r = results.at(static_cast<std::size_t>(rank)).front();
    EXPECT_EQ(r.label("from"), std::to_string(1 - rank));
    EXPECT_EQ(r.label("to"), std::to_string(rank));
    EXPECT_GT(metric(r, "bandwidth"), 0);
    EXPECT_LE(metric(r, "efficiency"), 1.02);
    EXPECT_EQ(r.label("limited_by"), "mpi") << "the modelled network is slower than the links";
    EXPECT_EQ(r.measurement("latency"), nullptr);
    for (const char* stage : {"d2h", "h2d", "mpi"}) EXPECT_GT(median(r, stage), 0) << stage;
  }
}

TEST(ExchangeSim, APipelineComesNearItsLimitAndNearTheModel) {
  const Result r = run_two("exchange --size 8M")[1].front();
  EXPECT_GE(metric(r, "efficiency"), 0.9);
  EXPECT_NEAR(metric(r, "of_expected"), 1, 0.1);
  const Result whole = run_two("exchange --size 8M --method whole")[1].front();
  const double sum =
      median(whole, "mpi") +
      8.0 * static_cast<double>(MiB) * (1 / metric(whole, "d2h_bandwidth") + 1 / metric(whole, "h2d_bandwidth")) / 1e9;
  EXPECT_NEAR(median(whole, "exchange"), sum, 0.02 * sum) << "one after the other";
  EXPECT_LT(metric(whole, "efficiency"), 0.75);
}

TEST(ExchangeSim, EveryMethodAndWayDeliversEveryByteOfAnySize) {
  for (const char* method : {"pipeline", "whole", "host"}) {
    for (const char* way : {"one", "both"}) {
      for (const char* size : {"1B", "5000B", "65537B", "1000003B"}) {
        expect_all_ok(run_two(fmt::format("exchange --method {} --way {} --size {}", method, way, size)));
      }
    }
  }
  for (const char* shape :
       {"--chunk 4096B --depth 1", "--chunk 8000B --depth 2", "--chunk 70000B --depth 3", "--chunk 2M --depth 8"}) {
    for (const char* way : {"one", "both"}) {
      const auto results = run_two(fmt::format("exchange --way {} --size 300001B {}", way, shape));
      expect_all_ok(results);
      EXPECT_LE(metric(results[0].front(), "chunk") * static_cast<double>(MiB), 300001.5);
    }
  }
}

TEST(ExchangeSim, TheGivenShapeIsUsed) {
  const Result r = run_two("exchange --size 4M --chunk 512K --depth 3")[0].front();
  EXPECT_EQ(metric(r, "chunk"), 0.5);
  EXPECT_EQ(metric(r, "depth"), 3);
  EXPECT_GT(metric(r, "expected"), 0);
}

TEST(ExchangeSim, SmallOnesHaveALatency) {
  for (const char* method : {"pipeline", "whole", "host"}) {
    const auto results = run_two(fmt::format("exchange --method {} --size 8B", method));
    expect_all_ok(results);
    for (const OfRank& of_rank : results) {
      const Result& r = of_rank.front();
      EXPECT_NEAR(median(r, "latency"), median(r, "exchange"), 0.25 * median(r, "exchange")) << method;
      EXPECT_GE(median(r, "latency"), 2e-6) << "of the modelled network";
      EXPECT_GT(r.measurement("latency")->samples.size(), 1U);
      EXPECT_EQ(r.metric("expected"), nullptr);
    }
    EXPECT_NEAR(median(results[0].front(), "latency"), median(results[1].front(), "latency"),
                0.1 * median(results[0].front(), "latency"))
        << "half of a round trip, whoever begins it";
  }
  EXPECT_EQ(run_two("exchange --size 8B --way both")[0].front().measurement("latency"), nullptr);
}

TEST(ExchangeSim, BothWaysCountBoth) {
  const Result one = run_two("exchange --size 8M")[0].front();
  const Result both = run_two("exchange --size 8M --way both")[0].front();
  EXPECT_NEAR(metric(both, "bandwidth"), 2 * metric(one, "bandwidth"), 0.15 * metric(both, "bandwidth"))
      << "the modelled network carries as much the other way at once";
  EXPECT_GE(metric(both, "efficiency"), 0.85);
}

/// Every ordered pair of ranks must have a result for each --way.
void expect_to_end(std::vector<int> nodes, RankConcurrency pace) {
  const std::size_t directions = nodes.size() * (nodes.size() - 1);
  const auto results =
      run_ranks("exchange --pairs all --size 200000B --way one,both", {.nodes = std::move(nodes), .pace = pace});
  std::size_t measured = 0;
  for (const OfRank& of_rank : results) {
    EXPECT_EQ(of_rank.size(), 6U) << "three rounds, two ways";
    for (const Result& r : of_rank) {
      const bool ok = r.status == Status::ok;
      EXPECT_TRUE(ok || r.status == Status::skipped) << r.reason;
      measured += ok ? 1 : 0;
    }
  }
  EXPECT_EQ(measured, 2 * directions);
}

TEST(ExchangeSim, OddNumbersAndEveryPaceEnd) {
  for (const RankConcurrency pace : {RankConcurrency::all, RankConcurrency::node, RankConcurrency::one})
    expect_to_end({0, 0, 1}, pace);
}
TEST(ExchangeSimLong, EveryPaceOfFourEnds) {
  for (const RankConcurrency pace : {RankConcurrency::all, RankConcurrency::node, RankConcurrency::one})
    expect_to_end({0, 0, 1, 1}, pace);
}

TEST(ExchangeSim, OnePairAtATimeIsNotSlowedByOthers) {
  // In this model two pairs across the same two nodes have separate links, so running one pair at a time changes
  // nothing.
  const auto all = run_ranks("exchange --size 2M", {.nodes = {0, 0, 1, 1}});
  const auto one = run_ranks("exchange --size 2M", {.nodes = {0, 0, 1, 1}, .pace = RankConcurrency::one});
  const double a = metric(all[0].front(), "bandwidth");
  EXPECT_NEAR(metric(one[0].front(), "bandwidth"), a, 0.1 * a);
}

TEST(ExchangeSim, ARankWithoutAPartnerSaysSo) {
  const auto alone = run_ranks("exchange", {.nodes = {0}});
  expect_all(alone[0], Status::skipped, "two ranks", 1);
  // Only some ranks take part, as in a second round.
  const auto few = run_ranks("exchange --size 100K", {.nodes = {0, 0, 0, 0}, .taking_part = {0, 1, 2}});
  ASSERT_EQ(few[2].size(), 2U);
  expect_all({&few[2][0], 1}, Status::skipped, "rank 3", 1);
  expect_all({&few[0][0], 1}, Status::ok, "", 1);
  expect_all(run_ranks("exchange --method direct", {.nodes = {0, 0}})[1], Status::skipped, "simulated", 1);
}

TEST(ExchangeSim, TooMuchMemoryIsARefusalOfAllRanks) {
  const auto scarce = run_ranks("exchange --size 100G", {.nodes = {0, 1, 1}});
  for (const OfRank& of_rank : scarce) {
    expect_all(of_rank, Status::skipped, "", 3);
    const auto memory = [](const Result& r) { return r.reason.find("device memory") != std::string::npos; };
    EXPECT_EQ(std::ranges::count_if(of_rank, memory), 2) << "in one round each has no partner";
  }
}

TEST(ExchangeSim, AWrongByteIsFoundByWhoReceivesAndNobodyHangs) {
  const auto corrupting = [](int rank) {
    Override how;
    if (rank != 1) return how;
    // D2H copies of chunks on rank 1 lose their last byte.
    how.copy = [](sim::SimStream& stream, const Copy& copy) {
      Copy shorter = copy;
      if (copy.direction == Direction::d2h && copy.bytes < 100000) --shorter.bytes;
      stream.SimStream::copy(shorter);
    };
    return how;
  };
  for (const char* way : {"one", "both"}) {
    const auto results =
        run_ranks(fmt::format("exchange --size 100000B --chunk 30000B --depth 2 --way {} --method pipeline,host", way),
                  {.nodes = {0, 1}, .how = corrupting});
    EXPECT_EQ(results[0][0].status, Status::failed);
    EXPECT_NE(results[0][0].reason.find("from rank 1 to rank 0"), std::string::npos) << results[0][0].reason;
    EXPECT_EQ(results[1][0].status, Status::failed);
    EXPECT_NE(results[1][0].reason.find("rank 0"), std::string::npos) << results[1][0].reason;
    EXPECT_EQ(results[0][1].status, Status::ok) << "the next case goes on: " << results[0][1].reason;
    EXPECT_EQ(results[1][1].status, Status::ok) << results[1][1].reason;
  }
}

TEST(ExchangeSim, ARankWhoseCopiesFailAtAnyMomentLeavesNobodyWaiting) {
  for (const int fails_at : {1, 2, 8, 55, 300}) {
    auto copies = std::make_shared<int>(0);
    const auto failing = [fails_at, copies](int rank) {
      Override how;
      if (rank != 0) return how;
      how.copy = [fails_at, copies](sim::SimStream& stream, const Copy& copy) {
        if (++*copies == fails_at) throw DeviceError("copy", "made to fail");
        stream.SimStream::copy(copy);
      };
      return how;
    };
    const auto results = run_ranks("exchange --size 300000B --chunk 65536B --depth 2",
                                   {.nodes = {0, 1, 1, 1}, .how = failing, .timeout = {.seconds = 20}});
    const Result& own = results[0].front();
    EXPECT_EQ(own.status, Status::failed) << fails_at;
    EXPECT_NE(own.reason.find("made to fail"), std::string::npos) << own.reason;
    EXPECT_EQ(results[1].front().status, Status::failed) << "what it sent or received is worth nothing";
    EXPECT_EQ(results[2].front().status, Status::ok) << "another pair: " << results[2].front().reason;
    EXPECT_EQ(results[3].front().status, Status::ok);
    EXPECT_EQ(results[1].back().status, Status::ok) << "the next round: " << results[1].back().reason;
  }
}

TEST(ExchangeSim, ARankThatHasLostItsGpuLeavesNobodyWaiting) {
  const auto lost = [](int rank) {
    Override how;
    if (rank == 1) how.usable = [] { return false; };
    return how;
  };
  const auto begun = std::chrono::steady_clock::now();
  const auto results =
      run_ranks("exchange --size 300000B", {.nodes = {0, 0, 1, 1}, .how = lost, .timeout = {.seconds = 60}});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(50)) << "the patience of nobody ended";
  expect_all(results[1], Status::skipped, kDeviceLost, 2);
  expect_all({&results[0][0], 1}, Status::failed, "rank 1", 1);
  expect_all({&results[2][0], 1}, Status::ok, "", 1);
  expect_all({&results[2][1], 1}, Status::failed, "rank 1", 1);
  expect_all({&results[3][1], 1}, Status::ok, "", 1);
}

TEST(ExchangeSim, TheGivenDepthIsUsedWhereTheChunkIsChosen) {
  for (const std::size_t depth : {1U, 3U}) {
    for (const OfRank& of_rank : run_two(fmt::format("exchange --size 4M --depth {}", depth))) {
      EXPECT_EQ(metric(of_rank.front(), "depth"), static_cast<double>(depth));
    }
  }
}

TEST(ExchangeSim, TimesAreTheSameEveryTime) {
  const auto first = run_two("exchange --size 1M --chunk 256K --depth 4");
  const auto again = run_two("exchange --size 1M --chunk 256K --depth 4");
  for (std::size_t rank : {0U, 1U}) {
    EXPECT_EQ(first[rank].front().measurement("exchange")->samples,
              again[rank].front().measurement("exchange")->samples);
  }
}

TEST(ExchangeSim, WithoutVerificationAllIsTheSame) {
  expect_all_ok(run_ranks("exchange --size 1M", {.nodes = {0, 1}, .verify = false}));
}

// --- Flows in real time ---------------------------------------------------------------------------------------------

TEST(ExchangeFlow, MessagesOfAnyShapeArriveWholeBetweenRealRanks) {
  for (const std::uint64_t chunk : {1U, 7U, 1000U, 5000U}) {
    for (const std::size_t depth : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
      ThreadRanks threads(2);
      threads.run([&](Communicator& ranks) {
        const Chunks chunks{1001, chunk};
        std::vector<std::byte> out(1001);
        std::vector<std::byte> in(1001);
        const std::size_t at_once = std::min(depth, chunks.count());
        const int other = 1 - ranks.rank();
        pattern::fill_bytes(out, static_cast<std::uint64_t>(ranks.rank()));
        MessageStage send(ranks, MessageStage::Way::send, other, {out.data(), chunk, chunks.count()}, chunks, at_once);
        MessageStage receive(ranks, MessageStage::Way::receive, other, {in.data(), chunk, chunks.count()}, chunks,
                             at_once);
        Flow going(send, nullptr, chunks.count(), at_once);
        Flow coming(receive, nullptr, chunks.count(), at_once);
        for (int pass = 0; pass < 3; ++pass) {
          pattern::poison(in);
          drive(std::array{&going, &coming}, {.what = "a test"});
          EXPECT_FALSE(pattern::check_bytes(in, static_cast<std::uint64_t>(other)).has_value())
              << chunk << " " << depth;
        }
      });
    }
  }
}

TEST(ExchangeFlow, PatienceEndsWhereNothingComes) {
  ThreadRanks threads(2);
  threads.run([](Communicator& ranks) {
    if (ranks.rank() == 1) return;
    auto* in = new std::vector<std::byte>(10);  // NOLINT: outlives the Flow, since MPI may still write to it
    MessageStage receive(ranks, MessageStage::Way::receive, 1, {in->data(), 10, 1}, {10, 10}, 1);
    Flow coming(receive, nullptr, 1, 1);
    EXPECT_THROW(drive(std::array{&coming}, {.timeout = {.seconds = 0.05}, .what = "a test"}), RankTimeoutError);
    delete in;  // NOLINT: the thread ranks no longer write to it
  });
}

TEST(ExchangePartner, OneThatFailsIsHeardOfOnceAndThenNothingIsSaidAnyMore) {
  ThreadRanks threads(2);
  const std::vector<int> nodes{0, 0};
  threads.run([&](Communicator& ranks) {
    const FleetContext fleet{ranks, nodes, {.seconds = 60}};
    Partner partner(fleet, 1 - ranks.rank());
    EXPECT_EQ(partner.largest({1.0 * ranks.rank(), 2}), (std::vector<double>{1, 2}));
    EXPECT_EQ(partner.swap({1.0 * ranks.rank()}), (std::vector<double>{1.0 - ranks.rank()}));
    partner.together([] {});
    const auto fails = [&] {
      partner.together([&] {
        if (ranks.rank() == 0) throw DeviceError("copy", "made to fail");
      });
    };
    if (ranks.rank() == 0) {
      EXPECT_THROW(fails(), DeviceError);
    } else {
      EXPECT_THROW(fails(), PartnerFailedError);
    }
    partner.agree(true);  // returns at once, although the partner has left
  });
}

}  // namespace
}  // namespace xferbench::test
