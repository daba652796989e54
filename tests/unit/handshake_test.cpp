// The handshake of ranks at the start of a run: they must agree on the command, and rank 0 learns their machines.
#include "app/fleet/handshake.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/thread_ranks.hpp"

namespace xferbench::app {
namespace {

const Timeout kPatient{.seconds = 30};

/// What rank 0 receives when rank i sends said[i].
RankHandshakes heard(const std::vector<RankHandshake>& said) {
  RankHandshakes all;
  test::ThreadRanks ranks(static_cast<int>(said.size()));
  ranks.run([&](Communicator& mpi) {
    RankHandshakes mine = exchange_handshakes(mpi, said[static_cast<std::size_t>(mpi.rank())], kPatient);
    if (mpi.rank() == 0) all = std::move(mine);
  });
  return all;
}

RankHandshake of_rank(int rank, const std::string& host, const Problem& problem = {},
                      const cli::RunCommand& command = {}) {
  Environment environment;
  environment.backend = "simulated";
  environment.gpu.name = "NVIDIA Test";
  return {.place = {.rank = rank, .host = host, .environment = environment},
          .problem = problem,
          .settings = shared_settings_of(command)};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(RankHandshakes, LetRanksOfOneCommandMeasure) {
  const RankHandshakes all = heard({of_rank(0, "a"), of_rank(1, "a"), of_rank(2, "b")});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].place.host, "b");
  EXPECT_EQ(handshake_problem(all, false).code, 0);
}

TEST(RankHandshakes, TakeHostsByTheirWholeNames) {
  const RankHandshakes all = heard({of_rank(0, "a"), of_rank(1, "rack 1 node 3", {3, "no GPU"}), of_rank(2, "b")});
  EXPECT_EQ(all[1].place.host, "rack 1 node 3");
  EXPECT_EQ(all[2].place.host, "b");
  EXPECT_EQ(handshake_problem(all, false).text, "rank 1 on host rack 1 node 3: no GPU");
}

TEST(RankHandshakes, TellTheFirstProblemWithItsCode) {
  const Problem missing{static_cast<int>(ExitCode::no_device), "there is no GPU"};
  const Problem wrong{static_cast<int>(ExitCode::usage), "a wrong profile"};
  const Problem found = handshake_problem(
      heard({of_rank(0, "a"), of_rank(1, "a", missing), of_rank(2, "b", wrong), of_rank(3, "c", missing)}), false);
  EXPECT_EQ(found.code, missing.code);
  EXPECT_EQ(found.text, "ranks 1 and 3 on 2 hosts: there is no GPU (1 other rank has other problems)");
  const Problem everywhere = handshake_problem(heard({of_rank(0, "a", wrong), of_rank(1, "b", wrong)}), false);
  EXPECT_EQ(everywhere.text, "no rank can measure: a wrong profile");
}

/// The error message where rank 2's command is changed like this; empty if there is none.
template <typename Change>
std::string refusal_after(const Change& change) {
  cli::RunCommand command;
  change(command);
  const Problem problem =
      handshake_problem(heard({of_rank(0, "a"), of_rank(1, "a"), of_rank(2, "a", {}, command)}), false);
  EXPECT_EQ(problem.code, static_cast<int>(problem.text.empty() ? ExitCode::ok : ExitCode::usage));
  return problem.text;
}

TEST(RankHandshakes, NameInWhatCommandsDiffer) {
  EXPECT_EQ(refusal_after([](cli::RunCommand& c) {
              c.fleet.pace = {RankConcurrency::all, RankConcurrency::one};
            }),
            "rank 2 differs from rank 0 in --concurrency (all,one, and all at rank 0): start all ranks with the same "
            "command and the same build of xferbench");
  EXPECT_TRUE(has(refusal_after([](cli::RunCommand& c) { c.turns = 3; }), "--passes (3, and 1 at rank 0)"));
  EXPECT_TRUE(has(refusal_after([](cli::RunCommand& c) { c.measuring.seed = 7; }), "--seed (7, and 1 at rank 0)"));
  EXPECT_TRUE(has(refusal_after([](cli::RunCommand& c) { c.measuring.policy.min_samples = 99; }), "--min-samples"));
  EXPECT_TRUE(has(refusal_after([](cli::RunCommand& c) { c.measuring.verify = false; }), "verifying (off, and on"));
  EXPECT_TRUE(has(refusal_after([](cli::RunCommand& c) { c.fleet.timeout = 5; }), "--timeout (5, and 60 at rank 0)"));
  EXPECT_TRUE(has(refusal_after([](cli::RunCommand& c) { c.measuring.device.simulate = "h200"; }),
                  "the machines (simulated, and real at rank 0)"));
  EXPECT_EQ(refusal_after([](cli::RunCommand& c) { c.measuring.show.quiet = true; }), "") << "everybody's own";
}

/// Differences reported where the launcher counts local ranks like this; nullopt: no launcher.
std::vector<std::string> differences_where_counted(const std::vector<std::optional<int>>& by_launcher,
                                                   int ranks_per_node) {
  std::vector<std::string> differences;
  test::ThreadRanks ranks(static_cast<int>(by_launcher.size()), ranks_per_node);
  ranks.run([&](Communicator& mpi) {
    RankHandshake mine = of_rank(mpi.rank(), "a");
    mine.launched_as = by_launcher[static_cast<std::size_t>(mpi.rank())];
    const RankHandshakes all = exchange_handshakes(mpi, mine, kPatient);
    if (mpi.rank() == 0) differences = differences_of(all);
  });
  return differences;
}

TEST(RankHandshakes, SayWhereALauncherCountsOtherwiseThanMpi) {
  using Differences = std::vector<std::string>;
  EXPECT_EQ(differences_where_counted({0, 1, 0, 1}, 2), Differences{});
  EXPECT_EQ(differences_where_counted({1, 0, 0, 1}, 2), Differences{}) << "every GPU has its rank all the same";
  EXPECT_EQ(differences_where_counted({{}, {}, {}, {}}, 2), Differences{}) << "MPI alone has counted";
  const Differences apart = differences_where_counted({0, 1, 2, 3}, 1);
  ASSERT_EQ(apart.size(), 1U) << "a container for each rank";
  EXPECT_TRUE(has(apart.front(), "ranks 1 to 3 are numbered differently")) << apart.front();
  EXPECT_TRUE(has(apart.front(), "/dev/shm")) << apart.front();
  const Differences together = differences_where_counted({0, 1, 0, 0}, 2);
  ASSERT_EQ(together.size(), 1U) << "two ranks of one node take its first GPU";
  EXPECT_TRUE(has(together.front(), "ranks 2 and 3 are numbered differently")) << together.front();
}

/// For each of four ranks, the ranks whose processes it watches.
std::vector<std::vector<int>> watched(const std::vector<std::uint64_t>& name_spaces, int ranks_per_node) {
  std::vector<std::vector<int>> watched(name_spaces.size());
  test::ThreadRanks ranks(static_cast<int>(name_spaces.size()), ranks_per_node);
  ranks.run([&](Communicator& mpi) {
    const auto rank = static_cast<std::size_t>(mpi.rank());
    const ProcessIdentity mine{100 + mpi.rank(), name_spaces[rank]};
    for (const auto& neighbour : neighbours_of(mpi, mine, kPatient)) {
      EXPECT_EQ(neighbour.process, 100 + neighbour.rank);
      watched[rank].push_back(neighbour.rank);
    }
  });
  return watched;
}

TEST(RankHandshakes, NeighboursAreSeenFromHere) {
  using Watched = std::vector<std::vector<int>>;
  constexpr std::uint64_t kHost = 4026531836;  // an inode number of Linux, too large for int
  EXPECT_EQ(watched({kHost, kHost, kHost, kHost}, 2), (Watched{{1}, {0}, {3}, {2}}));
  EXPECT_EQ(watched({kHost, 8, 8, kHost}, 4), (Watched{{3}, {2}, {1}, {0}})) << "a container for two of them";
  EXPECT_EQ(watched({0, 0}, 2), (Watched{{}, {}})) << "not known";
  EXPECT_NE(this_process().name_space, 0U);
}

}  // namespace
}  // namespace xferbench::app
